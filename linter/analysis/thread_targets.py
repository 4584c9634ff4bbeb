"""Functions that are started as threads by name: `std::thread(&Server::run, this)`, `std::thread worker(work, 0)`."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ..facts import Facts, Function, Span
from ..facts.expressions import Bracketed, CallExpression, Expression, MemberAccess, NamePath, Operation, last_name
from ..facts.index import index_of
from .declared_types import declared_type

THREADS = ("thread", "jthread")
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


def started_functions(facts: Facts) -> Iterator[StartedFunction]:
    """Every place where a function with a body in this file is started as a thread, by its name."""
    for call in facts.calls:
        given = _given(call.called, call.arguments)
        if given is not None or _puts_among_threads(call.called, call.function, call.span, facts):
            target = given if given is not None else (call.arguments[0] if call.arguments else None)
            yield from _functions(target, call.span, call.function, _by(call.called), facts)
    for made in facts.assignments:
        # `std::thread worker(&Server::run, this);`
        is_thread = made.type is not None and made.type.last in THREADS
        if made.declares and is_thread and isinstance(made.value, Bracketed) and made.value.items:
            yield from _functions(made.value.items[0], made.span, made.function, "std::thread", facts)


def _given(called: Expression, arguments: tuple[Expression, ...]) -> Expression | None:
    """What `std::thread(…)`, `std::async(…)` or `std::make_unique<std::thread>(…)` is given to run."""
    if not isinstance(called, NamePath) or not arguments:
        return None
    if called.name in THREADS:
        return arguments[0]
    if called.name == "async" and called.path[:1] == ("std",):
        policy = str(arguments[0])
        if "deferred" in policy:
            return None
        return arguments[1] if "launch" in policy and len(arguments) > 1 else arguments[0]
    made = called.template_arguments if called.name in ("make_unique", "make_shared") else None
    return arguments[0] if made and last_name(made[0]) in THREADS else None


def _puts_among_threads(called: Expression, function: int | None, span: Span, facts: Facts) -> bool:
    """`workers_.emplace_back(&Server::run, this)`, where `workers_` is declared as a container of threads."""
    if not isinstance(called, MemberAccess) or called.name not in _PUTS:
        return False
    type_ = declared_type(last_name(called.object), function, span.start, facts)
    name = type_.name if type_ is not None else None
    inner = name.template_arguments if isinstance(name, NamePath) else None
    return inner is not None and any(last_name(argument) in THREADS for argument in inner[:1])


def _by(called: Expression) -> str:
    if isinstance(called, NamePath) and called.name in ("async", *THREADS):
        return str(called)
    return "std::thread"


def _functions(
    target: Expression | None, span: Span, starter: int | None, by: str, facts: Facts
) -> Iterator[StartedFunction]:
    """The functions of this file that a name, or a pointer to a member, can mean; none where several could."""
    if isinstance(target, Operation) and target.operator == "&" and len(target.operands) == 1:
        target = target.operands[0]
    if (
        isinstance(target, CallExpression)
        and last_name(target.callee) in ("bind", "ref", "mem_fn")
        and target.arguments
    ):
        yield from _functions(target.arguments[0], span, starter, by, facts)
        return
    if not isinstance(target, NamePath):
        return
    path = target.path
    found = [
        function
        for function in index_of(facts).functions_named.get(path[-1], ())
        if not function.is_lambda and function.qualified[-len(path) :] == path
    ]
    if len(found) == 1:
        yield StartedFunction(found[0], index_of(facts).function_numbers[id(found[0])], span, starter, by)
