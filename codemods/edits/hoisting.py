"""Moves a guard above the model load that it should cover."""

from __future__ import annotations

from functools import lru_cache

from guardfix.linter.analysis.calls import is_load
from guardfix.linter.analysis.guard_comments import speaks_of_guards, speaks_of_nothing_else
from guardfix.linter.facts import Call, Facts, GuardUse, Span
from guardfix.linter.facts.index import all_calls_where
from guardfix.linter.frontends.cpp.cpp_masking import code_only
from guardfix.linter.frontends.cpp.dead_branches import without_dead_branches

from ..fix import Edit
from .statements import indentation, line_start, newline_of, removal_with_comment, statement_around


def hoisted(use: GuardUse, facts: Facts, text: bytes, declaration: str, work: Call | None = None) -> list[Edit] | None:
    """The edits that declare the guard above the first load of its scope, or above `work`.

    None when there is no load above it, or when a preprocessor condition begins or ends between the two places.
    """
    above = Span(use.scope.start, use.span.start)
    loads = (c for c in all_calls_where(facts, is_load).within(above) if c.function == use.function)
    first = work or next(loads, None)
    if first is None:
        return None
    start = statement_around(_code(text), use.scope, first.span.start)
    if start >= use.span.start or _gated(start, use, facts):
        return None
    indent = indentation(text, start).decode()
    taken_out, comment = removal_with_comment(text, use.span)
    speaking = _comments_above(text, use, taken_out)
    moved = [text[speaking : taken_out.span.start].decode("utf-8", "replace").strip()] if speaking is not None else []
    lines = [*moved, declaration + comment, ""]
    if speaking is not None:
        taken_out = Edit(Span(line_start(text, speaking), taken_out.span.end), taken_out.content)
    inserted = Edit(Span(start, start), (newline_of(text, start).decode() + indent).join(lines))
    return [inserted, taken_out]


def _comments_above(text: bytes, use: GuardUse, taken_out: Edit) -> int | None:
    """Where the comments on the lines above begin that are about the guard; None where there are none.

    They go with the guard only if nothing else is on its line, and up to the first one that is about something else.
    """
    start = end = line_start(text, use.span.start)
    if taken_out.span.start != start:
        return None
    for comment in sorted((comment for comment in use.comments if comment.alone), reverse=True):
        about_guard = speaks_of_nothing_else(comment) or speaks_of_guards(comment)
        if not about_guard or text[comment.span.end : end].strip():
            break
        start, end = comment.span.start, line_start(text, comment.span.start)
    return start if start < line_start(text, use.span.start) else None


@lru_cache(maxsize=2)
def _code(text: bytes) -> bytes:
    return code_only(without_dead_branches(text))


def _gated(start: int, use: GuardUse, facts: Facts) -> bool:
    """Whether a preprocessor condition begins or ends between the two places."""
    between = Span(start, use.span.start)
    return any(
        between.start <= edge < between.end
        for conditional in facts.conditionals
        for edge in (conditional.span.start, conditional.span.end)
    )
