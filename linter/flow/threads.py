"""Work that is handed to other threads: modes are thread-local, and a thread begins in the ordinary one.

What takes the mode along isn't among the starters: `torch.jit.fork` and `nn.DataParallel` do, and so does a process
that is forked. Methods of libraries that begin a guard of their own (`model.generate`) aren't models' calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeGuard

from ..facts import Span
from ..facts.expressions import CallExpression, Expression, last_name
from ..facts.index import index_of
from ..lazy_regex import lazy_regex
from ..named_tuples import NamedTuple
from . import classes, closures, reach
from .events import EventKind
from .guards_entered import why_unrecorded
from .paths import Interpreter, Keywords, Place, Results
from .state import State
from .values import (
    NONE,
    ClassValue,
    Closure,
    Const,
    Instance,
    Items,
    Modes,
    Name,
    Opaque,
    Partial,
    Recorded,
    Step,
    Table,
    Value,
)


class _Takes(NamedTuple):
    """Where a starter has what it runs, and the arguments of that: by position and by name."""

    function: int
    name: str
    arguments: int
    """From there on; packed in a list and a dict where `arguments_name` says so."""
    arguments_name: str = ""
    keywords_name: str = ""


_THREAD = _Takes(1, "target", 3, "args", "kwargs")
_TIMER = _Takes(1, "function", 2, "args", "kwargs")
_THREADS: Mapping[str, _Takes] = {
    "threading.Thread": _THREAD,
    "multiprocessing.dummy.Process": _THREAD,
    "threading.Timer": _TIMER,
}
"""What is made of a function, and runs it when it is started."""
_POOLS = frozenset(
    {
        "concurrent.futures.ThreadPoolExecutor",
        "concurrent.futures.thread.ThreadPoolExecutor",
        "multiprocessing.pool.ThreadPool",
        "multiprocessing.dummy.Pool",
    }
)
_RUNNERS: Mapping[str, _Takes] = {
    "asyncio.to_thread": _Takes(0, "func", 1),
    "anyio.to_thread.run_sync": _Takes(0, "func", 1),
    "trio.to_thread.run_sync": _Takes(0, "sync_fn", 1),
    "starlette.concurrency.run_in_threadpool": _Takes(0, "func", 1),
    "fastapi.concurrency.run_in_threadpool": _Takes(0, "func", 1),
    "_thread.start_new_thread": _Takes(0, "function", 1, "args", "kwargs"),
}
"""Functions that run in another thread what they are given."""
_SUBMITS: Mapping[str, _Takes] = {
    "submit": _Takes(0, "fn", 1),
    "apply": _Takes(0, "func", 1, "args", "kwds"),
    "apply_async": _Takes(0, "func", 1, "args", "kwds"),
}
_MAPS = frozenset({"map", "map_async", "imap", "imap_unordered"})
_STARMAPS = frozenset({"starmap", "starmap_async"})
_OTHER_PROCESS = lazy_regex(r"(?i)proc|mp_|ray|dask")


def call_starter(
    machine: Interpreter,
    name: Name,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
) -> Results | None:
    """Make a thread or a pool, or run something in another thread; None for other names."""
    dotted = name.dotted
    if dotted in _THREADS:
        called, given, named = _work(_THREADS[dotted], arguments, keywords, state)
        attributes: dict[str, Value] = {"<runs>": Partial(called, given, named)}
        if state.modes.records is False:
            attributes["<made at>"] = Const((place.file.path, place.span))
        return [(state, state.add(Instance("thread", dotted, None, attributes)))]
    if dotted in _POOLS:
        positions = ("", "", "initializer", "initargs") if "futures" in dotted else ("", "initializer", "initargs")
        by_name = {**dict(zip(positions, arguments, strict=False)), **dict(keywords)}
        initializer = by_name.get("initializer", NONE)
        given = _listed(by_name.get("initargs", NONE), state)
        begins = {"<begins>": Partial(initializer, given, ())} if initializer != NONE else {}
        return [(state, state.add(Instance("pool", dotted, None, begins)))]
    if dotted in _RUNNERS:
        called, given, named = _work(_RUNNERS[dotted], arguments, keywords, state)
        return _handed_over(machine, called, given, named, state, place, dotted)
    return None


def makes_pool(expression: Expression | None) -> TypeGuard[CallExpression]:
    """Whether it is written as what makes a pool."""
    return isinstance(expression, CallExpression) and any(
        pool.endswith(f".{last_name(expression.callee)}") for pool in _POOLS
    )


def call_thread_method(
    machine: Interpreter,
    thing: Instance,
    name: str,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    receiver: Value,
    state: State,
    place: Place,
) -> Results | None:
    """A method of a thread or a pool; None for one of anything else."""
    if thing.kind == "thread" and name == "start":
        work, made = thing.attributes["<runs>"], thing.attributes.get("<made at>")
        assert isinstance(work, Partial)
        at = made.value if isinstance(made, Const) else None
        return _handed_over(
            machine,
            work.callee,
            work.arguments,
            work.keywords,
            state,
            place,
            thing.name,
            at=at,  # type: ignore[arg-type]
        )
    if thing.kind == "object" and name == "start" and thing.cls is not None and not arguments:
        run = classes.find_method(machine, thing.cls, "run", state)
        if run is None or not _is_thread_class(machine, thing.cls, state):
            return None
        bound = closures.changed(run, receiver=receiver)
        return _handed_over(machine, bound, (), (), state, place, f"{thing.name}.start")
    if thing.kind == "pool":
        submitted = _submit(machine, thing, name, arguments, keywords, state, place)
        return submitted if submitted is not None else [(state, state.opaque(name))]
    return [(state, state.opaque(name))] if thing.kind == "thread" else None


def call_loop_method(
    machine: Interpreter, name: str, arguments: tuple[Value, ...], keywords: Keywords, state: State, place: Place
) -> Results | None:
    """`loop.run_in_executor(executor, function, …)`, whatever gave the loop; None for other methods."""
    if name != "run_in_executor" or len(arguments) < 2:
        return None
    executor, called, *given = arguments
    thing = state.thing(executor)
    if isinstance(thing, Opaque) and _OTHER_PROCESS.search(f"{thing.name} {thing.origin}"):
        return None
    pool = thing if isinstance(thing, Instance) and thing.kind == "pool" else None
    return _handed_over(machine, called, tuple(given), keywords, state, place, name, pool)


def _submit(
    machine: Interpreter,
    pool: Instance,
    name: str,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
) -> Results | None:
    by = f"{pool.name.rpartition('.')[2]}.{name}"
    if name in _SUBMITS:
        called, given, named = _work(_SUBMITS[name], arguments, keywords, state)
        return _handed_over(machine, called, given, named, state, place, by, pool)
    if name in _MAPS and len(arguments) > 1:
        # `multiprocessing`'s pools take one iterable, and then the size of a piece.
        iterables = arguments[1:] if "futures" in pool.name else arguments[1:2]
        given = tuple(machine.element_of(iterable, state, None, "") for iterable in iterables)
        return _handed_over(machine, arguments[0], given, (), state, place, by, pool)
    if name in _STARMAPS and len(arguments) > 1:
        given = _listed(machine.element_of(arguments[1], state, None, ""), state)
        return _handed_over(machine, arguments[0], given, (), state, place, by, pool)
    return None


def _work(
    takes: _Takes, arguments: tuple[Value, ...], keywords: Keywords, state: State
) -> tuple[Value, tuple[Value, ...], Keywords]:
    """What a starter runs, and with which arguments."""
    by_name = dict(keywords)
    called = arguments[takes.function] if len(arguments) > takes.function else by_name.pop(takes.name, NONE)
    if not takes.arguments_name:
        return called, arguments[takes.arguments :], tuple(by_name.items())
    packed = arguments[takes.arguments :]
    given = packed[0] if packed else by_name.get(takes.arguments_name, NONE)
    named = packed[1] if len(packed) > 1 else by_name.get(takes.keywords_name, NONE)
    table = state.thing(named)
    pairs = table.pairs if isinstance(table, Table) else ()
    return (
        called,
        _listed(given, state),
        tuple((str(key.value), value) for key, value in pairs if isinstance(key, Const)),
    )


def _listed(values: Value, state: State) -> tuple[Value, ...]:
    thing = state.thing(values)
    return thing.values if isinstance(thing, Items) else ()


def _is_thread_class(machine: Interpreter, cls: ClassValue, state: State) -> bool:
    return any(isinstance(one, Name) and one.dotted in _THREADS for one in classes.ancestry(machine, cls, state))


class Handover(NamedTuple):
    """What is given to another thread, and by what."""

    called: Value
    arguments: tuple[Value, ...]
    keywords: Keywords
    by: str
    shown: str
    """How messages call what is run."""
    in_work: bool = False
    """It is reported where the work is done, not where it is handed over."""


def _handed_over(
    machine: Interpreter,
    called: Value,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
    by: str,
    pool: Instance | None = None,
    *,
    at: tuple[str, Span] | None = None,
) -> Results:
    work = Handover(called, arguments, keywords, by, _named(called, state))
    return hand_over(machine, work, state, place, pool, at=at)


def hand_over(
    machine: Interpreter,
    work: Handover,
    state: State,
    place: Place,
    pool: Instance | None = None,
    *,
    at: tuple[str, Span] | None = None,
) -> Results:
    """Something is run in another thread: what it does to the program's values isn't known afterwards."""
    begins = pool.attributes.get("<begins>") if pool is not None else None

    def run(begun: State) -> None:
        starts = [begun]
        if begins is not None:
            starts = [one for one, _ in machine.call_value(begins, (), (), begun, place, "")]
            if machine.recorded is not None:
                machine.recorded.clear()
        for one in starts:
            machine.call_value(work.called, work.arguments, work.keywords, one, place, work.shown)

    tell_lost(machine, work, state, place, run, at=at)
    values = (*work.arguments, *(value for _, value in work.keywords))
    return [(reach.unknown_call(state, values), state.opaque(origin=work.by))]


def tell_lost(
    machine: Interpreter,
    work: Handover,
    state: State,
    place: Place,
    run: Callable[[State], object],
    *,
    at: tuple[str, Span] | None = None,
) -> None:
    """Tell of a guard that is on here, where another thread runs something that autograd then records."""
    off = why_unrecorded(state) if state.modes.records is False else None
    if off is None or off.is_engine or machine.recorded is not None or _sets_guards(work.called):
        return
    recorded = _recorded(machine, state, run)
    if recorded is None:
        return
    step = recorded.step
    if work.in_work:
        first = recorded.calls[len(place.calls) + bool(work.called != NONE) :][:1]
        told = first[0][1] if first else step
        at = told.path, told.span
    shown = f"`{work.shown}`" if work.shown else ""
    machine.report(
        EventKind.THREAD,
        state,
        place,
        variable=work.shown,
        what=f"`{work.by}` runs {shown or 'this'} in another thread",
        steps=(
            Step(off.path, off.span, f"`{off.name}` begins, for this thread alone"),
            *place.story,
            place.step(f"`{work.by}` hands {shown or 'work'} to another thread"),
            step,
        ),
        guard=off,
        at=at,
    )


def _sets_guards(called: Value) -> bool:
    """Whether a function sets guards itself: who wrote it knows where in the thread they are wanted."""
    if isinstance(called, Partial):
        return _sets_guards(called.callee)
    if not isinstance(called, Closure):
        return False
    return any(index_of(called.program.facts).uses.within(called.body.span))


def _recorded(machine: Interpreter, state: State, run: Callable[[State], object]) -> Recorded | None:
    """The first thing that autograd records if a new thread runs something; nothing else of that run is kept."""
    begun = state.fork()
    begun.modes, begun.opened, begun.scoped = Modes(), (), ()
    events, machine.events = machine.events, {}
    found: list[Recorded] = []
    machine.recorded = found
    try:
        run(begun)
    finally:
        machine.events, machine.recorded = events, None
    return next((one for one in found if one.doubts <= state.doubts), None)


def _named(called: Value, state: State) -> str:
    """How messages call what is run."""
    if isinstance(called, Closure):
        return called.body.name
    if isinstance(called, Partial):
        return _named(called.callee, state)
    thing = state.thing(called)
    return thing.name if isinstance(thing, (Opaque, Instance)) else ""
