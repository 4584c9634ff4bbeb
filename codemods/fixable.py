"""Findings joined with their fixes, each of which is made when it is first asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property
from operator import attrgetter

from msgspec.structs import replace

from guardfix.linter.bounded_work import FIXING
from guardfix.linter.engine import Report
from guardfix.linter.facts import Facts
from guardfix.linter.facts.embedded_paths import real_path
from guardfix.linter.files.sources import Source
from guardfix.linter.findings import Finding

from .choice import FixChoice
from .edits.kept_comments import keeping_comments
from .fix import Fix, keeping_last_end
from .fix_rule import claim_of, find_fix_rule
from .site import Site


class FixableFinding(Finding, frozen=True, eq=False, kw_only=True, dict=True):
    """A finding together with its fix; the linter's own findings have none."""

    make: Callable[[Finding], Fix | None]
    chosen: bool = False
    """A person took this fix: it is applied, safe or not."""

    @cached_property
    def fix(self) -> Fix | None:
        """Made when it is first asked for. None where the rule has no fix, or the file has changed since the check."""
        return self.make(self)

    def _said(self) -> tuple[object, ...]:
        return *super()._said(), self.chosen


class FixableReport(Report, kw_only=True, dict=True):
    """What a run found, with the fixes, and which of them it takes."""

    findings: Sequence[FixableFinding]
    choice: FixChoice

    def unchanged(self, path: str) -> Source | None:
        """The file, if it still has the text that was checked: spans mean nothing in any other."""
        return self.workspace.unchanged(self.project.files[path])

    def make_fixes(self) -> None:
        """Make every fix now: a fix may depend on other files, which are about to change."""
        for finding in self.findings:
            _ = finding.fix

    def may_have_fix(self, finding: Finding) -> bool:
        """Whether the finding's rule has a fix in the finding's language; it may still not apply here."""
        rule = find_fix_rule(finding.code, finding.name)
        return rule is not None and rule.function_for(self.project.files[finding.path].language) is not None


def fixes_for(report: Report, choice: FixChoice | None = None) -> FixableReport:
    """The report, each of its findings with its fix.

    The files' texts come from the report's workspace. They are asked for when fixes are; findings follow each other
    file by file, so that each file is asked for once. `choice` says which fixes are made and, later, applied.
    """
    joined = FixableReport(
        findings=(),
        project=report.project,
        files=report.files,
        partial=report.partial,
        suppressed=report.suppressed,
        lost=report.lost,
        choice=choice or FixChoice(),
        workspace=report.workspace,
        over=report.over,
        rules=report.rules,
        paths=report.paths,
        work=report.work,
        about_left_out=report.about_left_out,
    )
    make = _Maker(joined)
    joined.findings = [_fixable(finding, make) for finding in report.findings]
    if report.work:
        _make_within_limits(joined, make)
    return joined


def _make_within_limits(report: FixableReport, make: _Maker) -> None:
    """Make all fixes now, in processes that may end; a file that is left out gets a finding instead of its fixes."""
    by_file: dict[str, list[FixableFinding]] = defaultdict(list)
    for finding in report.findings:
        if report.may_have_fix(finding):
            by_file[real_path(finding.path)].append(finding)

    def fixes_of(path: str) -> list[Fix | None]:
        return [finding.fix for finding in by_file[path]]

    made = iter(report.work.each(fixes_of, by_file, FIXING))
    left_out: list[FixableFinding] = []
    for path, findings in by_file.items():
        why = report.work.left_out.get(path)
        fixes: list[Fix | None] = [None] * len(findings) if why is not None else next(made)
        for finding, fix in zip(findings, fixes, strict=True):
            vars(finding)["fix"] = fix  # where the cached property keeps it
        if why is not None:
            left_out += [_fixable(finding, make) for finding in report.about_left_out(path, why)]
    if left_out:
        order = attrgetter("path", "span", "code")
        report.findings = sorted([*report.findings, *left_out], key=order)


def _fixable(finding: Finding, make: _Maker) -> FixableFinding:
    return FixableFinding(**{name: getattr(finding, name) for name in Finding.__struct_fields__}, make=make)


def _keeping_what_stays(fix: Fix, facts: Facts, text: bytes) -> Fix:
    """The fix, without the loss of a comment or of the text's last line end."""
    edits = keeping_last_end(text, keeping_comments(fix.edits, facts, text))
    further = tuple(_keeping_what_stays(other, facts, text) for other in fix.further)
    return replace(fix, edits=edits, further=further)


class _Maker:
    """Makes the fixes of one report. Remembers the last file's text."""

    def __init__(self, report: FixableReport) -> None:
        self.report = report
        self.last: tuple[str, Source | None] = ("", None)

    def __call__(self, finding: Finding) -> Fix | None:
        report, rule = self.report, find_fix_rule(finding.code, finding.name)
        if rule is None:
            return None
        facts = report.project.files[finding.path]
        function = rule.function_for(facts.language)
        source = self.source(finding.path) if function is not None else None
        if function is None or source is None:
            return None
        most = claim_of(finding.code, finding.name)
        fix = function(Site(finding, facts, report.project, source, report.workspace, report.choice, most))
        return fix and _keeping_what_stays(fix, facts, source.text)

    def source(self, path: str) -> Source | None:
        if self.last[0] != path:
            self.last = (path, self.report.unchanged(path))
        return self.last[1]
