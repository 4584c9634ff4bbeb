"""A report's fixes, file by file: shown as diffs, or written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

from guardfix.linter.files.sources import Source

from ..fixable import FixableReport
from .rewriting import Rewrite, rewrite
from .temporary_files import remove_abandoned
from .writing import NotWritten, write


@dataclass
class Outcome:
    """What became of the files of a run."""

    written: list[Rewrite] = field(default_factory=list)
    refused: list[Rewrite] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    """(path, reason) of files that could not be written."""

    def lines(self) -> Iterator[str]:
        """What a person should be told."""
        fixes = sum(len(rewritten.applied) for rewritten in self.written)
        if fixes:
            files = len(self.written)
            yield f"Applied {fixes} fix{'' if fixes == 1 else 'es'} in {files} file{'' if files == 1 else 's'}."
        for rewritten in self.written:
            for finding, fix in rewritten.held_back:
                why = "not applied because it overlaps another fix; run again"
                yield f"{finding.path}: {finding.code} {why}: {fix.message}"
        for rewritten in self.refused:
            yield f"{rewritten.source.path}: not changed: {rewritten.refused}"
        for path, reason in self.failed:
            yield f"{path}: not written: {reason}"


def rewrites(report: FixableReport) -> Iterator[Rewrite]:
    """What would become of each file that has a fix to apply."""
    for path, group in groupby(report.findings, key=lambda finding: finding.path):
        findings = [finding for finding in group if report.may_have_fix(finding)]
        if not findings:
            continue
        source = report.unchanged(path)
        if source is None:
            yield Rewrite(Source(path, b""), b"", refused="it changed since it was checked; run again")
            continue
        rewritten = rewrite(source, findings, report.choice)
        if rewritten.changed or rewritten.refused:
            yield rewritten


def apply_fixes(report: FixableReport) -> Outcome:
    """Write the chosen fixes, each file whole or not at all."""
    outcome = Outcome()
    remove_abandoned(os.path.dirname(os.path.realpath(path)) for path in report.project.files)
    report.make_fixes()
    for rewritten in rewrites(report):
        if rewritten.refused:
            outcome.refused.append(rewritten)
            continue
        try:
            write(rewritten)
        except NotWritten as error:
            outcome.failed.append((rewritten.source.path, str(error)))
        else:
            outcome.written.append(rewritten)
    return outcome
