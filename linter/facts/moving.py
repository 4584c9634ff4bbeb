"""Facts of a text that is a part of a file, moved to where they are in it."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from .expressions import ExpressionNode
from .model import Branch
from .spans import Span

T = TypeVar("T")


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
        parts = [_moved(part, spans) if _may_hold_spans(part) else part for part in value]
        found = type(value)._make(parts) if hasattr(value, "_fields") else tuple(parts)  # type: ignore[attr-defined]
        return found._replace(condition_start=found.condition_start + spans.by) if isinstance(found, Branch) else found
    changed = {
        field: _moved(part, spans)
        for field in value.__struct_fields__
        if _may_hold_spans(part := getattr(value, field))
    }
    return replace(value, **changed)


def _may_hold_spans(part: object) -> bool:
    return isinstance(part, tuple) or (isinstance(part, Struct) and not isinstance(part, ExpressionNode))
