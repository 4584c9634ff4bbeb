"""Which functions of a file the tensors of guards can reach: by the names that they mention, before any is read.

These are the functions that hold a guard, all that call them, and what any of these call: a tensor that is made under a
guard comes to the callers, and from them to whatever they call. A mention counts as a call, and a name stands for all
that the file defines by it.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from ...facts import Span
from ...facts.spans import Nested
from .name_resolution import is_definition, statements
from .parsed_module import Module

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_WORD = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") | frozenset(range(0x80, 0x100))
_TO_WORDS = bytes(byte if byte in _WORD else ord(" ") for byte in range(0x100))
_CONSTRUCTOR = "__init__"


class _Unit:
    """A function with all in it, or what the module or a class says outside of functions."""

    __slots__ = ("class_", "names", "node", "parts", "span")

    def __init__(self, node: FunctionNode | None, span: Span, names: tuple[str, ...], class_: _Class | None) -> None:
        self.node = node
        self.span = span
        """Decorators included."""
        self.parts: Sequence[Span] = (span,)
        """Where its own words stand."""
        self.names = tuple(name.encode() for name in names)
        """Those by which it is called."""
        self.class_ = class_


class _Class:
    def __init__(self) -> None:
        self.units: list[_Unit] = []
        """Those that are reached together."""
        self.constructors: list[_Unit] = []


class Reach:
    """The functions of a module that are reached from guards, which stand at these offsets, or by these names."""

    def __init__(self, module: Module, guards: Iterable[int], names: Collection[str] = ()) -> None:
        self._module = module
        self._words = module.source.text.translate(_TO_WORDS)
        self._units: list[_Unit] = []
        self._of_node: dict[ast.stmt, Sequence[_Unit]] = {}
        whole = _Unit(None, Span(0, len(module.source.text)), (), None)
        self._units.append(whole)
        whole.parts = self._collect(module.tree.body, whole.span, None, ())
        self._defined: dict[bytes, list[_Unit]] = defaultdict(list)
        for unit in self._units:
            for name in unit.names:
                self._defined[name].append(unit)
        roots = [*self._holding(guards), *(unit for name in names for unit in self._defined.get(name.encode(), ()))]
        self._reached = self._closed(roots) if roots else set[_Unit]()

    def __bool__(self) -> bool:
        """Whether anything is reached."""
        return bool(self._reached)

    def __call__(self, node: ast.stmt) -> bool:
        """Whether the code of a function or class is reached; that of what a function defines is with the function."""
        units = self._of_node.get(node)
        return units is None or any(unit in self._reached for unit in units)

    def functions(self) -> Iterator[FunctionNode]:
        """The functions outside of others that are reached, as they stand in the file."""
        for unit in self._units:
            if unit.node is not None and unit in self._reached:
                yield unit.node

    # -- what there is

    def _collect(
        self, body: Sequence[ast.stmt], span: Span, class_: _Class | None, names: tuple[str, ...]
    ) -> list[Span]:
        """Adds the functions and classes in the block of the module or of a class; the places of what is no part of
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

    def _add_function(self, node: FunctionNode, span: Span, class_: _Class | None, names: tuple[str, ...]) -> None:
        # Special methods are called by no name; nobody calls a test, and tests share no object.
        is_special = class_ is not None and node.name.startswith("__")
        is_test = class_ is not None and node.name.startswith("test")
        called = ((node.name,) if not is_special else ()) + (names if not is_test else ())
        unit = _Unit(node, span, called, class_)
        self._units.append(unit)
        self._of_node[node] = (unit,)
        if class_ is not None and not is_test:
            class_.units.append(unit)
            if node.name == _CONSTRUCTOR:
                class_.constructors.append(unit)

    def _add_class(self, node: ast.ClassDef, span: Span, outer: _Class | None, names: tuple[str, ...]) -> None:
        class_ = outer or _Class()
        unit = _Unit(None, span, (*names, node.name), class_)
        first = len(self._units)
        self._units.append(unit)
        class_.units.append(unit)
        unit.parts = self._collect(node.body, span, class_, (*names, node.name))
        self._of_node[node] = self._units[first:]

    # -- what is reached

    def _holding(self, offsets: Iterable[int]) -> Iterator[_Unit]:
        around = Nested(self._units, lambda unit: unit.span)
        for offset in offsets:
            unit = next(around.around(Span(offset, offset)))
            yield unit
            if unit.class_ is not None:
                yield from unit.class_.units

    def _closed(self, roots: Iterable[_Unit]) -> set[_Unit]:
        mentioned = {unit: self._mentioned(unit) for unit in self._units}
        mentioning: dict[bytes, list[_Unit]] = defaultdict(list)
        for unit, words in mentioned.items():
            for word in words:
                mentioning[word].append(unit)
        calling = _grown(roots, lambda unit: (caller for name in unit.names for caller in mentioning.pop(name, ())))
        unfollowed = dict(self._defined)

        def called(unit: _Unit) -> Iterator[_Unit]:
            for word in mentioned[unit]:
                yield from unfollowed.pop(word, ())
            if unit.class_ is not None:
                yield from unit.class_.constructors

        return _grown(calling, called)

    def _mentioned(self, unit: _Unit) -> set[bytes]:
        """The names of what the file defines that a unit mentions."""
        words: set[bytes] = set()
        for start, end in unit.parts:
            words.update(self._words[start:end].split())
        return words & self._defined.keys()


def _grown(found: Iterable[_Unit], more: Callable[[_Unit], Iterable[_Unit]]) -> set[_Unit]:
    """All that is found from some units, step by step."""
    known = set(found)
    waiting = list(known)
    while waiting:
        new = set(more(waiting.pop())) - known
        known |= new
        waiting += new
    return known


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
