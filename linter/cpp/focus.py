"""What of a file has to be parsed: the function bodies that hold a guard, and whatever stands outside of bodies.

Parsing and reading a whole file costs many times what looking for the guards in it costs, and most functions of a
file that holds a guard have nothing to do with it. Bodies without one are overwritten by blanks, byte for byte, so that
every offset stays. A file whose braces do not balance is left whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .. import guards
from ..guards import Effect
from .mask import blank

_GRADIENT_GUARDS = sorted(name for name, guard in guards.CPP.items() if guard.effect is not Effect.NEIGHBOUR)
_NAMES = rb"|".join(name.encode() for name in _GRADIENT_GUARDS)
_ALIAS = re.compile(
    rb"\busing\s+(?P<using>\w+)\s*=\s*[\w:\s]*?\b(?:%b)\s*;|\btypedef\s+[\w:\s]*?\b(?:%b)\s+(?P<typedef>\w+)\s*;"
    % (_NAMES, _NAMES)
)
# What the facts of the whole file decide: the old guard, guards on the heap.
_NEEDS_ALL = re.compile(rb"NonVariableTypeMode|\b(?:new|make_unique|make_shared)\b[\s<]*[\w:]*(?:%b)" % _NAMES)
_MARK = re.compile(rb"^[ \t]*#(?:\\\r?\n|[^\n])*|[{};]", re.MULTILINE)
_OPEN_SPACE = re.compile(rb"\b(?:namespace|extern|class|struct|union)\b[^()=]*$")


def guard_places(code: bytes) -> list[int]:
    """Where guards, or aliases that the file gives them, are named; `code` has no comments and strings."""
    names = set(map(str.encode, _GRADIENT_GUARDS)) | {guards.LEGACY_API.encode()}
    for match in _ALIAS.finditer(code):
        names |= _aliases_of(match["using"] or match["typedef"], code)
    pattern = re.compile(rb"\b(?:" + b"|".join(map(re.escape, sorted(names))) + rb")\b")
    return [match.start() for match in pattern.finditer(code)]


def _aliases_of(name: bytes, code: bytes) -> set[bytes]:
    """The alias, and the aliases of the alias."""
    found, waiting = {name}, [name]
    while waiting:
        target = re.escape(waiting.pop())
        again = rb"\busing\s+(\w+)\s*=\s*[\w:\s]*?\b%b\s*;|\btypedef\s+[\w:\s]*?\b%b\s+(\w+)\s*;" % (target, target)
        for match in re.finditer(again, code):
            other = match[1] or match[2]
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found


def needs_all(code: bytes) -> bool:
    """Whether the rules must know the whole file, and not only the functions that hold a guard."""
    return _NEEDS_ALL.search(code) is not None


def focused(code: bytes, places: Iterable[int]) -> bytes:
    """The code with every outermost function body blanked that holds none of the places."""
    bodies = _bodies(code)
    if not bodies:
        return code
    wanted = sorted(places)
    masked = bytearray(code)
    for start, end in bodies:
        if not _any_between(wanted, start, end):
            blank(masked, start, end)
    return bytes(masked)


def _any_between(places: list[int], start: int, end: int) -> bool:
    from bisect import bisect_left

    index = bisect_left(places, start)
    return index < len(places) and places[index] < end


def _bodies(code: bytes) -> list[tuple[int, int]]:
    """The insides of the outermost braces that open neither a namespace nor a class."""
    found: list[tuple[int, int]] = []
    open_spaces = 0
    depth = 0  # inside a body
    start = previous = 0
    for match in _MARK.finditer(code):
        mark = code[match.start()]
        if mark == 0x7B:  # {
            if depth:
                depth += 1
            elif _OPEN_SPACE.search(code, previous, match.start()):
                open_spaces += 1
            else:
                depth, start = 1, match.end()
        elif mark == 0x7D:  # }
            if depth:
                depth -= 1
                if depth == 0:
                    found.append((start, match.start()))
            elif open_spaces:
                open_spaces -= 1
            else:
                return []
        previous = match.end()
    return found if depth == 0 and open_spaces == 0 else []
