"""Which functions of a file the tensors of guards can reach: by the names that they mention, before any is read.

These are the functions that hold a guard, all that call them, and what any of these call: a tensor that is made under a
guard comes to the callers, and from them to whatever they call. A mention counts as a call, and a name stands for all
that the file defines by it. In a long file that is nearly everything, so that only the nearest are taken.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from ...facts import Span
from .name_resolution import is_definition, statements
from .parsed_module import Module
from .python_look import name_places

_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_WORD = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") | frozenset(range(0x80, 0x100))
_TO_WORDS = bytes(byte if byte in _WORD else ord(" ") for byte in range(0x100))
_CONSTRUCTOR = "__init__"
_FEW = 16
"""So many names are found one by one faster than all at once."""
MOST_TEXT = 6_000
"""Bytes of functions that hold no guard themselves. When so many have been taken, those further away aren't."""


class _Unit:
    """A function with all in it, or what the module or a class says outside of functions."""

    __slots__ = ("class_", "names", "node", "parts", "span")

    def __init__(self, node: _FunctionNode | None, span: Span, names: tuple[str, ...], class_: int | None) -> None:
        self.node = node
        self.span = span
        """Decorators included."""
        self.parts: Sequence[Span] = (span,)
        """Where its own words are."""
        self.names = names
        """Those by which it is called."""
        self.class_ = class_


class PythonReach:
    """The functions of a module that are reached from guards, which are at these offsets, or by these names."""

    def __init__(self, module: Module, guards: Iterable[int], names: Collection[str] = ()) -> None:
        self._module = module
        whole = _Unit(None, Span(0, len(module.source.text)), (), None)
        self._units = [whole]
        self._classes: list[list[_Unit]] = []
        """The units of each that are reached together."""
        self._constructors: list[list[_Unit]] = []
        self._of_node: dict[ast.stmt, Sequence[_Unit]] = {}
        whole.parts = self._collect(module.tree.body, whole.span, None, ())
        self._defined: dict[bytes, list[_Unit]] = defaultdict(list)
        for unit in self._units:
            for name in unit.names:
                self._defined[name.encode()].append(unit)
        # Functions, and between them what is outside of them.
        self._parts = sorted((part, number) for number, unit in enumerate(self._units) for part in unit.parts)
        self._starts = [part.start for part, _ in self._parts]
        self._sought: set[str] = set()
        """Names whose callers were looked for."""
        self._reached: set[_Unit] = set()
        self._grow(self._roots(guards, names))

    def __bool__(self) -> bool:
        """Whether anything is reached."""
        return bool(self._reached)

    def __call__(self, node: ast.stmt) -> bool:
        """Whether the code of a function or class is reached; that of what a function defines is with the function."""
        units = self._of_node.get(node)
        return units is None or any(unit in self._reached for unit in units)

    def functions(self) -> Iterator[_FunctionNode]:
        """The functions outside of others that are reached, as they are in the file."""
        for unit in self._units:
            if unit.node is not None and unit in self._reached:
                yield unit.node

    # -- what there is

    def _collect(self, body: Sequence[ast.stmt], span: Span, class_: int | None, names: tuple[str, ...]) -> list[Span]:
        """Adds the functions and classes in the block of the module or of a class; the places of what isn't part of
        these. `names` are those of the classes around."""
        apart: list[Span] = []
        for node in statements(body):
            if is_definition(node):
                apart.append(Span(self._module.start_of(node), self._module.span(node).end))
            elif isinstance(node, (ast.Import, ast.ImportFrom)) or _is_export(node):
                apart.append(self._module.span(node))
                continue
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._add_function(node, apart[-1], class_, names)
            elif isinstance(node, ast.ClassDef):
                self._add_class(node, apart[-1], class_, names)
        return list(_between(span, apart))

    def _add_function(self, node: _FunctionNode, span: Span, class_: int | None, names: tuple[str, ...]) -> None:
        # Special methods are called by no name; no one calls a test, and tests share no object.
        is_special = class_ is not None and node.name.startswith("__")
        is_test = class_ is not None and node.name.startswith("test")
        called = ((node.name,) if not is_special else ()) + (names if not is_test else ())
        unit = _Unit(node, span, called, class_)
        name = self._name_in(node)
        unit.parts = (Span(span.start, name.start), Span(name.end, span.end))
        self._units.append(unit)
        self._of_node[node] = (unit,)
        if class_ is not None and not is_test:
            self._classes[class_].append(unit)
            if node.name == _CONSTRUCTOR:
                self._constructors[class_].append(unit)

    def _add_class(self, node: ast.ClassDef, span: Span, outer: int | None, names: tuple[str, ...]) -> None:
        class_ = len(self._classes) if outer is None else outer
        if outer is None:
            self._classes.append([])
            self._constructors.append([])
        unit = _Unit(None, span, (*names, node.name), class_)
        first = len(self._units)
        self._units.append(unit)
        self._classes[class_].append(unit)
        name = self._name_in(node)
        inside = self._collect(node.body, Span(name.end, span.end), class_, (*names, node.name))
        unit.parts = (Span(span.start, name.start), *inside)
        self._of_node[node] = self._units[first:]

    def _name_in(self, node: _FunctionNode | ast.ClassDef) -> Span:
        """The name in a definition: no mention of it."""
        text, word = self._module.source.text, b"class" if isinstance(node, ast.ClassDef) else b"def"
        after = text.find(word, self._module.span(node).start) + len(word)
        start = text.find(node.name.encode(), after)
        return Span(start, start + len(node.name.encode())) if start >= 0 else Span(after, after)

    # -- what is reached

    def _at(self, offset: int) -> _Unit | None:
        """The unit to which a word at the offset belongs."""
        index = bisect_right(self._starts, offset) - 1
        part, number = self._parts[index]
        return self._units[number] if part.start <= offset < part.end else None

    def _roots(self, guards: Iterable[int], names: Collection[str]) -> dict[_Unit, None]:
        held = (self._at(offset) for offset in guards)
        defined = (unit for name in names for unit in self._defined.get(name.encode(), ()))
        mentioned = map(self._at, sorted(name_places(self._module.source.text, names))) if names else ()
        return dict.fromkeys(unit for unit in (*held, *defined, *mentioned) if unit is not None)

    def _grow(self, roots: dict[_Unit, None]) -> None:
        """Adds the units from the nearest on: the roots, then their callers and what they call, and so on."""
        self._reached.update(roots)
        left = MOST_TEXT
        calling = set(roots)  # callers are looked for of them alone
        near = roots
        together = {unit.class_ for unit in roots if unit.class_ is not None}
        while near:
            callers = {unit: None for unit in self._callers(near.keys() & calling) if unit not in calling}
            calling |= callers.keys()
            others = [*self._called(near), *(unit for class_ in sorted(together) for unit in self._classes[class_])]
            together.clear()
            near = callers | {unit: None for unit in others if unit not in self._reached}
            for unit in near:
                if unit not in self._reached:
                    if left <= 0:
                        return
                    self._reached.add(unit)
                    left -= unit.span.end - unit.span.start if unit.node is not None else 0

    def _callers(self, units: Collection[_Unit]) -> Iterator[_Unit]:
        """Those that mention a name of one of these for which no one has looked yet."""
        names = {name for unit in units for name in unit.names} - self._sought
        self._sought |= names
        if len(names) <= _FEW:
            places = sorted(name_places(self._module.source.text, names))
            yield from filter(None, map(self._at, places))
            return
        wanted = {name.encode() for name in names}
        for part, number in self._parts:
            if not wanted.isdisjoint(self._words(part)):
                yield self._units[number]

    def _called(self, units: Iterable[_Unit]) -> Iterator[_Unit]:
        """What these mention, and what makes the objects whose methods they are."""
        for unit in units:
            if unit.class_ is not None:
                yield from self._constructors[unit.class_]
            for part in unit.parts:
                for word in self._words(part):
                    if word in self._defined:
                        yield from self._defined.pop(word)

    def _words(self, part: Span) -> list[bytes]:
        return self._module.source.text[part.start : part.end].translate(_TO_WORDS).split()


def _between(span: Span, apart: Sequence[Span]) -> Iterator[Span]:
    """What lies between the parts of a span."""
    start = span.start
    for part in sorted(apart):
        yield Span(start, part.start)
        start = part.end
    yield Span(start, span.end)


def _is_export(node: ast.stmt) -> bool:
    """`__all__ = […]`, which mentions everything and calls nothing."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)
