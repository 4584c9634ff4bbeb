"""Guards that one Python module of a project takes from another: `from .compat import no_grad`."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec.structs import replace

from .. import guards
from ..facts import Facts, GuardUse
from ..facts.expressions import last_name
from ..facts.python_model import PythonFacts, PythonUse
from ..guards import canonical_name

_DEPTH = 6


def new_names(files: Iterable[Facts]) -> dict[str, str]:
    """Names under which modules export guards that other files would not be looked at for: name -> guard."""
    found: dict[str, str] = {}
    for facts in files:
        if facts.python is None:
            continue
        for name, meaning in facts.python.exports:
            guard = guards.python_guard(canonical_name(meaning))
            if guard is not None and name not in guards.PYTHON:
                found[name] = guard
    return found


def modules_asked(files: Sequence[Facts]) -> frozenset[str]:
    """The modules, by the last parts of their names, that say what a name means and are not among the files."""
    modules = _Modules({facts.path: facts for facts in files})
    return frozenset(
        tail
        for facts in files
        if facts.python is not None
        for use in facts.python.uses
        for tail in modules.missing(use.use.guard, facts, _DEPTH)
    )


def is_module(path: str, tails: Collection[str]) -> bool:
    """Whether a file is a module whose name ends with one of these parts."""
    parts = _module_parts(path)
    return bool(parts) and parts[-1] in tails


def resolve_reexports(files: dict[str, Facts]) -> dict[str, Facts]:
    """The files, every guard use of Python with its name in the guard table, or with none.

    A name that comes from a module of the project is what that module says it is. One that comes from
    elsewhere is not a guard.
    """
    if not any(_is_open(facts) for facts in files.values()):
        return files
    modules = _Modules(files)
    return {path: modules.resolved(facts) if _is_open(facts) else facts for path, facts in files.items()}


def _is_open(facts: Facts) -> bool:
    return facts.python is not None and any("." in use.use.guard for use in facts.python.uses)


class _Modules:
    """Finds a project's modules by the dotted names that its files use."""

    def __init__(self, files: dict[str, Facts]) -> None:
        self._by_tail: dict[str, list[tuple[list[str], Facts]]] = defaultdict(list)
        for path, facts in files.items():
            if facts.python is not None:
                parts = _module_parts(path)
                if parts:
                    self._by_tail[parts[-1]].append((parts, facts))

    def resolved(self, facts: Facts) -> Facts:
        python = facts.python
        assert python is not None
        uses = tuple(self._use(use, facts) for use in python.uses)
        shared = tuple(use.use for use in uses if use.use.guard)
        return replace(facts, guard_uses=shared, python=_with_uses(python, uses))

    def _use(self, use: PythonUse, facts: Facts) -> PythonUse:
        if "." not in use.use.guard:
            return use
        guard = self._guard(use.use.guard, facts, _DEPTH) or ""
        mode = True if guard in guards.ENTERED and use.called else use.mode
        return replace(use, use=_renamed(use.use, guard), mode=mode)

    def _guard(self, name: str, facts: Facts, depth: int) -> str | None:
        known = guards.python_guard(canonical_name(name))
        if known is not None:
            return known
        module, _, last = name.rpartition(".")
        if depth == 0 or not last:
            return None
        for target in self._find(module, name.startswith("."), facts):
            assert target.python is not None
            exports = dict(target.python.exports)
            if last in exports:
                return self._guard(exports[last], target, depth - 1)
            for star in target.python.stars:
                found = self._guard(star + last if star.endswith(".") else f"{star}.{last}", target, depth - 1)
                if found is not None:
                    return found
        return None

    def missing(self, name: str, facts: Facts, depth: int) -> Iterator[str]:
        """The last parts of the modules that would have to say what a name means."""
        module, _, last = name.rpartition(".")
        if depth == 0 or not last or not module or guards.python_guard(canonical_name(name)) is not None:
            return
        found = self._find(module, name.startswith("."), facts)
        if not found:
            wanted = self._wanted(module, name.startswith("."), facts)
            yield from wanted[-1:]
        for target in found:
            assert target.python is not None
            exports = dict(target.python.exports)
            if last in exports:
                yield from self.missing(exports[last], target, depth - 1)
            else:
                for star in target.python.stars:
                    inner = star + last if star.endswith(".") else f"{star}.{last}"
                    yield from self.missing(inner, target, depth - 1)

    def _wanted(self, module: str, relative: bool, facts: Facts) -> list[str]:
        """The parts of a module's name; of a relative one, those of its path."""
        if relative:
            dots = len(module) - len(module.lstrip("."))
            folder = os.path.abspath(facts.path)
            # `from .compat import no_grad` is written `.compat.no_grad`, `from . import no_grad` is `.no_grad`.
            for _ in range(max(1, dots)):
                folder = os.path.dirname(folder)
            return [*_parts(folder), *[part for part in module.lstrip(".").split(".") if part]]
        return module.split(".")

    def _find(self, module: str, relative: bool, facts: Facts) -> list[Facts]:
        wanted, exact = self._wanted(module, relative, facts), relative
        if not wanted:
            return []
        found = []
        for parts, target in self._by_tail.get(wanted[-1], ()):
            if (exact and parts == wanted) or (not exact and parts[-len(wanted) :] == wanted):
                found.append(target)
        return found if len(found) == 1 or exact else []


def _module_parts(path: str) -> list[str]:
    parts = _parts(os.path.splitext(os.path.abspath(path))[0])
    return parts[:-1] if parts[-1] == "__init__" else parts


def _parts(path: str) -> list[str]:
    return [part for part in path.split(os.sep) if part]


def _renamed(use: GuardUse, guard: str) -> GuardUse:
    alias = last_name(use.named)
    return replace(use, guard=guard, alias=alias if guard and alias != guard else None)


def _with_uses(python: PythonFacts, uses: tuple[PythonUse, ...]) -> PythonFacts:
    return replace(python, uses=uses)
