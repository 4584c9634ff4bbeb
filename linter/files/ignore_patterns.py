"""The patterns of .gitignore, matched as git matches them, in time proportional to pattern and path.

git's own rules (gitignore(5), and dir.c and wildmatch.c where that is silent) are followed by the letter, odd cases
included. A regular expression would try every way to share a path among several stars; here the places that are reached
after each part of a pattern are kept as a set, so that none is tried twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property

from ..lazy_regex import lazy_regex

_LONGEST_PATTERN = 4096
"""Characters, as of a path; a longer line is not a pattern."""
_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \\t", "cntrl": "\\x00-\\x1f\\x7f", "digit": "0-9",
    "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~", "space": " \\t\\n\\r\\f\\v",
    "upper": "A-Z", "xdigit": "0-9a-fA-F",
}  # fmt: skip
_SPECIAL = lazy_regex(r"[*?\[\\]")

_Places = set[int]
_Step = Callable[[str, _Places], _Places]


class NoPattern(ValueError):
    """A line that can never match anything: a lone `!`, a bracket that nothing closes."""


class IgnorePattern:
    """One pattern, asked about paths from the folder that it starts from, without a slash at either end.

    Raises `NoPattern`.
    """

    def __init__(self, line: str) -> None:
        text = _without_trailing_spaces(line)
        self.takes_back = text.startswith("!")
        text = text[self.takes_back :]
        self.folders_only = text.endswith("/")
        text = text[: len(text) - self.folders_only]
        self.by_name = "/" not in text
        """It is asked about the last part of a path alone."""
        text = text.removeprefix("/")
        if not text or len(line) > _LONGEST_PATTERN:
            raise NoPattern(line)
        special = _SPECIAL.search(text)
        self.literal = text if special is None else text[: special.start()]
        """What it begins with; all of it, if `rest` is empty."""
        self.rest = text[len(self.literal) :]
        self._check()

    @property
    def suffix(self) -> str:
        """`.o` for `*.o`, a pattern that only the end of a name decides; else empty."""
        plain = self.by_name and not self.literal and self.rest[:1] == "*" and _SPECIAL.search(self.rest, 1) is None
        return self.rest[1:] if plain else ""

    @cached_property
    def part(self) -> str:
        """The longest text that is in every path that matches; may be empty."""
        return max((self.literal, *self._parsed[1]), key=len)

    @cached_property
    def _parsed(self) -> tuple[list[_Step], list[str]]:
        return _steps(self.rest, by_name=self.by_name)

    def _check(self) -> None:
        if "[" in self.rest or self.rest.endswith("\\"):
            _ = self._parsed

    def matches(self, path: str, is_folder: bool) -> bool:
        """Whether the pattern matches this very path; what is below a folder that matches is for the caller."""
        if self.folders_only and not is_folder:
            return False
        if self.by_name:
            path = path[path.rfind("/") + 1 :]
        if not self.rest:
            return path == self.literal
        if not path.startswith(self.literal):
            return False
        # As in git, what comes after the literal beginning is a pattern by itself: `a**/b` matches `ab`.
        text = path[len(self.literal) :]
        places = {0}
        for step in self._parsed[0]:
            places = step(text, places)
            if not places:
                return False
        return len(text) in places


class IgnorePatterns:
    """The patterns of one file, or one setting, the last of which that matches counts."""

    def __init__(self, lines: Iterable[str]) -> None:
        patterns: list[IgnorePattern] = []
        for line in lines:
            if line and not line.startswith("#"):
                try:
                    patterns.append(IgnorePattern(line))
                except NoPattern:  # git passes over it: one such line must not cost the others
                    continue
        self._takes_back = [one.takes_back for one in patterns]
        self._for_files = _PatternTable((place, one) for place, one in enumerate(patterns) if not one.folders_only)
        self._for_folders = _PatternTable(enumerate(patterns))

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """True ignored, False taken back by a `!` pattern, None when no pattern matches this very path."""
        place = (self._for_folders if is_folder else self._for_files).last(path, is_folder)
        return None if place < 0 else not self._takes_back[place]


class _PatternTable:
    """Finds the last of many patterns that matches a path; most are looked up, and few are tried."""

    def __init__(self, patterns: Iterable[tuple[int, IgnorePattern]]) -> None:
        self._names: dict[str, int] = {}
        self._paths: dict[str, int] = {}
        suffixes: dict[str, int] = {}
        others: list[tuple[str, int, IgnorePattern]] = []
        for place, one in patterns:
            if not one.rest:
                (self._names if one.by_name else self._paths)[one.literal] = place
            elif one.suffix:
                suffixes[one.suffix] = place
            else:
                others.append((one.part, place, one))
        self._suffixes, self._ends = suffixes, tuple(suffixes)
        self._others = others[::-1]

    def last(self, path: str, is_folder: bool) -> int:
        """The place of the last pattern that matches; -1 when none does."""
        found = self._paths.get(path, -1)
        if self._names:
            found = max(found, self._names.get(path[path.rfind("/") + 1 :], -1))
        if self._ends and path.endswith(self._ends):
            found = max(found, *(place for end, place in self._suffixes.items() if path.endswith(end)))
        for part, place, pattern in self._others:
            if place < found:
                break
            if part in path and pattern.matches(path, is_folder):
                return place
        return found


def pattern_lines(text: bytes) -> list[str]:
    """The lines of a .gitignore, as git divides it."""
    lines = text.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n")
    return [line.removesuffix("\r") for line in lines]


def is_pattern(line: str) -> bool:
    """Whether .gitignore's syntax gives the line a meaning; blank lines and comments have one."""
    if not line.strip(" ") or line.startswith("#"):
        return True
    try:
        IgnorePattern(line)
    except NoPattern:
        return False
    return True


def _without_trailing_spaces(line: str) -> str:
    end = len(line)
    while end and line[end - 1] == " ":
        end -= 1
    escapes = len(line[:end]) - len(line[:end].rstrip("\\"))
    return line[: end + 1] if escapes % 2 and end < len(line) else line[:end]


def _steps(text: str, *, by_name: bool) -> tuple[list[_Step], list[str]]:
    """What is done with the places in a path, one step for each part of a pattern, and the plain texts among the parts.

    Raises `NoPattern`.
    """
    steps: list[_Step] = []
    literals: list[str] = []
    after = 0
    """Characters that the parts after the last star take."""
    plain = ""
    place = 0
    while place <= len(text):
        letter = text[place : place + 1]
        if letter not in ("*", "?", "[", ""):
            place += letter == "\\"
            plain += _at(text, place)
            place += 1
            continue
        if plain:
            steps.append(_literal(plain))
            literals.append(plain)
            after += len(plain)
            plain = ""
        if not letter:
            break
        if letter == "*":
            step, place = _star(text, place, by_name=by_name)
            after = 0
        elif letter == "[":
            step, place = _set(text, place)
            after += 1
        else:
            step, place = _one, place + 1
            after += 1
        steps.append(step)
    last = max((index for index, step in enumerate(steps) if step is _within_folder), default=-1)
    if last >= 0 and not any(step in (_anything, _folders) for step in steps[last:]):
        steps[last] = _last_star(after)
    return steps, literals


def _last_star(after: int) -> _Step:
    """Any characters but slashes, where what comes after takes so many: one place is left to go on from."""

    def step(path: str, places: _Places) -> _Places:
        end = len(path) - after
        begin = path.rfind("/", 0, max(0, end)) + 1
        return {end} if any(begin <= place <= end for place in places) else set()

    return step


def _literal(plain: str) -> _Step:
    size = len(plain)
    return lambda path, places: {place + size for place in places if path.startswith(plain, place)}


def _one(path: str, places: _Places) -> _Places:
    return {place + 1 for place in places if path[place : place + 1] not in ("", "/")}


def _star(text: str, place: int, *, by_name: bool) -> tuple[_Step, int]:
    """The step for one or more stars, and where they end."""
    end = place
    while text[end : end + 1] == "*":
        end += 1
    several = end - place > 1 and not by_name
    if several and (place == 0 or text[place - 1] == "/"):
        if end == len(text):
            return _anything, end
        if text[end] == "/":
            return _folders, end + 1
        if text[end : end + 2] == "\\/":
            return _anything, end
    return _within_folder, end


def _within_folder(path: str, places: _Places) -> _Places:
    """Any characters but slashes."""
    found: _Places = set()
    for place in sorted(places):
        if place not in found:
            end = path.find("/", place)
            found.update(range(place, (end if end >= 0 else len(path)) + 1))
    return found


def _anything(path: str, places: _Places) -> _Places:
    return set(range(min(places), len(path) + 1))


def _folders(path: str, places: _Places) -> _Places:
    """Nothing, or anything up to and with a slash."""
    first = min(places)
    return places | {place + 1 for place in range(first, len(path)) if path[place] == "/"}


def _set(text: str, start: int) -> tuple[_Step, int]:
    """The step for a bracket, and where it ends. Raises `NoPattern`."""
    place = start + 1
    negated = text[place : place + 1] in ("!", "^") and place < len(text)
    place += negated
    parts: list[str] = []
    before = ""
    first = True
    while True:
        letter = _at(text, place)
        if letter == "]" and not first:
            break
        first = False
        if letter == "\\":
            place += 1
            letter = _at(text, place)
            parts.append(re.escape(letter))
        elif letter == "-" and before and _at(text, place + 1) != "]":
            place += 1
            last = _at(text, place)
            if last == "\\":
                place += 1
                last = _at(text, place)
            if before > last:
                raise NoPattern(text)
            parts.append(f"{re.escape(before)}-{re.escape(last)}")
            letter = ""
        elif letter == "[" and text[place + 1 : place + 2] == ":":
            end = text.find("]", place + 2)
            if end < 0:
                raise NoPattern(text)
            if text[end - 1] == ":" and end - 1 >= place + 2:
                name = text[place + 2 : end - 1]
                if name not in _CLASSES:
                    raise NoPattern(text)
                parts.append(_CLASSES[name])
                place = end
                letter = ""
            else:
                parts.append(re.escape(letter))
        else:
            parts.append(re.escape(letter))
        before = letter
        place += 1
    content = "".join(parts)
    if content:
        one_of = re.compile(f"[{'^/' if negated else ''}{content}]", re.DOTALL)
    else:
        one_of = re.compile("[^/]" if negated else r"(?!)")

    def step(path: str, places: _Places) -> _Places:
        return {place + 1 for place in places if path[place : place + 1] != "/" and one_of.match(path, place)}

    return step, place + 1


def _at(text: str, place: int) -> str:
    if place >= len(text):
        raise NoPattern(text)
    return text[place]
