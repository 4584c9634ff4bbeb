"""What other threads run: functions that are started by name, such as `std::thread(&Server::run, this)`, and OpenMP's
blocks; and who calls the functions that start them.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ..facts import Call, Facts, Function, Span
from ..facts.bodies import Block, Body
from ..facts.expressions import (
    Bracketed,
    Expression,
    MemberAccess,
    NamePath,
    TypeName,
    last_name,
    nodes_of,
    simple_name,
)
from ..facts.index import index_of
from ..facts.statement_walk import all_statements
from ..named_tuples import NamedTuple
from .declared_types import declared_type
from .thread_starters import THREADS, function_named, runs_in_thread, started_by, starter_name

_PUTS = frozenset({"emplace_back", "push_back", "emplace"})


class StartedFunction(Struct, frozen=True):
    """A function of this file that a thread runs."""

    function: Function
    index: int
    """In `Facts.functions`."""
    span: Span
    """Where the thread is started."""
    starter: int | None
    """The function that starts it."""
    by: str


class CodePlace(NamedTuple):
    """A stretch of a function's code."""

    span: Span
    function: int | None


def started_functions(facts: Facts) -> Iterator[StartedFunction]:
    """Every place where a function with a body in this file is started as a thread, by its name."""
    for call in facts.calls:
        given = started_by(call.called, call.arguments)
        if given is not None or _puts_among_threads(call.called, call.function, call.span, facts):
            target = given if given is not None else (call.arguments[0] if call.arguments else None)
            yield from _functions(target, call.span, call.function, _by(call.called), facts)
    for made in facts.assignments:
        # `std::thread worker(&Server::run, this);`
        is_thread = made.type is not None and made.type.last in THREADS
        if made.declares and is_thread and isinstance(made.value, Bracketed) and made.value.items:
            yield from _functions(made.value.items[0], made.span, made.function, "std::thread", facts)
    for place, target in threads_initialised(facts):
        yield from _functions(target, place.span, place.function, "std::thread", facts)


def threads_initialised(facts: Facts) -> Iterator[tuple[CodePlace, Expression]]:
    """`: worker_(&Server::run, this)` of a constructor: where a thread that is a member is given what it runs."""
    for body in facts.bodies:
        for given in body.initialisers:
            value, name = given.value, last_name(given.targets[0])
            if isinstance(value, Bracketed) and value.items:
                type_ = declared_type(name, body.function, given.span.start, facts)
                if type_ is not None and type_.last in THREADS:
                    yield CodePlace(given.span, body.function), value.items[0]


def _puts_among_threads(called: Expression, function: int | None, span: Span, facts: Facts) -> bool:
    """`workers_.emplace_back(&Server::run, this)`, where `workers_` is declared as a container of threads."""
    if not isinstance(called, MemberAccess) or called.name not in _PUTS:
        return False
    type_ = declared_type(last_name(called.object), function, span.start, facts)
    name = type_.name if type_ is not None else None
    inner = name.template_arguments if isinstance(name, NamePath) else None
    return inner is not None and any(last_name(argument) in THREADS for argument in inner[:1])


def _by(called: Expression) -> str:
    return starter_name(called) if runs_in_thread(called) else "std::thread"


def _functions(
    target: Expression | None, span: Span, starter: int | None, by: str, facts: Facts
) -> Iterator[StartedFunction]:
    """The functions of this file that a name, or a pointer to a member, can mean; none where several could."""
    target = function_named(target) if target is not None else None
    if not isinstance(target, NamePath):
        return
    path = target.path
    if len(path) == 1 and declared_type(path[0], starter, span.start, facts) is not None:
        return  # a variable of that name
    found = [
        function
        for function in index_of(facts).functions_named.get(path[-1], ())
        if not function.is_lambda and function.qualified[-len(path) :] == path
    ]
    if len(found) == 1:
        yield StartedFunction(found[0], index_of(facts).function_numbers[id(found[0])], span, starter, by)


def parallel_regions(facts: Facts) -> Iterator[CodePlace]:
    """The blocks below `#pragma omp parallel`, in functions that were read."""
    waiting: list[Body] = list(facts.bodies) if facts.parallel_blocks else []
    while waiting:
        body = waiting.pop()
        waiting += body.inner
        for statement in all_statements(body.statements):
            if isinstance(statement, Block) and statement.is_parallel:
                spans = [inner.span for inner in all_statements(statement.block)]
                if spans:
                    whole = Span(min(span.start for span in spans), max(span.end for span in spans))
                    yield CodePlace(whole, body.function)


_CALLERS = 2
"""How many callers above a function that starts a thread are followed."""


def places_of_calls(function: int, facts: Facts, depth: int = _CALLERS) -> Iterator[CodePlace]:
    """Where the file calls a function, or makes an object by this constructor; then where it calls these callers."""
    called = facts.functions[function]
    if called.is_lambda or not called.name or depth == 0:
        return
    if len([one for one in index_of(facts).functions_named.get(called.name, ()) if not one.is_lambda]) != 1:
        return
    owner = called.qualified[-2] if len(called.qualified) > 1 else ""
    places = list(_calls_of(called, owner, facts))
    yield from places
    for place in places:
        if place.function is not None and place.function != function:
            yield from places_of_calls(place.function, facts, depth - 1)


def _calls_of(called: Function, owner: str, facts: Facts) -> Iterator[CodePlace]:
    makes = called.name == owner
    for call in facts.calls:
        if call.name == called.name:
            if _means(call, called, owner, facts):
                yield CodePlace(call.span, call.function)
        elif makes and call.name in ("make_unique", "make_shared") and isinstance(call.called, NamePath):
            made_of = call.called.template_arguments or ()
            if any(last_name(type_) == owner for type_ in made_of):
                yield CodePlace(call.span, call.function)
    for made in facts.assignments if makes else ():
        if made.builds and made.type is not None and made.type.last == owner:
            yield CodePlace(made.span, made.function)


def _means(call: Call, called: Function, owner: str, facts: Facts) -> bool:
    """Whether a call of a function's name is one of the function."""
    if call.receiver is not None:
        return bool(owner) and _is_of_class(call.receiver, owner, call.function, call.span, facts)
    if len(call.path) > 1:
        return call.path == called.qualified[-len(call.path) :]
    if called.name == owner:
        return True
    is_method = called.class_ is not None or len(called.declared_as) > 1
    inside = call.function is not None and owner in facts.functions[call.function].qualified[:-1]
    return inside or not is_method


def _is_of_class(receiver: Expression, owner: str, function: int | None, span: Span, facts: Facts) -> bool:
    """Whether an object, or what a pointer points to, is declared as one of that class."""
    name = simple_name(receiver) or last_name(receiver)
    if name == "this":
        return function is not None and owner in facts.functions[function].qualified[:-1]
    type_ = declared_type(name, function, span.start, facts)
    if type_ is not None and type_.last == "auto":
        given = index_of(facts).assignments.within(facts.functions[function].body) if function is not None else ()
        values = [one.value for one in given if one.declares and one.variable == name]
        return any(last_name(node) == owner for value in values for node in nodes_of(value))
    return any(last_name(node) == owner for node in nodes_of(type_) if isinstance(node, (NamePath, TypeName)))
