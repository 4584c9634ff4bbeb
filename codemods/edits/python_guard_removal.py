"""Taking a guard out of its `with`, or off its function."""

from __future__ import annotations

from guardfix.linter.analysis.guard_comments import quoted, speaks_of_guards
from guardfix.linter.answered_once import answered_once
from guardfix.linter.facts import Comment, Facts, Form, Span
from guardfix.linter.frontends.python.python_comments import comments_at, comments_by_row

from ..fix import Fix
from ..site import Site
from .decorator_lines import decorator_removal


def python_guard_removal(site: Site, message: str) -> Fix | None:
    """The fix that takes the guard of a Python file away; None where it can't go alone, as in `with f() as mode:`."""
    found = site.python_use
    if found is None or found.target_used:
        return None
    if found.use.form is Form.DECORATOR:
        edits = decorator_removal(site.text, found)
    else:
        from .with_items import item_removal  # which imports libcst

        edits = item_removal(site.text, found)
    if edits is None:
        return None
    lines = sum(site.text.count(b"\n", *edit.span) for edit in edits)
    doubts = [f"it re-indents {lines} lines"] if lines > site.project.reindent_limit else []
    doubts += _doubts_of_python_comments(site.text, found.call_span, site.facts)
    return site.fix(message.format(f"`{found.use.written}()`"), edits, doubts=doubts)


def _doubts_of_python_comments(text: bytes, guard: Span, facts: Facts) -> list[str]:
    """Comments at the guard that a person should read before it goes."""
    said = filter(speaks_of_guards, comments_at(facts.rows(guard), _by_row(facts, text)))
    return [f"a comment at line {facts.row(comment.span.start)} says {quoted(comment)}" for comment in said]


@answered_once
def _by_row(facts: Facts, text: bytes) -> dict[int, Comment]:
    """The file's comments: it may have many guards."""
    return comments_by_row(text, facts.row)
