"""Python: a guard is taken out of a `with` statement."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from guardfix.linter.facts import Span
from guardfix.linter.facts.python_model import PythonUse
from guardfix.linter.lazy_regex import lazy_regex

from ..fix import Edit
from .libcst_regions import Statement, rewrite_statements
from .statements import line_start


def item_removal(text: bytes, found: PythonUse) -> list[Edit] | None:
    """The edits that take the guard out of its `with`, and the `with` away when it was the only item; None if neither
    can be done."""
    alone = _item_on_its_own_line(text, found)
    if alone is not None:
        return alone
    wanted = text[slice(*found.call_span)].decode("utf-8")

    def rewriting(statements: Sequence[Statement]) -> Sequence[Statement] | None:
        node = statements[0]
        if len(statements) != 1 or not isinstance(node, cst.With):
            return None
        module = cst.Module([])
        kept = [item for item in node.items if module.code_for_node(item.item) != wanted]
        if len(kept) == len(node.items):
            return None
        if kept:
            last = kept[-1].with_changes(comma=node.items[-1].comma)
            return [node.with_changes(items=[*kept[:-1], last])]
        return _body(node)

    return rewrite_statements(text, Span(found.use.span.start, found.use.scope.end), rewriting)


_BEHIND_ITEM = lazy_regex(rb"[ \t]*(?P<comma>,?)[ \t]*(?P<comment>#[^\r\n]*)?(?P<newline>\r\n|\n|\r)")
_NEXT_TOKEN = lazy_regex(rb"(?:\s|#[^\r\n]*)*")
_COMMA = lazy_regex(rb"(?<=\n)[ \t]*,[ \t]*\r?\n|,[ \t]*")


def _item_on_its_own_line(text: bytes, found: PythonUse) -> list[Edit] | None:
    """In brackets, with a line for itself and others beside it: the line goes, a comment on it stays."""
    span = found.call_span
    start = line_start(text, span.start)
    after = _BEHIND_ITEM.match(text, span.end)
    before = text[start : span.start].strip()
    if found.items < 2 or after is None or before not in (b"", b","):
        return None
    if text[:start].rstrip(b"\r\n").endswith(b"\\"):
        return None  # continued by a backslash: no brackets
    edits = []
    if before == b"," and after["comma"]:
        return None
    if not before and not after["comma"]:
        token = _NEXT_TOKEN.match(text, after.end())
        place = token.end() if token is not None else after.end()
        line = line_start(text, place)
        comma = _COMMA.match(text, line) if text[line:place].isspace() else None
        comma = comma or _COMMA.match(text, place)
        if comma is not None:  # the comma is on a line below
            edits.append(Edit(Span(*comma.span()), ""))
        elif text[place : place + 1] != b")":
            return None
    if after["comment"]:
        first = start + text[start : span.start].index(b",") if before else span.start
        return [Edit(Span(first, after.start("comment")), ""), *edits]
    return [Edit(Span(start, after.end()), ""), *edits]


def _body(node: cst.With) -> Sequence[Statement] | None:
    """The statements of a `with`, to be in its place, with the comments that were on it."""
    if isinstance(node.body, cst.SimpleStatementSuite):
        return [cst.SimpleStatementLine(node.body.body, node.leading_lines, node.body.trailing_whitespace)]
    block = cst.ensure_type(node.body, cst.IndentedBlock)
    body = [one for one in block.body if isinstance(one, (cst.SimpleStatementLine, cst.BaseCompoundStatement))]
    first = body[0]
    if not hasattr(first, "leading_lines") or block.footer:
        return None  # comments at the end of the block have no place in libcst's tree of one statement
    above = list(node.leading_lines)
    comment = block.header.comment
    if comment is not None:
        above.append(cst.EmptyLine(comment=comment))
    body[0] = first.with_changes(leading_lines=[*above, *first.leading_lines])
    return body
