"""Rewrites whole statements with libcst, and gives the difference back as edits.

Only the lines of the statement are parsed, so the cost does not grow with the file. libcst keeps comments, blank
lines and layout; comparing line by line keeps every other byte out of the edits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from functools import lru_cache

import libcst as cst

from guardfix.linter.facts import Span
from guardfix.linter.frontends.python.python_parsing import on_large_stack, parse_with_libcst
from guardfix.linter.lazy_regex import lazy_regex

from ..fix import Edit
from .statements import indentation, line_start, newline_of

Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement
Rewriting = Callable[[Sequence[Statement]], Sequence[Statement] | None]
"""Takes the statements of a region to what should be there; None when it cannot be done."""

_LINE = lazy_regex(rb"[^\r\n]*(?:\r\n|\n|\r|$)")


def rewrite_statements(text: bytes, span: Span, rewriting: Rewriting) -> list[Edit] | None:
    """The edits that rewrite the statements of `span`, which are those of one block; None when that fails.

    The span begins where the first statement begins, alone on its line, and ends at or after the last one's end.
    """
    start = line_start(text, span.start)
    indent = indentation(text, span.start)
    if text[start : span.start] != indent:
        return None
    end = _line_end(text, span.end)
    region = text[start:end].decode("utf-8")
    newline = newline_of(text, start).decode()
    header = f"if 1:{newline}" if indent else ""
    unit = indent_unit(text)
    module = parse_with_libcst(header + region, unit, newline)
    if module is None:
        return None
    code = on_large_stack(lambda: _rewritten(module, header, region, rewriting))
    return None if code is None else line_edits(text, Span(start, end), code[len(header) :].encode("utf-8"))


def _rewritten(module: cst.Module, header: str, region: str, rewriting: Rewriting) -> str | None:
    """The code of the rewritten module; None when it can't be rewritten."""
    if module.code != header + region:
        return None  # libcst (1.9) forgets the blank of `except Error :`, and would edit that line
    with suppress(cst.CSTValidationError):
        if header:
            holder = cst.ensure_type(module.body[0], cst.If)
            block = cst.ensure_type(holder.body, cst.IndentedBlock)
            body = rewriting([_statement(node) for node in block.body])
            if body is None:
                return None
            return module.with_changes(body=[holder.with_changes(body=block.with_changes(body=body))]).code
        body = rewriting([_statement(node) for node in module.body])
        if body is not None:
            return module.with_changes(body=body).code
    return None


def _statement(node: cst.BaseStatement) -> Statement:
    assert isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
    return node


def _line_end(text: bytes, offset: int) -> int:
    match = _LINE.match(text, offset)
    return match.end() if match else len(text)


def line_edits(text: bytes, span: Span, new: bytes) -> list[Edit]:
    """The edits that turn the lines of `span` into `new`.

    They replace whole lines: one that ended within a line would let an edit of another fix be inserted at its end, into
    what this one wrote.
    """
    before, after = (re.findall(rb"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$", part) for part in (text[slice(*span)], new))
    offsets = [span.start]
    for line in before:
        offsets.append(offsets[-1] + len(line))
    return [
        Edit(Span(offsets[low], offsets[high]), b"".join(after[new_low:new_high]).decode("utf-8"))
        for tag, low, high, new_low, new_high in SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        if tag != "equal"
    ]


@lru_cache(maxsize=1)
def indent_unit(text: bytes) -> str:
    """What one level of indentation is in this file: the commonest step after a colon."""
    steps: Counter[bytes] = Counter()
    for match in re.finditer(rb"(?m)^([ \t]*)[^\s#][^\n]*:[ \t]*\r?\n([ \t]+)(?=[^\s#])", text):
        outer, inner = match[1], match[2]
        if inner.startswith(outer) and len(inner) > len(outer):
            steps[inner[len(outer) :]] += 1
    return steps.most_common(1)[0][0].decode() if steps else "    "


def wrap(statements: Sequence[Statement], guard: str, unit: str, header: cst.TrailingWhitespace) -> cst.With:
    """`with guard:` around the statements, which are indented by one more `unit`; `header` follows the colon."""
    first = statements[0]
    lines = list(getattr(first, "leading_lines", ()))
    while lines and lines[0].comment is None:
        lines.pop(0)  # no blank lines below the colon
    inside = (
        [first.with_changes(leading_lines=lines), *statements[1:]] if hasattr(first, "leading_lines") else statements
    )
    body = cst.IndentedBlock(body=list(inside), header=header, indent=unit)
    return cst.With(items=[cst.WithItem(cst.parse_expression(guard))], body=body)
