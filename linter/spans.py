"""Things with a place in the file, found by place without looking at all of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, Generic, TypeVar

from .facts import Branch, Span

T = TypeVar("T")


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

    def around(self, span: Span) -> Iterator[T]:
        """The items that hold `span`, innermost first."""
        index: int | None = bisect_right(self._starts, span.start) - 1
        if index is not None and index < 0:
            return
        while index is not None:
            if self._spans[index].holds(span):
                yield self._items[index]
            index = self._parents[index]


def moved(value: T, by: int) -> T:
    """Facts, or a part of them, of a text that begins at `by` in its file: every span is moved there."""
    result: T = _moved(value, _Moved(by))
    return result


class _Moved(dict[Span, Span]):
    """Span -> where it goes. Many variables of one name have the same places."""

    def __init__(self, by: int) -> None:
        self.by = by

    def __missing__(self, span: Span) -> Span:
        found = self[span] = Span(span.start + self.by, span.end + self.by)
        return found


def _moved(value: Any, spans: _Moved) -> Any:
    if isinstance(value, Span):
        return spans[value]
    if isinstance(value, tuple):
        if set(map(type, value)) == {Span}:
            return tuple(map(spans.__getitem__, value))
        parts = [_moved(part, spans) if isinstance(part, tuple) or is_dataclass(part) else part for part in value]
        found = type(value)._make(parts) if hasattr(value, "_fields") else tuple(parts)  # type: ignore[attr-defined]
        return found._replace(condition_start=found.condition_start + spans.by) if isinstance(found, Branch) else found
    changed = {
        field.name: _moved(part, spans)
        for field in fields(value)
        if isinstance(part := getattr(value, field.name), tuple) or is_dataclass(part)
    }
    return replace(value, **changed)
