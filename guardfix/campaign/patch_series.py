"""A repository's fixes as a series of patches: one commit for each rule, with its reasons in the message."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from guardfix.codemods.apply.applying import write_settled
from guardfix.codemods.apply.rewriting import Rewrite
from guardfix.codemods.apply.settling import Settled, settle
from guardfix.codemods.fix import Fix
from guardfix.codemods.fixable import FixableFinding, FixableReport, fixes_for
from guardfix.foreign_text import printable
from guardfix.linter.engine import Report
from guardfix.linter.facts.embedded_paths import real_path
from guardfix.linter.files.source_positions import SourcePositions
from guardfix.linter.files.workspace import Workspace
from guardfix.output.finding_reasons import told_reasons
from guardfix.wording import count_of

from .repository_commits import CheckedOut

_MOST_ROUNDS = 3
_WIDTH = 72
_LISTED = 200
"""Fixes whose reasons a message lists: more would make it unreadable."""


@dataclass
class PatchSeries:
    """The patches of one repository."""

    patches: list[str] = field(default_factory=list)
    """Names of the files, in the order in which they are applied."""
    fixes: int = 0
    by_place: dict[tuple[str, int, str], str] = field(default_factory=dict)
    """(path, offset in the file as it is, code of the finding) -> the patch that has its fix."""

    @classmethod
    def of(cls, report: FixableReport, files: CheckedOut, folder: Path) -> PatchSeries:
        """Apply the chosen fixes rule by rule, commit each rule's, and write the patches.

        The report is that of the files, which are in the working folder and hold the new texts afterwards. A rule
        whose fixes another one makes room for gets a second commit. Raises `NoRepository`.
        """
        series = cls()
        base = files.commit
        earlier: dict[str, list[Rewrite]] = defaultdict(list)
        commits: list[list[tuple[str, int, str]]] = []
        current = report
        for _ in range(_MOST_ROUNDS):
            before = len(commits)
            for code in _codes_with_fixes(current):
                settled = settle(_only(current, code))
                places = series._committed(settled, code, files, earlier)
                if places:
                    commits.append(places)
                    changed = [one for one in settled.rewrites if one.changed]
                    texts = {one.source.path: one.source.encode(one.text) for one in changed}
                    for one in changed:
                        earlier[one.source.path].append(one)
                    current = fixes_for(current.again(texts), current.choice)
            if len(commits) == before:
                break
        if commits:
            folder.mkdir()
            series.patches = files.write_patches(base, folder)
            for name, places in zip(series.patches, commits, strict=True):
                series.by_place.update((place, name) for place in places)
        return series

    def _committed(
        self, settled: Settled, code: str, files: CheckedOut, earlier: Mapping[str, Sequence[Rewrite]]
    ) -> list[tuple[str, int, str]]:
        """Commit what one rule changes; the places of its fixes in the files as they were at first, none where it
        changes nothing. `earlier` is what other rules have made of the files."""
        places = SourcePositions(settled.first.workspace)
        applied = [
            (finding, fix, places.source(one.source.path), offset)
            for one in settled.rewrites
            if one.changed
            for finding, fix, offset in one.applied_where()
        ]
        if not applied:
            return []
        fixes = [
            (finding, fix, source.position(offset).row if source is not None else 1)
            for finding, fix, source, offset in applied
        ]
        written = write_settled(settled).written
        if not written:
            return []
        files.commit_changes([real_path(one.source.path) for one in written], _message(code, fixes))
        self.fixes += len(applied)
        found = []
        for finding, _, _, offset in applied:
            for one in reversed(earlier.get(finding.path, ())):
                offset = one.offset_before(offset)
            found.append((finding.path, offset, code))
        return found


def _codes_with_fixes(report: FixableReport) -> list[str]:
    return sorted(
        {finding.code for finding in report.findings if report.choice.wanted(finding.fix, chosen=finding.chosen)}
    )


def _only(report: FixableReport, code: str) -> FixableReport:
    """The report with the findings of one rule, now and when it is checked again."""
    one = fixes_for(report, report.choice)
    one.findings = [finding for finding in one.findings if finding.code == code]
    if report.over is not None:
        one.over = partial(_over_only, report, code)
    return one


def _over_only(report: FixableReport, code: str, workspace: Workspace) -> Report:
    assert report.over is not None, "asked only where there is one"
    return _only(fixes_for(report.over(workspace), report.choice), code)


def _message(code: str, applied: Iterable[tuple[FixableFinding, Fix, int]]) -> str:
    """What a commit says: what was done, and for each place why."""
    rows = list(applied)
    name = rows[0][0].name
    messages = {fix.message for _, fix, _ in rows}
    what = messages.pop() if len(messages) == 1 else f"{name}, {count_of(len(rows), 'use')}"
    subject = f"{code}: {what}"
    parts = [subject if len(subject) <= _WIDTH else f"{code}: {name}, {count_of(len(rows), 'use')}", ""]
    for finding, fix, row in rows[:_LISTED]:
        decision = finding.decision
        sure = f" ({decision.context}, {decision.confidence} confidence)" if decision is not None else ""
        unsafe = "" if fix.applicability == "safe" else f" [{fix.applicability}]"
        parts.append(f"{printable(finding.path)}:{row}:{unsafe}")
        parts += textwrap.wrap(f"{fix.message}{sure}", _WIDTH, initial_indent="  ", subsequent_indent="  ")
        for reason in told_reasons(finding):
            text = f"{reason.message} [{printable(reason.path)}:{reason.row}]"
            parts += textwrap.wrap(text, _WIDTH, initial_indent="  - ", subsequent_indent="    ")
    if len(rows) > _LISTED:
        parts.append(f"... and {len(rows) - _LISTED} more")
    return "".join(f"{printable(line)}\n" for line in parts)
