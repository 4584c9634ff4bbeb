"""What of a large Python file has to be parsed: all but the functions that name no guard.

The interpreter's parser takes most of the time that a large file costs, and a test module of half a megabyte names
`no_grad` in a few of its functions. The bodies of the others become an empty tuple of the same extent, so that every
row and column stays. In a few cases what a body says matters elsewhere in the file; `is_enough` sees that afterwards,
and the file is read whole. So is a text that doesn't parse any more: strings and brackets that go on over lines aren't
looked for here.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator
from functools import cache

from ...facts import Form, Span
from ...facts.python_model import Kind, PythonUse
from ...lazy_regex import lazy_regex
from .name_resolution import statements
from .python_look import name_places
from .python_parsing import parse_or_none

FOCUS_FROM = 20_000
"""From so many bytes on, leaving bodies out costs less than parsing them."""
_GRADIENT_ONLY = frozenset({"no_grad", "enable_grad", "set_grad_enabled"})
"""Guards of which rules ask where they are, not what becomes of tensors and models in the rest of the file."""
# A literal line end in front is what `re` looks for fastest; what is on the very first line is parsed.
_TOP = lazy_regex(rb"\n(?:(?:async +)?def|class)\b[^\n]*\n")
_HEADER = lazy_regex(rb"(?:async +)?def +\w+\([^()#]*(?:\([^()#]*\)[^()#]*)*\)[^()#:\n]*: *\n")
_FIRST = lazy_regex(rb"(?: *(?:#[^\n]*)?\n)*( +)(?=[^ #\n])")
"""Up to a block's first statement."""
_DOCSTRING = lazy_regex(rb"[rR]?\"\"\"")


def without_idle_bodies(text: bytes, words: Collection[str]) -> str | None:
    """A file's text (UTF-8) without the bodies in which none of the words occurs; None where all is to be parsed."""
    if len(text) < FOCUS_FROM or b"\r" in text or b"\f" in text:
        return None
    if next(name_places(text, set(words) - _GRADIENT_ONLY), None) is not None:
        return None
    named = sorted(name_places(text, _GRADIENT_ONLY))
    parts: list[bytes] = []
    done = before = 0
    for body in _bodies(text):
        # A guard between the body before and this one may decorate the function.
        index = bisect_left(named, before)
        before = body.end
        if index < len(named) and named[index] < body.end:
            continue
        if not _can_go(text, body):
            continue
        parts += (text[done : body.start], _empty_tuple(text, body))
        done = body.end
    return b"".join((*parts, text[done:])).decode("utf-8") if parts else None


def bring_back(text: bytes, tree: ast.Module, functions: Iterable[ast.FunctionDef | ast.AsyncFunctionDef]) -> None:
    """Give functions of a tree their bodies again where these were left out."""
    wanted = {node.lineno: node for node in functions if _is_left_out(node)}
    if not wanted:
        return
    rows = text.split(b"\n")
    kept: list[bytes] = [b""] * len(rows)
    for top in tree.body:
        for node in top.body if isinstance(top, ast.ClassDef) else [top]:
            if wanted.get(node.lineno) is node:
                kept[node.lineno - 1 : node.end_lineno] = rows[node.lineno - 1 : node.end_lineno]
                if node is not top:
                    kept[top.lineno - 1] = b"if 1:"
    parsed = parse_or_none(b"\n".join(kept).decode("utf-8"))
    for node in statements(parsed.body) if parsed is not None else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            wanted[node.lineno].body = node.body


def _is_left_out(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    only = node.body[0].value if isinstance(node.body[0], ast.Expr) else None
    return len(node.body) == 1 and isinstance(only, ast.Tuple) and not only.elts


def is_enough(uses: Collection[PythonUse]) -> bool:
    """Whether the guards that were found are their functions' own business.

    A guard at the top, in a class or in an attribute can be entered by any function, and a generator that yields under
    one can be stepped by any.
    """
    for use in uses:
        decorates_function = use.decorated is not None and use.decorated.kind is not Kind.CLASS
        if use.use.form is Form.MEMBER or use.suspension_points or not (use.local or decorates_function):
            return False
    return True


def _bodies(text: bytes) -> Iterator[Span]:
    """The bodies of functions at the top, and of methods of classes there: from their first statement to their last."""
    for top in _TOP.finditer(text):
        if not top[0].startswith(b"\nclass"):
            header = _HEADER.match(text, top.start() + 1)
            body = _body(text, header.end(), 0) if header is not None else None
            if body is not None:
                yield body
            continue
        end = _block_end(text, top.end(), 0)
        first = _FIRST.match(text, top.end(), end)
        if first is None:
            continue
        indent = len(first[1])
        for method in _methods(indent).finditer(text, top.end() - 1, end):
            body = _body(text, method.end(), indent)
            if body is not None:
                yield body


@cache
def _methods(indent: int) -> re.Pattern[bytes]:
    return re.compile(rb"\n {%d}" % indent + _HEADER.pattern)


@cache
def _outside(indent: int) -> re.Pattern[bytes]:
    """A line that is indented no further, and holds more than a comment."""
    return re.compile(rb"\n {0,%d}[^ #\n]" % indent)


def _block_end(text: bytes, start: int, indent: int) -> int:
    found = _outside(indent).search(text, start - 1)
    return found.start() + 1 if found is not None else len(text)


def _can_go(text: bytes, body: Span) -> bool:
    """Whether no string may go on after the body, and no name outside it is bound in it."""
    if any(text.find(word, *body) >= 0 for word in (b"'''", b"global", b"nonlocal")):
        return False
    strings = text.count(b'"""', *body)
    return not strings or (strings == 2 and _DOCSTRING.match(text, body.start) is not None)


def _body(text: bytes, start: int, indent: int) -> Span | None:
    """The statements of a function whose header ends at `start`; None where their end isn't known."""
    end = _block_end(text, start, indent)
    first = _FIRST.match(text, start, end)
    if first is None or len(first[1]) <= indent:
        return None
    code = text[first.end() : end].rstrip()
    last = code[code.rfind(b"\n") + 1 :].lstrip()
    while last.startswith(b"#"):
        code = code[: code.rfind(b"\n")].rstrip()
        last = code[code.rfind(b"\n") + 1 :].lstrip()
    if len(code) < len(b"()") or b"#" in last or code.endswith((b"\\", b";")):
        return None
    return Span(first.end(), first.end() + len(code))


def _empty_tuple(text: bytes, body: Span) -> bytes:
    """An expression that is on the rows and columns of the body."""
    rows = text.count(b"\n", *body)
    if not rows:
        return b"(" + b" " * (body.end - body.start - 2) + b")"
    column = body.end - text.rfind(b"\n", *body) - 1
    return b"(" + b"\n" * rows + b" " * (column - 1) + b")"
