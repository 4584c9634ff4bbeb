"""Comments at a guard, when the guard changes or goes."""

from __future__ import annotations

from guardfix.linter.analysis.guard_comments import (
    comments_about_guards,
    names_old_guard,
    quoted,
    speaks_of_nothing_else,
)
from guardfix.linter.facts import Facts, GuardUse, Span

from ..fix import Edit
from .statements import line_end, line_start, removal, without_gap


def doubts_of_comments(use: GuardUse, facts: Facts) -> list[str]:
    """Comments beside the guard that a person should read before it is changed."""
    found = []
    for comment in comments_about_guards(use):
        then = ", which won't be true anymore" if names_old_guard(comment, use) else ""
        found.append(f"a comment at line {facts.row(comment.span.start)} says {quoted(comment)}{then}")
    return found


def removal_with_comments(text: bytes, use: GuardUse, also: Span | None = None) -> list[Edit]:
    """Take a guard out, and the comments that were about nothing else; `also` is one that goes whatever it says."""
    gone = {comment.span for comment in use.comments if speaks_of_nothing_else(comment)}
    gone |= {also} if also is not None else set()
    end = max((span.end for span in gone if span.start >= use.span.end), default=use.span.end)
    edits = [whole_lines(text, span) for span in sorted(gone) if span.end <= use.span.start]
    edits.append(removal(text, Span(use.span.start, end)))
    while len(edits) > 1 and edits[-2].span.end == edits[-1].span.start:
        last = edits.pop()
        edits[-1] = Edit(Span(edits[-1].span.start, last.span.end), "")
    edits[-1] = without_gap(text, edits[-1])
    return edits


def whole_lines(text: bytes, span: Span) -> Edit:
    """Take out the lines on which a comment is alone."""
    return Edit(Span(line_start(text, span.start), line_end(text, span.end)), "")
