"""Guards that one Python module of a project takes from another: `from .compat import no_grad`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec.structs import replace

from .. import guards
from ..facts import Facts, GuardUse
from ..facts.expressions import last_name
from ..facts.python_model import PythonFacts, PythonUse
from ..guards import canonical_name
from .python_modules import PythonModules, module_parts, parts_wanted

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
    parts = module_parts(path)
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
        self._files = {path: facts for path, facts in files.items() if facts.python is not None}
        self._modules = PythonModules(self._files)

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
        mode = True if guard == guards.ENTERED_MODE and use.called else use.mode
        return replace(use, use=_renamed(use.use, guard), mode=mode)

    def _guard(self, name: str, facts: Facts, depth: int) -> str | None:
        known = guards.python_guard(canonical_name(name))
        if known is not None:
            return known
        module, _, last = name.rpartition(".")
        if depth == 0 or not last:
            return None
        target = self._find(module, name, facts)
        if target is not None and target.python is not None:
            exports = dict(target.python.exports)
            if last in exports:
                return self._guard(exports[last], target, depth - 1)
            for star in target.python.stars:
                found = self._guard(star + last if star.endswith(".") else f"{star}.{last}", target, depth - 1)
                if found is not None:
                    return found
        return None

    def _find(self, module: str, name: str, facts: Facts) -> Facts | None:
        path = self._modules.find(_from(module, name), facts.path)
        return self._files[path] if path is not None else None

    def missing(self, name: str, facts: Facts, depth: int) -> Iterator[str]:
        """The last parts of the modules that would have to say what a name means."""
        module, _, last = name.rpartition(".")
        if depth == 0 or not last or not module or guards.python_guard(canonical_name(name)) is not None:
            return
        target = self._find(module, name, facts)
        if target is None:
            yield from parts_wanted(_from(module, name), facts.path)[-1:]
        elif target.python is not None:
            exports = dict(target.python.exports)
            if last in exports:
                yield from self.missing(exports[last], target, depth - 1)
            else:
                for star in target.python.stars:
                    inner = star + last if star.endswith(".") else f"{star}.{last}"
                    yield from self.missing(inner, target, depth - 1)


def _from(module: str, name: str) -> str:
    """`from . import no_grad` is written `.no_grad`, which has no module's name."""
    return module or ("." if name.startswith(".") else "")


def _renamed(use: GuardUse, guard: str) -> GuardUse:
    alias = last_name(use.named)
    return replace(use, guard=guard, alias=alias if guard and alias != guard else None)


def _with_uses(python: PythonFacts, uses: tuple[PythonUse, ...]) -> PythonFacts:
    return replace(python, uses=uses)
