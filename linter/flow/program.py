"""The files of a project as the machine reads them: bodies by name, and what imported names stand for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType

from ..analysis.python_modules import PythonModules
from ..facts import Facts
from ..facts.bodies import Body, BodyKind, Import
from ..facts.expressions import NamePath, TypeName
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

    @cached_property
    def guard_aliases(self) -> dict[str, str]:
        """What the file calls guards that have other names."""
        return {use.alias: use.guard for use in self.facts.guard_uses if use.alias}

    @cached_property
    def is_test(self) -> bool:
        """Whether these are tests of unittest or pytest."""
        statements = self.module.statements if self.module is not None else ()
        return any(isinstance(one, Import) and one.dotted.split(".")[0] in ("pytest", "unittest") for one in statements)

    def row(self, offset: int) -> int:
        return self.facts.row(offset)


MOST_ALIASES = 4
"""Aliases of aliases that are followed."""


class ProjectCode:
    """All files that have bodies."""

    def __init__(self, files: Iterable[Facts], instead: Mapping[str, Effect] = MappingProxyType({})) -> None:
        self.files = [File(facts, number, instead) for number, facts in enumerate(files) if facts.bodies]
        self._by_path = {file.path: file for file in self.files if file.language == "python"}
        self._modules = PythonModules(self._by_path)
        self._functions = Definitions()
        self._classes = Definitions()
        self._types: dict[str, dict[str, NamePath]] = defaultdict(dict)
        """For each alias of a C++ type: what it is short for, by the file that says so."""
        for file in self.files:
            for alias in file.facts.aliases:
                target = alias.target.name if isinstance(alias.target, TypeName) else alias.target
                if alias.kind == "type" and isinstance(target, NamePath) and not getattr(alias.target, "marks", ""):
                    self._types[alias.name][file.path] = target
            for body in file.bodies if file.language != "python" else ():
                if body.kind is BodyKind.CLASS:
                    self._classes.add(file, body)
                elif body.kind is BodyKind.FUNCTION:
                    self._functions.add(file, body)

    def module(self, dotted: str, seen_from: File) -> File | None:
        """The file that a dotted name imports; None if it isn't one of the project's or isn't known."""
        path = self._modules.find(dotted, seen_from.path)
        return self._by_path[path] if path is not None else None

    def type_meant(self, path: NamePath, seen_from: File) -> NamePath:
        """The type that a C++ name is short for, if it is an alias of the file, or of one file alone."""
        for _ in range(MOST_ALIASES):
            meant = self._types.get(path.name, {}) if not path.template_arguments else {}
            target = meant.get(seen_from.path) or (next(iter(meant.values())) if len(meant) == 1 else None)
            if target is None or target.path == path.path:
                break
            path = target
        return path

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
