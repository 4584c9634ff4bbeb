"""Places in a file, and things found by their place without looking at all of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from ..named_tuples import NamedTuple

T = TypeVar("T")


class Span(NamedTuple):
    """Bytes `start` up to, not including, `end`."""

    start: int
    end: int

    def holds(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end


NOWHERE = Span(0, 0)


class Sorted(Generic[T]):
    """Items by where they start."""

    def __init__(self, items: Iterable[T], span: Callable[[T], Span]) -> None:
        # A stable sort: of items that start together the outer one stays first.
        self._items = sorted(items, key=lambda item: span(item).start)
        self._spans = [span(item) for item in self._items]
        self._starts = [place.start for place in self._spans]

    def within(self, span: Span) -> Iterator[T]:
        """The items that lie in `span`, by where they start."""
        low, high = bisect_left(self._starts, span.start), bisect_right(self._starts, span.end)
        for index in range(low, high):
            if self._spans[index].end <= span.end:
                yield self._items[index]

    def nearest(self, span: Span, place: int) -> T | None:
        """The last item in `span` that starts before `place`; the first if none does."""
        low = bisect_left(self._starts, span.start)
        for index in range(bisect_left(self._starts, place, low) - 1, low - 1, -1):
            if self._spans[index].end <= span.end:
                return self._items[index]
        return self.first(span)

    def outermost(self, span: Span) -> Iterator[T]:
        """The items that lie in `span` and in no other one that does, where spans hold one another or lie apart."""
        low, high = bisect_left(self._starts, span.start), bisect_right(self._starts, span.end)
        while low < high:
            after = bisect_right(self._starts, self._starts[low], low)
            fitting = [index for index in range(low, after) if self._spans[index].end <= span.end]
            low = after
            if fitting:
                longest = max(fitting, key=lambda index: self._spans[index].end)
                yield self._items[longest]
                low = max(after, bisect_left(self._starts, self._spans[longest].end))

    def first(self, span: Span) -> T | None:
        """The first of them that lies in `span`."""
        return next(self.within(span), None)


class Overlapping(Generic[T]):
    """Items whose ranges may overlap in any way."""

    def __init__(self, items: Iterable[T], span: Callable[[T], range]) -> None:
        self._items = sorted(items, key=lambda item: span(item).start)
        self._starts = [span(item).start for item in self._items]
        self._leaves = 1 << len(self._items).bit_length()
        # The last end below each node of a binary tree: below node n are 2n and 2n + 1, and at the bottom the items.
        ends = [span(item).stop for item in self._items]
        self._last = [0] * self._leaves + ends + [0] * (self._leaves - len(ends))
        for node in range(self._leaves - 1, 0, -1):
            self._last[node] = max(self._last[2 * node], self._last[2 * node + 1])

    def touching(self, places: range) -> Iterator[T]:
        """The items of which a part lies in `places`, by where they start."""
        begun = bisect_left(self._starts, places.stop)
        waiting = [(1, 0, self._leaves)]  # a node, and the items below it
        while waiting:
            node, first, count = waiting.pop()
            if first >= begun or self._last[node] <= places.start:
                continue
            if count == 1:
                yield self._items[first]
            else:
                half = count // 2
                waiting += ((2 * node + 1, first + half, half), (2 * node, first, half))


class Nested(Generic[T]):
    """Items whose spans hold one another or lie apart, as blocks and `#if`s do."""

    def __init__(self, items: Iterable[T], span: Callable[[T], Span]) -> None:
        self._items = sorted(items, key=lambda item: (span(item).start, -span(item).end))
        self._spans = [span(item) for item in self._items]
        self._starts = [place.start for place in self._spans]
        self._parents: list[int | None] = []
        stack: list[int] = []
        for index, place in enumerate(self._spans):
            while stack and not self._spans[stack[-1]].holds(place):
                stack.pop()
            self._parents.append(stack[-1] if stack else None)
            stack.append(index)

    def all(self) -> Sequence[T]:
        return self._items

    def around(self, span: Span) -> Iterator[T]:
        """The items that hold `span`, innermost first."""
        index: int | None = bisect_right(self._starts, span.start) - 1
        if index is not None and index < 0:
            return
        while index is not None:
            if self._spans[index].holds(span):
                yield self._items[index]
            index = self._parents[index]
