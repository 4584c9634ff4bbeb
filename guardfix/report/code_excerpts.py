"""Lines of code with what each part of them is, small enough to embed by the thousand."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import NamedTuple

from pygments.lexer import Lexer
from pygments.lexers import CppLexer, PythonLexer
from pygments.token import Comment, Keyword, Literal, Name, Number, String, _TokenType

from guardfix.foreign_text import same_length
from guardfix.linter.files.sources import Source

BEFORE, BEHIND = 2, 4
"""Rows that are shown above and below what a finding is about."""
LONGEST_LINE = 240
_CUT = "\N{HORIZONTAL ELLIPSIS}"

# Letters that the page gives colors to. The first that holds a token counts.
_KINDS: tuple[tuple[_TokenType, str], ...] = (
    (Comment.Preproc, "p"),
    (Comment.PreprocFile, "s"),
    (Comment, "c"),
    (Keyword.Type, "t"),
    (Keyword, "k"),
    (Name.Decorator, "p"),
    (Name.Function, "f"),
    (Name.Class, "t"),
    (String, "s"),
    (Number, "n"),
    (Literal, "n"),
)


class HighlightedLine(NamedTuple):
    """A line, and its parts one after the other: `6k,3,4t` is six characters of a keyword, three of nothing, …"""

    text: str
    parts: str


class Excerpt(NamedTuple):
    """Lines that follow each other."""

    row: int
    """The row of the first line, from 1."""
    lines: list[HighlightedLine]


def excerpt(source: Source, first: int, last: int, column: int = 1) -> Excerpt:
    """The rows from `first` to `last`, as far as there are such. Of a long line, the part around `column` is shown."""
    first, last = max(1, first), min(last, len(source.line_starts))
    texts = [_cut(source.line(row), column) for row in range(first, last + 1)]
    return Excerpt(first, highlighted(texts, source.path))


def highlighted(lines: list[str], path: str) -> list[HighlightedLine]:
    """The lines of a piece of code in the language that the file's name says."""
    lines = list(map(same_length, lines))
    found: list[list[tuple[int, str]]] = [[]]
    for kind, text in _lexer(path.endswith((".py", ".pyi"))).get_tokens("\n".join(lines) + "\n"):
        letter = next((letter for token, letter in _KINDS if kind in token), "")
        for number, part in enumerate(text.split("\n")):
            if number:
                found.append([])
            if part:
                found[-1].append((len(part), letter))
    found += [[]] * (len(lines) - len(found))
    return [HighlightedLine(line, ",".join(_joined(parts))) for line, parts in zip(lines, found, strict=False)]


def _joined(parts: list[tuple[int, str]]) -> Iterator[str]:
    for letter, group in groupby(parts, key=lambda part: part[1]):
        yield f"{sum(length for length, _ in group)}{letter}"


@cache
def _lexer(python: bool) -> Lexer:
    options = {"stripnl": False, "ensurenl": False}
    return PythonLexer(**options) if python else CppLexer(**options)


def _cut(line: str, column: int) -> str:
    line = line.replace("\t", "    ")
    if len(line) <= LONGEST_LINE:
        return line
    start = max(0, min(column - LONGEST_LINE // 3, len(line) - LONGEST_LINE))
    end = start + LONGEST_LINE
    return f"{_CUT if start else ''}{line[start:end]}{_CUT if end < len(line) else ''}"
