"""Methods of lists, tuples, dicts and of what is like them in C++."""

from __future__ import annotations

from . import cpp_values
from .paths import Interpreter, Keywords, Place, Results
from .state import State
from .values import (
    NONE,
    Const,
    Items,
    Ref,
    Table,
    Value,
)


def call_container_method(
    machine: Interpreter,
    ref: Ref,
    thing: Items | Table,
    name: str,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
) -> Results:
    if isinstance(thing, Items):
        if name in ("key", "value") and len(thing.values) == 2:  # an item of C++'s `named_parameters()`
            return [(state, thing.values[name == "value"])]
        if name in ("append", "add", "push_back", "emplace_back", "appendleft") and arguments:
            ways = cpp_values.element_added(machine, thing, name, arguments, state, place)
            for after, value in ways:
                if len(thing.values) < 8:
                    after.heap[ref.number] = thing._replace(values=(*thing.values, value))
                else:
                    after.heap[ref.number] = thing._replace(rest=thing.rest or value)
            return [(after, NONE) for after, _ in ways]
        if name in ("pop", "popleft", "back", "front", "at") and (thing.values or thing.rest is not None):
            return [(state, machine.element_of(ref, state, None if thing.rest else len(thing.values) - 1, ""))]
        if name in ("extend", "update") and arguments:
            more = state.thing(arguments[0])
            if isinstance(more, Items):
                state.heap[ref.number] = Items(thing.kind, (*thing.values, *more.values)[:8], thing.rest or more.rest)
            elif thing.rest is None:
                of_these = machine.element_of(arguments[0], state, None, "")
                state.heap[ref.number] = thing._replace(rest=of_these)
            return [(state, NONE)]
        if name == "clear":
            state.heap[ref.number] = Items(thing.kind, ())
            return [(state, NONE)]
        return [(state, state.plain())]
    if name in ("get", "setdefault", "pop", "at") and arguments:
        known = looked_up(thing, arguments[0], state)
        if known is not None:
            return [(state, known)]
        if (
            thing.rest is None
            and all(isinstance(key, Const) for key, _ in thing.pairs)
            and isinstance(arguments[0], Const)
        ):
            fallback = arguments[1] if len(arguments) > 1 else NONE
            if name == "setdefault":
                state.heap[ref.number] = thing.with_pair(arguments[0], fallback, state.opaque())
            return [(state, fallback)]
        return [(state, state.opaque())]
    if name in ("values", "keys", "items"):
        made = []
        for key, value in thing.pairs:
            made.append(value if name == "values" else key if name == "keys" else state.add(Items("()", (key, value))))
        rest = thing.rest
        if rest is not None and name == "items":
            rest = state.add(Items("()", (state.plain(), rest)))
        return [(state, state.add(Items("[]", tuple(made), rest)))]
    if thing.gives_pairs and name in ("end", "cend", "count", "contains"):
        return [(state, state.plain())]
    if thing.gives_pairs and name == "find" and arguments:
        known = looked_up(thing, arguments[0], state)
        return [(state, state.add(Items("()", (arguments[0], known or state.opaque()))))]
    if thing.gives_pairs and name in ("emplace", "try_emplace", "insert", "insert_or_assign") and arguments:
        given = state.thing(arguments[0])
        pair = arguments if len(arguments) == 2 else given.values if isinstance(given, Items) else ()
        if len(pair) == 2:
            kept = tuple((key, value) for key, value in thing.pairs if key != pair[0])
            state.heap[ref.number] = thing._replace(pairs=(*kept, (pair[0], pair[1])))
            return [(state, state.add(Items("()", (state.add(Items("()", pair)), state.plain()))))]
        return [(state, state.opaque())]
    if name == "update":
        more_ = state.thing(arguments[0]) if arguments else None
        pairs = more_.pairs if isinstance(more_, Table) else ()
        added = (*pairs, *((Const(key), value) for key, value in keywords))
        keys = {key for key, _ in added}
        kept = (*((k, v) for k, v in thing.pairs if k not in keys), *added)
        state.heap[ref.number] = thing._replace(pairs=kept)
        return [(state, NONE)]
    return [(state, state.plain())]


def looked_up(table: Table, key: Value, state: State) -> Value | None:
    """What a table has for a key: for one that isn't known, what all have in common; None where that isn't known."""
    for known, value in table.pairs:
        if known == key:
            return value
    is_known = isinstance(key, Const)
    others = [value for known, value in table.pairs if not (is_known and isinstance(known, Const))]
    if table.rest is not None:
        others.append(table.rest)
    return others[0] if others and state.are_alike(tuple(others)) else None
