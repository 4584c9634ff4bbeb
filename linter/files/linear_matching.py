"""Patterns of .gitignore matched in time proportional to pattern and path, however many stars they have.

pathspec makes a regular expression of each pattern, and Python's engine tries every way to share a path among several
stars. The expressions are made of few kinds of parts; here all places that are reached behind one part are kept as a
set, so that none is tried twice.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

_FEW_STARS = 3
"""With so many, the engine is fast."""

Places = set[int]
_Step = Callable[[str, Places], Places]


class _NotKnown(Exception):
    """An expression that has a part of another kind."""


_PART = re.compile(
    r"(?P<begin>\^)"
    r"|(?P<folders>\(\?:\.[+*]/\)\?)"  # `**/` at the beginning
    r"|(?P<between>\(\?:/\.[+*]\)\?)"  # `/**` in the middle, or at the end
    r"|(?P<end>\(\?:\(\?P<ps_d>/\)(?:\.\*)?\|\$\)|\(\?:\(\?P<ps_d>/\)\.\*\)\?\$|\(\?P<ps_d>/\)(?:\.\*)?\$?|\$)"
    r"|(?P<one>\[\^/\](?![*+]))"
    r"|(?P<star>\[\^/\][*+])"
    r"|(?P<all>\.[*+])"
    r"|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|(?P<letter>\\.|[^\\()\[\]{}*+?.|$^])",
    re.DOTALL,
)


@cache
def linear(expression: str) -> Callable[[str], bool | None] | None:
    """A function that matches a path as pathspec's expression does: None where it doesn't match, else whether the
    pattern matched a folder above. None for an expression with few stars, or one that is of another kind.
    """
    if not expression.startswith("^") or len(re.findall(r"(?<!\\)[*+]", expression)) <= _FEW_STARS:
        return None
    try:
        steps, ends = _steps(expression)
    except _NotKnown:
        return lambda path: None  # a pattern that nobody can answer for in time matches nothing

    def match(path: str) -> bool | None:
        places = {0}
        for step in steps:
            places = step(path, places)
            if not places:
                return None
        if not ends:
            return False
        # The engine is greedy: it finds the path itself before a folder above.
        if "$" in ends and len(path) in places:
            return False
        return True if "ps_d" in ends and any(path[place : place + 1] == "/" for place in places) else None

    return match


def compiled(expression: str) -> re.Pattern[str]:
    """The expression, without Python's warning that `[[` may come to mean something else one day."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return re.compile(expression)


def _steps(expression: str) -> tuple[list[_Step], str]:
    steps: list[_Step] = []
    place = 0
    while place < len(expression):
        match = _PART.match(expression, place)
        if match is None:
            raise _NotKnown
        kind, text = match.lastgroup, match[0]
        place = match.end()
        if kind == "end":
            if place < len(expression):
                raise _NotKnown
            return steps, text
        if kind != "begin":
            steps.append(_step(kind or "", text))
    return steps, ""


def _step(kind: str, text: str) -> _Step:
    if kind == "folders":
        return _folders
    if kind == "between":
        least = 2 if "+" in text else 1
        return lambda path, places: places | _behind(path, places, least)
    if kind in ("star", "all"):
        at_least_one, stop = text.endswith("+"), "/" if kind == "star" else "\n"
        return lambda path, places: _stretched(path, places, stop, at_least_one)
    if kind == "one":
        return lambda path, places: {place + 1 for place in places if path[place : place + 1] not in ("", "/")}
    if kind == "set":
        one_of = compiled(text)
        return lambda path, places: {place + 1 for place in places if one_of.match(path, place)}
    letter = text[-1]
    if text[0] == "\\" and letter.isalnum():
        raise _NotKnown
    return lambda path, places: {place + 1 for place in places if path[place : place + 1] == letter}


def _folders(path: str, places: Places) -> Places:
    """Nothing, or anything up to and with a slash."""
    first = min(places)
    return places | {place + 1 for place in range(first + 1, len(path)) if path[place] == "/"}


def _behind(path: str, places: Places, least: int) -> Places:
    """A slash and anything, of so many characters at least."""
    starts = [place for place in places if path[place : place + 1] == "/"]
    return set(range(min(starts) + least, len(path) + 1)) if starts else set()


def _stretched(path: str, places: Places, stop: str, at_least_one: bool) -> Places:
    """Every place that characters other than `stop` lead to."""
    found: Places = set()
    for place in sorted(places):
        if place in found:
            continue
        end = path.find(stop, place)
        found.update(range(place, (end if end >= 0 else len(path)) + 1))
    if not at_least_one:
        return found
    return {place + 1 for place in found if path[place : place + 1] not in ("", stop)}


class _Found:
    """What pathspec asks of a match: whether it was that of a folder."""

    def __init__(self, of_folder: bool) -> None:
        self._of_folder = of_folder

    def groupdict(self) -> dict[str, str | None]:
        return {"ps_d": "/" if self._of_folder else None}


class _Result:
    def __init__(self, match: _Found) -> None:
        self.match = match


@cache
def pattern_class() -> Any:
    """pathspec's class for patterns of .gitignore, matching in linear time."""
    from pathspec import GitIgnoreSpec

    base: Any = type(GitIgnoreSpec.from_lines(["a"]).patterns[0])

    class LinearPattern(base):  # type: ignore[misc]
        """One pattern."""

        def match_file(self, file: str) -> Any:
            match = linear(self.regex.pattern) if self.regex is not None else None
            if match is None:
                return super().match_file(file)
            found = match(file)
            return None if found is None else _Result(_Found(found))

    return LinearPattern
