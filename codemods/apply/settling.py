"""Fixes applied until there is nothing left to apply: what a second run would find, the first one does.

A fix can make room for another: two that overlap, a guard that is redundant once the one beside it is migrated, a use
that is decided by what became of its neighbour. Everything happens in memory; nothing is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from guardfix.linter.findings import Finding

from ..fixable import FixableReport, fixes_for
from .personal_choices import Choices, with_choices
from .rewriting import Rewrite, rewrites

MOST_PASSES = 20
"""Passes after which fixes are taken to undo each other. Real files need two, to see that nothing is left, or three."""


@dataclass
class Settled:
    """What becomes of the files of a run."""

    first: FixableReport
    """What was found in the files as they are."""
    last: FixableReport
    """What is found in their new texts: nothing that the run could still fix."""
    rewrites: list[Rewrite] = field(default_factory=list)
    """The files that change, sorted by path, and those that were refused."""
    passes: int = 1

    def place_before(self, finding: Finding) -> int:
        """Where what a finding of `last` is about begins in the file as it is."""
        start = finding.span.start
        changed = self._by_path.get(finding.path)
        return changed.offset_before(start) if changed is not None else start

    def __post_init__(self) -> None:
        self._by_path = {one.source.path: one for one in self.rewrites}


def settle(
    report: FixableReport, choices: Choices = MappingProxyType({}), on_pass: Callable[[int], None] | None = None
) -> Settled:
    """Apply the chosen fixes to the texts of a report, check again, and so on until a pass changes nothing.

    `choices` are replacements that a person took, by file and place of the finding. A file that still changes in the
    last pass allowed is refused. `on_pass` is called with the number of each further
    pass, from 2. A report that no check made (`Report.again`) gets one pass.
    """
    done: dict[str, Rewrite] = {}
    current, number = report, 1
    while True:
        current = with_choices(current, choices)
        current.make_fixes()
        found = {one.source.path: one for one in rewrites(current)}
        for path in done.keys() - found.keys():
            done[path] = replace(done[path], refused="")
        for path, one in found.items():
            done[path] = done[path].then(one) if path in done else one
        changed = sorted(path for path, one in found.items() if one.changed)
        if not changed or report.over is None:
            break
        if number == MOST_PASSES:
            for path in changed:
                source = done[path].source
                reason = f"its fixes undo each other: it still changes after {number} passes; please report this"
                done[path] = Rewrite(source, source.text, refused=reason)
            break
        number += 1
        if on_pass is not None:
            on_pass(number)
        choices = _held_back(found.values(), choices)
        texts = {path: done[path].source.encode(done[path].text) for path in changed}
        current = fixes_for(current.again(texts), current.choice)
    return Settled(report, current, [done[path] for path in sorted(done)], number)


def _held_back(found: Iterable[Rewrite], choices: Choices) -> Choices:
    """The choices that another fix was in the way of, by their new places."""
    return {
        (one.source.path, one.offset_after(finding.span.start)): choices[one.source.path, finding.span.start]
        for one in found
        for finding, _ in one.held_back
        if finding.chosen
    }
