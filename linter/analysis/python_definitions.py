"""Where the functions and classes stand that Python files name: found by import, as Python itself would find them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from ..facts import Facts
from ..named_tuples import NamedTuple

_MOST_LEVELS = 6
"""Folders above a file that are tried as the start of a dotted name."""
_MOST_STEPS = 5
"""Modules that hand a name on, one to the next."""


class PythonDefinition(NamedTuple):
    """A function or class of that name in a file; the file itself may not have been read yet."""

    path: str
    name: str


class PythonDefinitions:
    """Finds definitions in the files that were read; says which others would have to be.

    `others` are the paths of the project's further modules, by their absolute paths.
    """

    def __init__(self, files: Mapping[str, Facts], others: Mapping[str, str]) -> None:
        self._files = files
        self._by_key = {**others, **{os.path.abspath(path): path for path in files}}
        self._modules: dict[tuple[str, str], str | None] = {}
        self.unread: set[str] = set()
        """Paths of modules that were asked for and not read."""

    def find(self, name: str, path: str) -> PythonDefinition | None:
        """What a dotted name means in a file, as far as the project's own modules say it."""
        for _ in range(_MOST_STEPS):
            relative = name.startswith(".")
            module, _, last = name.rpartition(".")
            if not module and not relative:
                return PythonDefinition(path, name)
            found = self._module(module or ".", relative, path)
            if found is None:
                return None
            facts = self._files.get(found)
            if facts is None or facts.python is None or facts.python.models is None:
                self.unread.add(found)
                return None
            handed_on = dict(facts.python.models.imports).get(last)
            if handed_on is None:
                return PythonDefinition(found, last)
            name, path = handed_on, found
        return None

    def _module(self, module: str, relative: bool, path: str) -> str | None:
        """The path of a module that a file names."""
        folder = os.path.dirname(os.path.abspath(path))
        known = (module, folder)
        if known not in self._modules:
            for _ in range(len(module) - len(module.lstrip(".")) - 1):
                folder = os.path.dirname(folder)
            parts = [part for part in module.split(".") if part]
            starts = [folder] if relative else _above(folder)
            found = (self._by_key.get(place) for start in starts for place in _places(start, parts))
            self._modules[known] = next(filter(None, found), None)
        return self._modules[known]


def _above(folder: str) -> Iterator[str]:
    for _ in range(_MOST_LEVELS):
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _places(start: str, parts: list[str]) -> Iterator[str]:
    """The files that can be a module below a folder; a `src` folder is looked into."""
    for root in (start, os.path.join(start, "src")):
        place = os.path.join(root, *parts)
        if parts:
            yield place + ".py"
        yield os.path.join(place, "__init__.py")
