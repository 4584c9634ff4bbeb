"""What other threads run: functions that are started by name, such as `std::thread(&Server::run, this)`."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts import Facts, Span
from ..facts.expressions import (
    Bracketed,
    Expression,
    MemberAccess,
    NamePath,
    last_name,
    nodes_of,
)
from ..facts.index import index_of
from ..named_tuples import NamedTuple
from .declared_types import declared_type
from .thread_starters import POOL, POOL_METHODS, THREADS, function_named, runs_in_thread, started_by, starter_name

PUTS = frozenset({"emplace_back", "push_back", "emplace"})
"""Methods that put what they are given into a container."""


class StartedFunction(NamedTuple):
    """A function of this file that a thread runs."""

    function: int
    """In `Facts.functions`."""
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


def hands_to_thread(
    called: Expression, arguments: tuple[Expression, ...], function: int | None, span: Span, facts: Facts
) -> bool:
    """Whether a call runs in another thread what it is given, by its name or by the type of its object."""
    if runs_in_thread(called, arguments) or _puts_among_threads(called, function, span, facts):
        return True
    if not isinstance(called, MemberAccess) or called.name not in POOL_METHODS:
        return False
    type_ = declared_type(last_name(called.object), function, span.start, facts)  # `folly::Executor* later`
    return any(POOL.search(last_name(node)) for node in nodes_of(type_) if isinstance(node, NamePath))


def _puts_among_threads(called: Expression, function: int | None, span: Span, facts: Facts) -> bool:
    """`workers_.emplace_back(&Server::run, this)`, where `workers_` is declared as a container of threads."""
    if not isinstance(called, MemberAccess) or called.name not in PUTS:
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
        yield StartedFunction(index_of(facts).function_numbers[id(found[0])], by)
