"""Two recordings side by side, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from enum import Enum
from itertools import zip_longest
from typing import NamedTuple

from .traces import Parting, TracedEvent, alike, paired_threads, same_marks

_MOST_MATCHED = 2_000
"""Steps after the difference that are matched by their ops; later ones are paired by their numbers."""


class StepAgreement(Enum):
    """How two aligned steps agree."""

    SAME = "same"
    MARKS = "marks"
    """The program sees the same; versions, views or inference tensors differ, as a migration is meant to have it."""
    PARTED = "parted"


class AlignedStep(NamedTuple):
    """A step before and the one after that belongs to it; None where there is none."""

    thread: int
    number_before: int
    """Counted from 1 among the steps of the thread; 0 where there is none."""
    before: TracedEvent | None
    number_after: int
    after: TracedEvent | None
    agreement: StepAgreement

    @property
    def difference(self) -> str:
        """What differs, in words; empty where nothing does."""
        if self.agreement is StepAgreement.SAME:
            return ""
        return Parting(self.number_before or self.number_after, self.thread, self.before, self.after).what()


def aligned(before: Iterable[TracedEvent], after: Iterable[TracedEvent]) -> Iterator[AlignedStep]:
    """The steps of two recordings, thread by thread.

    Up to where they part, steps have the same number; after it, steps with the same op are taken for the same.
    """
    for thread, (one, two) in enumerate(paired_threads(before, after)):
        at = _parting(one, two)
        for index in range(at):
            yield _step(thread, one, index, two, index)
        for first, second in _matched(one[at:], two[at:]):
            yield _step(
                thread, one, None if first is None else at + first, two, None if second is None else at + second
            )


def _parting(one: Sequence[TracedEvent], two: Sequence[TracedEvent]) -> int:
    for index, (b, a) in enumerate(zip(one, two, strict=False)):
        if b != a and not alike(b, a):
            return index
    return min(len(one), len(two))


def _matched(one: Sequence[TracedEvent], two: Sequence[TracedEvent]) -> Iterator[tuple[int | None, int | None]]:
    near, also = ([_name(event) for event in events[:_MOST_MATCHED]] for events in (one, two))
    for kind, a, b, c, d in SequenceMatcher(None, near, also, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from zip(range(a, b), range(c, d), strict=True)
        else:
            yield from ((index, None) for index in range(a, b))
            yield from ((None, index) for index in range(c, d))
    yield from zip_longest(range(len(near), len(one)), range(len(also), len(two)))


def _name(event: TracedEvent) -> str:
    """What makes two steps the same: a call that raises is still that call."""
    return str(event.get("op", event["event"]))


def _step(
    thread: int, one: Sequence[TracedEvent], first: int | None, two: Sequence[TracedEvent], second: int | None
) -> AlignedStep:
    before = None if first is None else one[first]
    after = None if second is None else two[second]
    number_before, number_after = (0 if index is None else index + 1 for index in (first, second))
    if before is None or after is None or not (before == after or alike(before, after)):
        agreement = StepAgreement.PARTED
    else:
        agreement = StepAgreement.SAME if same_marks(before, after) else StepAgreement.MARKS
    return AlignedStep(thread, number_before, before, number_after, after, agreement)
