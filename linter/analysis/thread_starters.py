"""C++ functions and classes that run in another thread what they are given.

What passes the mode on isn't among them: `at::launch`, `at::wrapPropagateTLSState`, TorchScript's fork, autograd's
own threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from msgspec.structs import replace

from ..facts import Facts, Function, GuardUse, Span
from ..facts.expressions import (
    CallExpression,
    CastExpression,
    Expression,
    LiteralExpression,
    LiteralKind,
    MemberAccess,
    NamePath,
    Operation,
    TypeName,
    last_name,
    nodes_of,
    words_of,
)
from ..lazy_regex import lazy_regex

THREADS = ("thread", "jthread")
POOL = lazy_regex(r"(?i)pool|executor|workers?|threads?")
"""How programs call what runs work in threads."""
POOL_METHODS = frozenset(
    """submit submit_task enqueue post execute run schedule push push_task detach_task add addTask emplace_back
    push_back emplace start""".split()
)
_DISPATCH = ("dispatch_async", "dispatch_group_async", "dispatch_barrier_async")
PARALLEL = frozenset(f"parallel_{name}" for name in ("for", "for_each", "reduce", "do", "invoke"))
_PARALLEL_SPACES = (("at",), ("tbb",), ("oneapi", "tbb"), ("concurrency",), ("Concurrency",))
_CONTINUATIONS = frozenset({"then", "thenValue", "thenTry", "addCallback", "defer", "deferValue"})
"""What queues a lambda for an executor that may run it in any of its threads."""
_IN_SPACES: Mapping[str, frozenset[str]] = {
    "QtConcurrent": frozenset(
        """run map mapped mappedReduced filter filtered filteredReduced blockingMap blockingMapped blockingMappedReduced
        blockingFilter blockingFiltered blockingFilteredReduced""".split()
    ),
    "QThread": frozenset({"create"}),
    "concurrency": frozenset({"create_task"}),
    "pplx": frozenset({"create_task"}),
}
_TO_POOLS = frozenset({"post", "defer", "dispatch"})
"""`asio::post(pool, …)`; given a loop's context, it may run in the thread that asks for it."""
_BY_POSITION: Mapping[str, int] = {
    "pthread_create": 2,
    "thrd_create": 1,
    "CreateThread": 2,
    "_beginthread": 0,
    "_beginthreadex": 2,
    "g_thread_new": 1,
    "SDL_CreateThread": 0,
    "Pa_OpenStream": 6,
    "Pa_OpenDefaultStream": 6,
}
"""C's functions that start a thread, or have one call back, by where they are given what it runs."""
_ROUTES = frozenset({"Get", "Post", "Put", "Patch", "Delete", "Options", "registerHandler"})
"""Methods of web servers that keep a handler for the threads in which they answer."""
_ROUTE_MACROS = frozenset({"CROW_ROUTE", "CROW_BP_ROUTE"})


_SURE = frozenset(
    {*THREADS, "async", *_DISPATCH, *PARALLEL, *_CONTINUATIONS, *_BY_POSITION, *_ROUTES, *_ROUTE_MACROS, *_IN_SPACES}
    | {"intraop_launch", "parallel_for_", "execution", "asio"}
)


def may_start_threads(words: Set[str]) -> bool:
    """Whether code that mentions these words can hand work to another thread."""
    if not _SURE.isdisjoint(words):
        return True
    return not POOL_METHODS.isdisjoint(words) and any(map(POOL.search, words))


def runs_in_thread(callee: Expression, arguments: tuple[Expression, ...] | None = None) -> bool:
    """Whether what is called, or built, runs its argument in another thread.

    `arguments` are the call's, where they are known: some functions do so if the first one says it.
    """
    if isinstance(callee, NamePath):
        return (
            callee.name in (*THREADS, "async")
            or _makes_thread(callee) is not None
            or (callee.name in (*_DISPATCH, *_BY_POSITION) and len(callee.path) == 1)
            or (callee.name in PARALLEL and callee.path[:-1] in _PARALLEL_SPACES)
            or callee.path == ("at", "intraop_launch")
            or callee.path == ("cv", "parallel_for_")
            or (len(callee.path) > 1 and callee.name in _IN_SPACES.get(callee.path[-2], ()))
            or _is_told_to(callee, arguments or ())
        )
    if isinstance(callee, CallExpression):
        return any(last_name(node) in _ROUTE_MACROS for node in nodes_of(callee))
    if isinstance(callee, MemberAccess) and callee.name in _CONTINUATIONS:
        return True
    if isinstance(callee, MemberAccess) and callee.name in _ROUTES:
        first = arguments[0] if arguments else None
        return isinstance(first, LiteralExpression) and first.kind is LiteralKind.STRING
    if not isinstance(callee, MemberAccess) or callee.name not in POOL_METHODS:
        return False
    owner = callee.object
    if isinstance(owner, CallExpression) and not owner.arguments:
        owner = owner.callee
    return POOL.search(last_name(owner)) is not None or (isinstance(owner, NamePath) and "QThreadPool" in owner.path)


def _is_told_to(callee: NamePath, arguments: tuple[Expression, ...]) -> bool:
    """`std::for_each(std::execution::par, …)`, `boost::asio::post(pool, …)`."""
    if not arguments:
        return False
    if callee.path[0] == "std":
        first = arguments[0]
        return isinstance(first, NamePath) and "execution" in first.path and first.name in ("par", "par_unseq")
    return "asio" in callee.path[:-1] and callee.name in _TO_POOLS and POOL.search(last_name(arguments[0])) is not None


def is_deferred(callee: Expression, arguments: tuple[Expression, ...]) -> bool:
    """`std::async(std::launch::deferred, …)` runs in the thread that asks for the result."""
    return last_name(callee) == "async" and bool(arguments) and "deferred" in words_of(arguments[0])


def started_by(callee: Expression, arguments: tuple[Expression, ...]) -> Expression | None:
    """What a function that starts a thread is given to run: an argument, by its position."""
    if not isinstance(callee, NamePath) or not arguments:
        return None
    if callee.name in THREADS:
        return arguments[0]
    if callee.name == "async" and callee.path[:1] == ("std",):
        policy = words_of(arguments[0])
        if "deferred" in policy:
            return None
        return arguments[1] if "launch" in policy and len(arguments) > 1 else arguments[0]
    if _makes_thread(callee) is not None:
        return arguments[0]
    if len(callee.path) == 1 and callee.name in _BY_POSITION:
        position = _BY_POSITION[callee.name]
        return arguments[position] if position < len(arguments) else None
    if len(callee.path) > 1 and callee.name == "run" and callee.path[-2] == "QtConcurrent":
        return arguments[1] if len(arguments) > 1 and POOL.search(last_name(arguments[0])) else arguments[0]
    if len(callee.path) > 1 and callee.name in _IN_SPACES.get(callee.path[-2], ()):
        return arguments[-1]
    return arguments[-1] if _is_told_to(callee, arguments) else None


def function_named(value: Expression) -> Expression:
    """`work` of `&work`, `std::bind(work, x)`, `(void* (*)(void*))work`."""
    if isinstance(value, Operation) and value.is_address:
        return function_named(value.operands[0])
    if isinstance(value, CastExpression):
        return function_named(value.value)
    if isinstance(value, CallExpression) and last_name(value.callee) in ("bind", "ref", "mem_fn") and value.arguments:
        return function_named(value.arguments[0])
    return value


def _makes_thread(callee: NamePath) -> Expression | None:
    """The thread's type in `std::make_unique<std::thread>`."""
    types = callee.template_arguments if callee.name in ("make_unique", "make_shared") else None
    return types[0] if types and last_name(types[0]) in THREADS else None


def starter_name(callee: Expression) -> str:
    """What starts the thread, as a message says it: `std::thread` of `std::make_unique<std::thread>`."""
    made = _makes_thread(callee) if isinstance(callee, NamePath) else None
    if made is not None:
        return str(made)
    if isinstance(callee, (NamePath, MemberAccess)):
        return str(replace(callee, template_arguments=None))
    return str(callee)


def is_thread(type_: Expression | None) -> bool:
    """Whether a type is that of a thread."""
    return isinstance(type_, (NamePath, TypeName)) and last_name(type_) in THREADS


# -- guards are set again in code that other threads run, because threads do not inherit them


def is_in_parallel_region(use: GuardUse, facts: Facts) -> bool:
    """Whether the guard is in a lambda given to `at::parallel_for` and the like, or in an OpenMP block."""
    return parallel_lambda(facts.enclosing(use.function)) is not None or any(
        region.holds(use.span) for region in facts.parallel_blocks
    )


def parallel_lambda(chain: tuple[Function, ...]) -> Function | None:
    """The innermost lambda around a place that other threads run."""
    return next((f for f in chain if f.is_lambda and last_name(f.passed_to) in PARALLEL), None)


def are_in_one_region(use: GuardUse, other: GuardUse, facts: Facts) -> bool:
    """Whether both guards were set again for the same threads."""
    found = parallel_lambda(facts.enclosing(use.function))
    regions: list[Span] = [found.span] if found is not None else []
    regions += [region for region in facts.parallel_blocks if region.holds(use.span)]
    return any(region.holds(other.span) for region in regions)
