"""Python text -> a syntax tree of the standard library, whose columns count UTF-8 bytes as `Source.text` does.

libcst is Python's parser of record, but `ast` reads 10 MB/s and libcst 1. So `ast` proposes what may be a finding, and
libcst confirms what is reported (`libcst_confirmation`).

The running interpreter's grammar can be older than the file. libcst reads newer syntax on any interpreter; what the
interpreter's own parser does not know is then overwritten by plain code of the same length, as macros are in C++, and
every offset stays.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from ...lazy_regex import lazy_regex
from ..garbage import collection_paused

if TYPE_CHECKING:
    import libcst as cst

_Value = TypeVar("_Value")
_DEEPEST = 180
"""Brackets within brackets. CPython itself gives up at 200; libcst has no limit of its own but the stack's."""
_LONGEST = 10_000
"""Characters of a line: operators can nest as deep as a line is long."""
_STACK = 512 << 20
"""Bytes of stack for libcst: its parser is recursive, and does not check (measured: 4 KB a level and more)."""
_RECURSION = 50_000
"""Python frames on that stack: libcst visits a tree recursively."""
_BRACKET = lazy_regex(r"[\[({]|[\])}]")
_NEWER = lazy_regex(
    r"\b[fFtT][rR]?['\"]|\b[rR][fFtT]['\"]|^\s*type\s+\w+|^\s*(?:async\s+)?(?:def|class)\s+\w+\s*\[|^\s*except\b\s*[*\w]"
    r"|\*\s*\w+\s*[\],]|:\s*\*\s*\w",
    re.MULTILINE,
)


def parse_python(text: str) -> ast.Module | None:
    """The tree of a module; None when neither parser can read it."""
    tree = parse_or_none(text)
    if tree is not None or not _NEWER.search(text) or is_monstrous(text):
        return tree
    plain = _without_newer_syntax(text)
    return parse_or_none(plain) if plain is not None else None


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
    with warnings.catch_warnings(), collection_paused():  # which took three times as long as the parser
        warnings.simplefilter("ignore")  # invalid escapes are not this tool's business
        return ast.parse(text)


def parse_or_none(text: str) -> ast.Module | None:
    """What the interpreter's own parser reads; None when it gives up."""
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


def is_monstrous(text: str) -> bool:
    """Whether libcst could lose its stack over the text."""
    return (
        _depth(text) > _DEEPEST or text.count("elif") > 1000 or max(map(len, text.splitlines()), default=0) > _LONGEST
    )


def parse_with_libcst(text: str, indent: str = "    ", newline: str = "\n") -> cst.Module | None:
    """libcst's tree, parsed on a stack that is large enough; None when it cannot read the text.

    `indent` is one level of indentation, and `newline` the line end, for code that is added.
    """
    import libcst as cst

    def parse() -> cst.Module | None:
        with suppress(cst.ParserSyntaxError, cst.CSTValidationError, ValueError):
            return cst.parse_module(text, cst.PartialParserConfig(default_indent=indent, default_newline=newline))
        return None

    return on_large_stack(parse)


def on_large_stack(work: Callable[[], _Value]) -> _Value | None:
    """What `work` gives back, run on a stack that is large enough for libcst; None when even that one is not."""
    import threading

    found: list[_Value] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except RecursionError:
            pass
        except BaseException as error:
            failed.append(error)

    depth = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(max(depth, _RECURSION))
        stack = threading.stack_size(_STACK)
        try:
            thread = threading.Thread(target=run)
            thread.start()
        finally:
            threading.stack_size(stack)
        thread.join()
    finally:
        sys.setrecursionlimit(depth)
    if failed:
        raise failed[0]
    return found[0] if found else None


def _without_newer_syntax(text: str) -> str | None:
    """The module with newer syntax overwritten, length kept; None when libcst cannot read it either."""
    from .newer_syntax import plain_syntax

    module = parse_with_libcst(text)
    if module is None:
        return None
    plain = on_large_stack(lambda: plain_syntax(module))
    return plain.decode() if plain is not None else None
