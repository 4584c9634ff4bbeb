"""Which functions and classes of a file guards and their tensors can reach: those are read for their statements.

They are the functions in which a guard stands, what these call or name, what calls them, and so on within the file; of
a class all its methods go together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Set
from typing import TYPE_CHECKING

from ... import guards
from ...facts import Form, GuardUse
from ...facts.expressions import last_name
from ...guards import Effect
from ...lazy_regex import lazy_regex
from ...named_tuples import NamedTuple
from .tree_reading import Reading

if TYPE_CHECKING:
    from tree_sitter import Node

_WORD = lazy_regex(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_LONGEST_MEMBER = 2000
_NAMED_ONLY = frozenset({Form.ALIAS, Form.USING, Form.IMPORT})


class Reach(NamedTuple):
    functions: Set[int]
    """Lambdas among them only by the functions around them."""
    classes: Set[int]
    words: Set[bytes]
    """What the reached code mentions, of the names that were asked about."""


def reached(reading: Reading, uses: Iterable[GuardUse], named: Set[str], also: Set[bytes]) -> Reach:
    """What the uses, and the functions that are `named`, reach; `also` are other names that count as mentioned."""
    search = _Search(reading, also)
    for use in uses:
        search.begin_at(use)
    for name in named:
        search.reach_functions(name)
    search.run()
    return Reach(search.functions, search.classes, search.words)


class _Search:
    def __init__(self, reading: Reading, also: Set[bytes]) -> None:
        self._reading = reading
        self.functions: set[int] = set()
        self.classes: set[int] = set()
        self.words: set[bytes] = set()
        self._waiting: list[int] = []
        self._outermost: list[int] = []
        self._by_name: dict[str, list[int]] = defaultdict(list)
        self._by_owner: dict[str, list[int]] = defaultdict(list)
        self._owners: dict[int, str] = {}
        self._called_in: dict[str, set[int]] | None = None
        self._reached_owners: set[str] = set()
        for index, function in enumerate(reading.functions):
            outermost = index if function.parent is None else self._outermost[function.parent]
            self._outermost.append(outermost)
            if function.is_lambda:
                continue
            self._by_name[function.name].append(outermost)
            owner = ""
            if function.class_ is not None:
                owner = reading.classes[function.class_].name
            elif len(function.declared_as) > 1:
                owner = function.declared_as[-2]
            if owner:
                self._by_owner[owner].append(outermost)
                self._owners[index] = owner
        self._classes: dict[str, list[int]] = defaultdict(list)
        for index, class_ in enumerate(reading.classes):
            if class_.name and reading.class_nodes[index].type != "enum_specifier":
                self._classes[class_.name].append(index)
        self._known = {name.encode() for name in (*self._by_name, *self._by_owner, *self._classes)} | also

    def begin_at(self, use: GuardUse) -> None:
        row = guards.CPP.get(use.guard)
        if use.form in _NAMED_ONLY or (row is not None and row.effect is Effect.NEIGHBOUR):
            return
        if use.function is not None and use.function < len(self._outermost) and use.macro is None:
            self._reach(self._outermost[use.function])
        if use.class_ is not None:
            self._reach_class(self._reading.classes[use.class_].name)

    def reach_functions(self, name: str) -> None:
        for index in self._by_name.get(name, ()):
            self._reach(index)

    def run(self) -> None:
        while self._waiting:
            index = self._waiting.pop()
            function = self._reading.functions[index]
            self._mention(function.span.start, function.span.end)
            for caller in self._callers_of(function.name):
                self._reach(caller)
            if index in self._owners:
                self._reach_class(self._owners[index])

    def _callers_of(self, name: str) -> Set[int]:
        if self._called_in is None:
            self._called_in = defaultdict(set)
            for call in self._reading.calls:
                name = last_name(call.expression.callee)
                if call.function is not None and name in self._by_name:
                    self._called_in[name].add(self._outermost[call.function])
        return self._called_in.get(name, frozenset())

    def _reach(self, index: int) -> None:
        if index not in self.functions:
            self.functions.add(index)
            self._waiting.append(index)

    def _reach_class(self, name: str) -> None:
        if name in self._reached_owners:
            return
        self._reached_owners.add(name)
        for index in self._by_owner.get(name, ()):
            self._reach(index)
        for index in self._classes.get(name, ()):
            self.classes.add(index)
            self._mention_members(self._reading.class_nodes[index])

    def _mention_members(self, node: Node) -> None:
        """Reach what a class derives from, and what its data members are."""
        body = node.child_by_field_name("body")
        if body is None:
            return
        shift = self._reading.shift
        self._mention(node.start_byte + shift, body.start_byte + shift)
        for child in body.named_children:
            if child.type == "field_declaration":
                # Bounded, as unnamed classes may stand in each other.
                self._mention(child.start_byte + shift, min(child.end_byte, child.start_byte + _LONGEST_MEMBER) + shift)

    def _mention(self, start: int, end: int) -> None:
        """Reach what a stretch of the text names."""
        shift = self._reading.shift
        for word in self._known.intersection(_WORD.findall(self._reading.code, start - shift, end - shift)):
            if word in self.words:
                continue
            self.words.add(word)
            name = word.decode("utf-8", "replace")
            self.reach_functions(name)
            self._reach_class(name)
