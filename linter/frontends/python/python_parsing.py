"""Python text -> a syntax tree of the standard library, whose columns count UTF-8 bytes as `Source.text` does.

The running interpreter's grammar can be older than the file. libcst reads newer syntax on any interpreter; what the
interpreter's own parser does not know is then overwritten by plain code of the same length, as macros are in C++, and
every offset stays. (`ast` reads 10 MB/s, libcst 1; so libcst is asked only where `ast` gives up.)
"""

from __future__ import annotations

import ast
import re
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

_DEEPEST = 180
"""Brackets within brackets. CPython itself gives up at 200; libcst has no limit of its own but the stack's."""
_LONGEST = 10_000
"""Characters of a line: operators can nest as deep as a line is long."""
_STACK = 512 << 20
"""Bytes of stack for libcst: its parser is recursive, and does not check (measured: 4 KB a level and more)."""
_BRACKET = re.compile(r"[\[({]|[\])}]")
_NEWER = re.compile(
    r"\b[fFtT][rR]?['\"]|\b[rR][fFtT]['\"]|^\s*type\s+\w+|^\s*(?:async\s+)?(?:def|class)\s+\w+\s*\[|^\s*except\s+\w",
    re.MULTILINE,
)


def parse_python(text: str) -> ast.Module | None:
    """The tree of a module; None when neither parser can read it."""
    tree = _parse(text)
    if tree is not None or not _NEWER.search(text) or _is_monstrous(text):
        return tree
    plain = _without_newer_syntax(text)
    return _parse(plain) if plain is not None else None


def error_row(text: str) -> int:
    """The row at which the interpreter's parser gave up, from 1."""
    try:
        _compile(text)
    except SyntaxError as error:
        return error.lineno or 1
    except (ValueError, RecursionError, MemoryError):
        pass
    return 1


def reads(text: str) -> bool:
    """Whether a whole file parses."""
    return parse_python(text) is not None


def _compile(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes are not this tool's business
        return ast.parse(text)


def _parse(text: str) -> ast.Module | None:
    try:
        return _compile(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _depth(text: str) -> int:
    """How deep brackets nest at most, counted without regard to strings: never too small by much."""
    depth = deepest = 0
    for match in _BRACKET.finditer(text):
        if match.group() in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif depth:
            depth -= 1
    return deepest


def _is_monstrous(text: str) -> bool:
    """Whether libcst could lose its stack over the text."""
    return (
        _depth(text) > _DEEPEST or text.count("elif") > 1000 or max(map(len, text.splitlines()), default=0) > _LONGEST
    )


def parse_with_libcst(text: str, indent: str = "    ") -> cst.Module | None:
    """libcst's tree, parsed on a stack that is large enough; None when it cannot read the text.

    `indent` is one level of indentation for code that is added.
    """
    import threading

    import libcst as cst

    found: list[cst.Module] = []

    def run() -> None:
        with suppress(cst.ParserSyntaxError, cst.CSTValidationError, RecursionError, ValueError):
            found.append(cst.parse_module(text, cst.PartialParserConfig(default_indent=indent)))

    before = threading.stack_size(_STACK)
    try:
        thread = threading.Thread(target=run)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    return found[0] if found else None


def _without_newer_syntax(text: str) -> str | None:
    """The module with newer syntax overwritten, length kept; None when libcst cannot read it either."""
    from .newer_syntax import plain_syntax

    module = parse_with_libcst(text)
    if module is None:
        return None
    with suppress(RecursionError):
        return plain_syntax(module).decode()
    return None
