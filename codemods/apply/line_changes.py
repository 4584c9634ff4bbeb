"""Which lines of a file its edits change, without comparing lines that no edit touches.

difflib takes the square of the lines where a file has many like changes; the edits say where they are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from guardfix.linter.named_tuples import NamedTuple

from ..fix import Edit

Opcode = tuple[str, int, int, int, int]
"""As difflib has it: what happens, (first, end) of the old lines, (first, end) of the new ones."""


class StayingPart(NamedTuple):
    """Bytes that stay as they are: where they begin in the old text and in the new one, and how many they are."""

    old: int
    new: int
    length: int


def parts_that_stay(edits: Iterable[Edit], size: int) -> list[StayingPart]:
    """What edits leave of a text of that size; they are in the text's order, and none touches another."""
    parts, old, new = [], 0, 0
    for edit in edits:
        length = edit.span.start - old
        parts.append(StayingPart(old, new, length))
        old, new = edit.span.end, new + length + len(edit.content.encode("utf-8"))
    return [*parts, StayingPart(old, new, size - old)]


def then_stay(first: Sequence[StayingPart], second: Sequence[StayingPart]) -> list[StayingPart]:
    """What two steps leave, of which the second begins with what the first has made."""
    parts, index = [], 0
    for one in first:
        end = one.new + one.length
        while index < len(second) and second[index].old + second[index].length <= one.new:
            index += 1
        here = index
        while here < len(second) and second[here].old < end:
            other = second[here]
            low, high = max(one.new, other.old), min(end, other.old + other.length)
            parts.append(StayingPart(one.old + low - one.new, other.new + low - other.old, high - low))
            here += 1
    return parts


def changed_lines(before: Sequence[bytes], after: Sequence[bytes], parts: Iterable[StayingPart]) -> list[Opcode]:
    """What happens to the lines of a text, as `SequenceMatcher.get_opcodes` says it; the parts are those that stay."""
    codes: list[Opcode] = []
    old = new = 0
    for begins, begins_new, count in (*_lines_that_stay(before, after, parts), (len(before), len(after), 0)):
        matcher = SequenceMatcher(None, before[old:begins], after[new:begins_new])
        for kind, a, b, c, d in matcher.get_opcodes():
            _add(codes, (kind, old + a, old + b, new + c, new + d))
        old, new = begins + count, begins_new + count
        if count:
            _add(codes, ("equal", begins, old, begins_new, new))
    return codes


def _add(codes: list[Opcode], code: Opcode) -> None:
    if codes and codes[-1][0] == code[0]:
        code = (code[0], codes[-1][1], code[2], codes[-1][3], code[4])
        codes.pop()
    codes.append(code)


def _lines_that_stay(
    before: Sequence[bytes], after: Sequence[bytes], parts: Iterable[StayingPart]
) -> Iterator[tuple[int, int, int]]:
    """(first old line, first new line, how many) of lines that lie in a part as a whole."""
    starts, starts_new = _starts(before), _starts(after)
    old = new = 0
    for part in parts:
        first = max(old, bisect_left(starts, part.old))
        if first >= len(before):
            return
        place = starts[first] - part.old + part.new
        first_new = max(new, bisect_left(starts_new, place))
        if first_new < len(after) and starts_new[first_new] != place:
            first, first_new = first + 1, first_new  # the part begins within a new line
        end = bisect_left(starts, part.old + part.length + 1) - 1
        count = min(end - first, len(after) - first_new)
        if count > 0 and before[first + count - 1] != after[first_new + count - 1]:
            count -= 1  # the last line has no end in one of them
        if count > 0 and before[first : first + count] == after[first_new : first_new + count]:
            yield first, first_new, count
            old, new = first + count, first_new + count


def _starts(lines: Iterable[bytes]) -> list[int]:
    """Where each line begins, and where the last one ends."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return starts
