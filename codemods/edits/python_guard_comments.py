"""Comments at a guard of Python: behind it on its row, and alone on the rows above its statement."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from guardfix.linter.analysis.guard_comments import quoted, speaks_of_guards
from guardfix.linter.facts import Comment, Facts, Span
from guardfix.linter.frontends.python.python_comments import python_comments


def doubts_of_python_comments(text: bytes, guard: Span, facts: Facts) -> list[str]:
    """Comments at the guard that a person should read before it goes."""
    said = filter(speaks_of_guards, _comments_at(text, guard, facts))
    return [f"a comment at line {facts.row(comment.span.start)} says {quoted(comment)}" for comment in said]


def _comments_at(text: bytes, guard: Span, facts: Facts) -> Iterator[Comment]:
    rows = facts.rows(guard)
    by_row = _by_row(text, facts)
    row, above = rows.start, []
    while (span := by_row.get(row - 1)) is not None and _is_alone(text, span):
        row -= 1
        above.append(_comment(span, text, alone=True))
    yield from reversed(above)
    for inside in rows:
        if inside in by_row:
            yield _comment(by_row[inside], text, alone=False)


@lru_cache(maxsize=4)
def _by_row(text: bytes, facts: Facts) -> dict[int, Span]:
    """The file's comments: it may have many guards."""
    return {facts.row(span.start): span for span in python_comments(text)}


def _comment(span: Span, text: bytes, *, alone: bool) -> Comment:
    written = text[slice(*span)].decode("utf-8", "replace")
    return Comment(span, " ".join(written.lstrip("#!: ").split()), alone)


def _is_alone(text: bytes, span: Span) -> bool:
    return not text[text.rfind(b"\n", 0, span.start) + 1 : span.start].strip()
