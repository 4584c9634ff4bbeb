"""Which file of a project a dotted module name means, as the file that imports it sees it."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache


class PythonModules:
    """The modules among some files."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_last: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
        for path in paths:
            parts = module_parts(path)
            if parts:
                self._by_last[parts[-1]].append((parts, path))

    def find(self, dotted: str, seen_from: str) -> str | None:
        """The file of `package.module`, `.module` or `.`; None where none or several can be meant."""
        wanted = parts_wanted(dotted, seen_from)
        if not wanted:
            return None
        ending = [one for one in self._by_last.get(wanted[-1], ()) if one[0][-len(wanted) :] == wanted]
        if dotted.startswith("."):
            return next((path for parts, path in ending if parts == wanted), None)
        # Of several, Python takes the one below a folder that it was started in or that is on its path.
        around = _folder(seen_from)
        above = [one for one in ending if one[0][: -len(wanted)] == around[: len(one[0]) - len(wanted)]]
        if above:
            return max(above)[1]
        return ending[0][1] if len(ending) == 1 else None


def parts_wanted(dotted: str, seen_from: str) -> tuple[str, ...]:
    """The parts of a module's name; of a relative one, those of its path."""
    named = tuple(part for part in dotted.split(".") if part)
    if not dotted.startswith("."):
        return named
    above = len(dotted) - len(dotted.lstrip(".")) - 1
    folder = _folder(seen_from)
    return (*folder[: len(folder) - above], *named)


@lru_cache(maxsize=64)
def _folder(path: str) -> tuple[str, ...]:
    return _parts(os.path.dirname(os.path.abspath(path)))


def module_parts(path: str) -> tuple[str, ...]:
    """The parts of a file's path as those of a module's name."""
    parts = _parts(os.path.splitext(os.path.abspath(path))[0])
    return parts[:-1] if parts[-1] == "__init__" else parts


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split(os.sep) if part)
