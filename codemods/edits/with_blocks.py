"""Python: `with guard:` around the rest of a block, or around a function's body."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from guardfix.linter.facts import GuardUse, Span
from guardfix.linter.facts.python_model import Decorated
from guardfix.linter.lazy_regex import lazy_regex

from ..fix import Edit
from .libcst_regions import Statement, indent_unit, rewrite_statements, wrap
from .statements import line_start


def rest_of_block_under(text: bytes, use: GuardUse, guard: str) -> list[Edit] | None:
    """The edits that put what follows the statement of `use` in its block below `with guard:`.

    A `del` of the variable, or `= None`, ends the block early, and goes.
    """

    def rewriting(statements: Sequence[Statement]) -> Sequence[Statement] | None:
        first, rest = statements[0], list(statements[1:])
        if not isinstance(first, cst.SimpleStatementLine) or len(first.body) != 1:
            return None
        end = next((number for number, one in enumerate(rest) if _lets_go(one, use.variable)), None)
        inside = rest if end is None else rest[:end]
        outside = [] if end is None else rest[end + 1 :]
        if not inside:
            return None
        guarded = wrap(inside, guard, indent_unit(text), first.trailing_whitespace)
        return [guarded.with_changes(leading_lines=first.leading_lines), *outside]

    return rewrite_statements(text, Span(use.span.start, use.scope.end), rewriting)


def _lets_go(node: Statement, variable: str | None) -> bool:
    if variable is None or not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
        return False
    small = node.body[0]
    target: cst.BaseExpression | None = None
    if isinstance(small, cst.Del):
        target = small.target
    elif isinstance(small, cst.Assign) and len(small.targets) == 1 and _is_name(small.value, "None"):
        target = small.targets[0].target
    return target is not None and _is_name(target, variable)


def _is_name(node: cst.BaseExpression, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def body_under_guard(text: bytes, decorated: Decorated, decorators: Sequence[Span], guard: str) -> list[Edit] | None:
    """The edits that take decorators away and put `with guard:` around the function's body."""
    taken: list[Edit] = []
    comments: list[tuple[bytes, bytes]] = []
    for decorator in decorators:
        line = _DECORATOR_LINE.match(text, decorator.end)
        start = line_start(text, decorator.start)
        if line is None or text[start : decorator.start].strip():
            return None
        taken.append(Edit(Span(start, line.end()), ""))
        if line["comment"]:
            comments.append((line["space"], line["comment"]))
    header = cst.TrailingWhitespace()
    if comments:
        comment = b"  ".join(comment for _, comment in comments)
        header = cst.TrailingWhitespace(cst.SimpleWhitespace(comments[0][0].decode()), cst.Comment(comment.decode()))

    def rewriting(statements: Sequence[Statement]) -> Sequence[Statement] | None:
        function = statements[0]
        if len(statements) != 1 or not isinstance(function, cst.FunctionDef):
            return None
        if not isinstance(function.body, cst.IndentedBlock):
            return None
        body = list(function.body.body)
        docstring = 1 if function.get_docstring(clean=False) is not None else 0
        inside = [_statement(node) for node in body[docstring:]]
        if not inside:
            return None
        guarded = wrap(inside, guard, indent_unit(text), header)
        return [function.with_changes(body=function.body.with_changes(body=[*body[:docstring], guarded]))]

    edits = rewrite_statements(text, Span(decorated.definition, decorated.span.end), rewriting)
    return None if edits is None else [*taken, *edits]


_DECORATOR_LINE = lazy_regex(rb"(?P<space>[ \t]*)(?P<comment>#[^\r\n]*)?(?:\r\n|\n|\r)")


def _statement(node: cst.BaseStatement) -> Statement:
    assert isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
    return node
