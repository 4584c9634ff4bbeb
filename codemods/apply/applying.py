"""A report's fixes, written to the files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..fixable import FixableReport
from .rewriting import Rewrite
from .settling import Settled, settle
from .temporary_files import remove_abandoned
from .writing import NotWritten, write


@dataclass
class Outcome:
    """What became of the files of a run."""

    written: list[Rewrite] = field(default_factory=list)
    refused: list[Rewrite] = field(default_factory=list)
    """Files in which not all was done that was chosen; some of them may be written too."""
    failed: list[tuple[str, str]] = field(default_factory=list)
    """(path, reason) of files that could not be written."""

    def lines(self) -> Iterator[str]:
        """What a person should know."""
        fixes = sum(len(rewritten.applied) for rewritten in self.written)
        if fixes:
            files = len(self.written)
            yield f"Applied {fixes} fix{'' if fixes == 1 else 'es'} in {files} file{'' if files == 1 else 's'}."
        for rewritten in self.refused:
            yield refusal(rewritten)
        for path, reason in self.failed:
            yield f"{path}: not written: {reason}"


def refusal(rewritten: Rewrite) -> str:
    """The lines about a file in which some of the chosen fixes could not be applied."""
    what = "not all of it is changed" if rewritten.changed else "not changed"
    return f"{rewritten.source.path}: {what}: {rewritten.refused}"


def clear_abandoned(report: FixableReport) -> None:
    """Remove what killed runs left in the folders of the files that were looked at."""
    folders = {os.path.dirname(path) for path in (*report.paths, *report.project.files)}
    remove_abandoned(os.path.realpath(folder) for folder in folders)


def apply_fixes(report: FixableReport) -> Outcome:
    """Write what the chosen fixes of a report come to, each file whole or not at all."""
    return write_settled(settle(report))


def write_settled(settled: Settled) -> Outcome:
    """Write the files that change, each whole or not at all."""
    outcome = Outcome()
    clear_abandoned(settled.first)
    for rewritten in settled.rewrites:
        if rewritten.refused:
            outcome.refused.append(rewritten)
        if not rewritten.changed:
            continue
        try:
            write(rewritten)
        except NotWritten as error:
            outcome.failed.append((rewritten.source.path, str(error)))
        else:
            outcome.written.append(rewritten)
    return outcome
