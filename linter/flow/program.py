"""The files of a project as the machine reads them: bodies by name, and what imported names stand for."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from ..facts import Facts
from ..facts.bodies import Body, BodyKind
from ..guards import Effect


class File:
    """One file with its bodies."""

    def __init__(self, facts: Facts, number: int, instead: Mapping[str, Effect]) -> None:
        self.facts = facts
        self.number = number
        self.path = facts.path
        self.language = facts.language
        self.instead = instead
        """What guards of these names are run as, where the question is what another one would do."""
        self.module = next((body for body in facts.bodies if body.kind is BodyKind.MODULE), None)
        self.bodies = facts.bodies

    def row(self, offset: int) -> int:
        return self.facts.row(offset)


class ProjectCode:
    """All files that have bodies."""

    def __init__(self, files: Iterable[Facts], instead: Mapping[str, Effect] = MappingProxyType({})) -> None:
        self.files = [File(facts, number, instead) for number, facts in enumerate(files) if facts.bodies]
        self._modules: dict[str, list[File]] = defaultdict(list)
        self._functions = Definitions()
        self._classes = Definitions()
        for file in self.files:
            if file.language == "python":
                for tail in _module_tails(file.path):
                    self._modules[tail].append(file)
            else:
                for body in file.bodies:
                    if body.kind is BodyKind.CLASS:
                        self._classes.add(file, body)
                    elif body.kind is BodyKind.FUNCTION:
                        self._functions.add(file, body)
        self._paths = {os.path.normpath(file.path): file for file in reversed(self.files)}

    def module(self, dotted: str, seen_from: File) -> File | None:
        """The file that a dotted name imports; None where it is none of the project's or can't be told."""
        level = len(dotted) - len(dotted.lstrip("."))
        if level:
            folder = os.path.dirname(seen_from.path)
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            stem = os.path.join(folder, *dotted[level:].split(".")) if dotted[level:] else folder
            wanted = (os.path.normpath(path) for path in (stem + ".py", os.path.join(stem, "__init__.py")))
            return next((self._paths[path] for path in wanted if path in self._paths), None)
        found = self._modules.get(dotted, ())
        return found[0] if len(found) == 1 else None

    def functions(self, qualified: tuple[str, ...], seen_from: File) -> list[tuple[File, Body]]:
        """C++ functions whose qualified name ends as this one does: those of the file, or else of all."""
        return self._functions.named(qualified, seen_from)

    def classes(self, qualified: tuple[str, ...], seen_from: File) -> list[tuple[File, Body]]:
        """C++ classes whose qualified name ends as this one does: those of the file, or else of all."""
        return self._classes.named(qualified, seen_from)


class Definitions:
    """Bodies by their names, and the files that define them."""

    def __init__(self) -> None:
        self._all: dict[str, list[tuple[File, Body]]] = defaultdict(list)
        self._in_file: dict[tuple[int, str], list[tuple[File, Body]]] = defaultdict(list)

    def add(self, file: File, body: Body) -> None:
        self._all[body.name].append((file, body))
        self._in_file[file.number, body.name].append((file, body))

    def named(self, qualified: tuple[str, ...], seen_from: File) -> list[tuple[File, Body]]:
        name, length = qualified[-1], len(qualified)
        for among in (self._in_file.get((seen_from.number, name), ()), self._all.get(name, ())):
            found = [(file, body) for file, body in among if body.qualified[-length:] == qualified]
            if found:
                return found
        return []


def _module_tails(path: str) -> Iterator[str]:
    parts = path.replace(os.sep, "/").removesuffix(".py").removesuffix(".pyi").split("/")
    if parts[-1] == "__init__":
        parts.pop()
    for start in range(len(parts)):
        tail = parts[start:]
        if all(part.isidentifier() for part in tail):
            yield ".".join(tail)
