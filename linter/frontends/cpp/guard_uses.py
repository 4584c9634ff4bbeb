"""Where guards, and names that stand for guards, are used: in the tree, and inside `#define` bodies."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Set
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ... import guards
from ...facts import Argument, Call, Form, Function, GuardUse, Span
from ...facts.expressions import last_name, words_of
from ...facts.spans import Nested, Sorted
from ...files.sources import Source
from .byte_words import any_of
from .cpp_parsing import error_count, parse_cpp
from .guard_arguments import constructor_argument
from .guard_forms import classify, names_in
from .tree_reading import Reading

if TYPE_CHECKING:
    from tree_sitter import Node


def known_names() -> set[str]:
    """The names of the guard table, with those that belong to them."""
    return {name for guard in guards.CPP.values() for name in (guard.name, *guard.companions)}


def wrappers(reading: Reading) -> set[str]:
    """Names in this file that stand for guards: aliases, types made of guards, macros with a guard in them."""
    made_of: dict[str, set[str]] = defaultdict(set)
    """Name -> what is made of it."""
    waiting = [guards.LEGACY]
    for alias in reading.aliases:
        if alias.kind == "type":
            target = last_name(alias.target)
            made_of[target].add(alias.name)
            if target in guards.CPP or target == guards.LEGACY_API:
                waiting.append(alias.name)
    for class_ in reading.classes:
        for word in map(last_name, class_.bases):
            made_of[word].add(class_.name)
        for member in class_.members:
            for word in words_of(member.type):
                made_of[word].add(class_.name)
    for macro in reading.macros:
        for word in names_in(reading.slice(macro.body)):
            made_of[word].add(macro.name)
    names: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += made_of.get(name, ())
    return names - {"", guards.LEGACY}


def guard_uses(reading: Reading, root: Node, names: Set[str]) -> Iterator[GuardUse]:
    """Every place where a guard, or another of the names, is in this tree."""
    resolve = _resolver(reading)
    initialized, emplaced = _Given(reading, reading.initializers), _Given(reading, reading.emplacements)
    bodies = Nested((macro.span for macro in reading.macros), lambda body: body)
    own = {reading.macro} - known_names()
    for start, name in any_of(names, reading.code):
        if name in own:
            continue  # a macro's own name in its body isn't expanded
        end = start + len(name.encode())
        span = Span(start + reading.shift, end + reading.shift)
        if next(bodies.around(span), None) is not None:
            continue
        node = root.descendant_for_byte_range(start, end)
        if node is None:
            continue
        use = classify(reading, node, name, resolve)
        if use is not None:
            built = (*use.built, *_built_elsewhere(reading, use, initialized, emplaced))
            yield replace(use, macro=reading.macro, function=reading.function_at(use.type_span.start), built=built)


class _Given:
    """Arguments that are apart from what they build: by the name that is given them, and where they are."""

    def __init__(self, reading: Reading, places: dict[str, list[Node]]) -> None:
        self._by_place = {name: Sorted(nodes, reading.span) for name, nodes in places.items()}
        self._by_class: dict[tuple[str, int | str | None], list[Node]] = defaultdict(list)
        """By the class in whose methods they are, wherever these are defined: its index, and its name."""
        for name, nodes in places.items():
            for node in nodes:
                around = reading.function_at(node.start_byte + reading.shift)
                if around is not None:
                    function = reading.functions[around]
                    self._by_class[name, function.class_].append(node)
                    for owner in function.declared_as[-2:-1]:
                        self._by_class[name, owner].append(node)

    def to(self, name: str, scope: Span, class_: tuple[int, str] | None) -> list[Node]:
        """What the name is given in a scope, or in the methods of a class: its index and its name."""
        if name not in self._by_place:
            return []
        found = list(self._by_place[name].within(scope))
        for owner in class_ or ():
            found += self._by_class.get((name, owner), ())
        return sorted({node.id: node for node in found}.values(), key=lambda node: node.start_byte)


def _built_elsewhere(reading: Reading, use: GuardUse, initialized: _Given, emplaced: _Given) -> Iterator[Argument]:
    """What constructors' initialisers and calls of `emplace` give a member or an optional."""
    places: tuple[_Given, ...]
    if use.form is Form.MEMBER:
        name, places = use.variable or "", (initialized,)
    elif use.form in (Form.OPTIONAL, Form.HEAP) and use.holder is not None and use.holder.declared:
        name, places = use.holder.name, (initialized, emplaced)
    else:
        return
    index, around = reading.class_at(use.type_span), reading.function_at(use.type_span.start)
    if index is not None and around is not None and reading.classes[index].span.holds(reading.functions[around].span):
        index = None  # a variable of a method
    class_ = (index, reading.classes[index].name) if index is not None else None
    for given in places:
        for node in given.to(name, use.scope, class_):
            argument = constructor_argument(reading, node)
            if argument is not None:
                yield argument


def _resolver(reading: Reading) -> dict[str, str]:
    """Type alias -> the name in the guard table that it stands for."""
    table = {alias.name: last_name(alias.target) for alias in reading.aliases if alias.kind == "type"}
    resolved: dict[str, str] = {}
    for name in table:
        target, passed = name, {name: None}
        while target not in resolved and target in table and table[target] not in passed:
            target = table[target]
            passed[target] = None
        resolved |= dict.fromkeys(passed.keys() & table.keys(), resolved.get(target, target))
    return resolved


def macro_bodies(
    source: Source, file: Reading, grammar: str, names: Set[str]
) -> tuple[list[GuardUse], list[Function], list[Call]]:
    """Guards inside `#define` bodies: each body is parsed on its own, as statements or as declarations."""
    uses: list[GuardUse] = []
    functions: list[Function] = []
    calls: list[Call] = []
    for macro in file.macros:
        body = file.code[macro.body.start : macro.body.end]
        if not any_of(names, body):
            continue
        readable = _readable_macro_body(body)
        head = b"void f(){"
        statements = parse_cpp(head + readable + b";}", grammar)
        declarations = parse_cpp(readable, grammar)
        as_statements = error_count(statements.root_node) <= error_count(declarations.root_node)
        tree, shift = (statements, macro.body.start - len(head)) if as_statements else (declarations, macro.body.start)
        code = (head + readable + b";}") if as_statements else readable
        reading = Reading(source.text, code, code, shift, macro.name)
        reading.collect(tree.root_node, grammar)
        found = list(guard_uses(reading, tree.root_node, names))
        offset = len(file.functions) + len(functions)
        # The wrapper `f` around statements is not a function of the file.
        dropped = 1 if as_statements else 0

        def renumber(index: int | None, dropped: int = dropped, offset: int = offset) -> int | None:
            return None if index is None or index < dropped else index - dropped + offset

        for use in found:
            scope = Span(max(use.scope.start, macro.body.start), min(use.scope.end, macro.body.end))
            uses.append(replace(use, function=renumber(use.function), scope=scope, class_=None))
        functions += [f._replace(parent=renumber(f.parent), class_=None) for f in reading.functions[dropped:]]
        calls += [call._replace(function=renumber(call.function)) for call in reading.calls]
    return uses, functions, calls


def _readable_macro_body(body: bytes) -> bytes:
    """Line continuations, `#` and `##` overwritten, so that the body reads as ordinary code."""
    body = re.sub(rb"\\(\r?\n)", lambda m: b" " + m[1], body)
    body = re.sub(rb"\s*##\s*", lambda m: b"_" * len(m[0]), body)
    return re.sub(rb"(?<![\w#])#(?=\s*[A-Za-z_])", b" ", body)
