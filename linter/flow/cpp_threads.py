"""Work that C++ hands to other threads, and what in such work may be a guard that isn't known.

`analysis.thread_starters` says what starts a thread; `at::launch` and what else takes the mode along isn't there.
"""

from __future__ import annotations

from typing import TypeGuard

from ..analysis.thread_starters import THREADS, is_deferred, is_thread, started_by, starter_name
from ..analysis.thread_targets import PUTS, hands_to_thread
from ..facts import Span
from ..facts.bodies import Assign, Block
from ..facts.expressions import Bracketed, CallExpression, Expression, last_name, simple_name, steps_of, words_of
from ..facts.index import index_of
from ..facts.statement_walk import all_statements, expressions_of, words_in
from ..lazy_regex import lazy_regex
from . import classes, closures, reach
from .guards_entered import forget_modes
from .paths import Interpreter, Place, Results
from .state import State
from .threads import Handover, hand_over, tell_lost
from .values import NONE, Closure, Instance, Partial, Thing, Value


def call_cpp_starter(
    machine: Interpreter,
    expression: CallExpression,
    called_on: Value,
    values: tuple[Value, ...],
    state: State,
    place: Place,
) -> Results | None:
    """A call that runs in another thread what it is given; None for other calls."""
    callee, arguments = expression.callee, expression.arguments
    if machine.recorded is not None and may_set_modes(callee):
        forget_modes(state)
    if not hands_to_thread(callee, arguments, place.body.function, place.span, place.file.facts):
        return None
    if _sets_guards(state.thing(called_on)):
        return None
    if is_deferred(callee, arguments):
        return [(state, state.opaque(origin=last_name(callee)))]
    by = starter_name(callee) if last_name(callee) not in PUTS else "std::thread"
    given = started_by(callee, arguments)
    if given is not None:
        index = next(index for index, argument in enumerate(arguments) if argument is given)
        return start_thread(machine, values[index:], state, place, by)
    for index, value in enumerate(values):
        if _is_callable(value):
            return start_thread(machine, values[index:], state, place, by)
    return None


def _sets_guards(thing: Thing | None) -> bool:
    """Whether an object is of a class of the program that sets guards: its threads may begin with one."""
    cls = thing.cls if isinstance(thing, Instance) else None
    if cls is None:
        return False
    methods = [body.span for body in cls.program.bodies if body.qualified[-2:-1] == (cls.body.name,)]
    uses = index_of(cls.program.facts).uses
    return any(map(any, map(uses.within, (cls.body.span, *methods))))


def start_thread(machine: Interpreter, values: tuple[Value, ...], state: State, place: Place, by: str) -> Results:
    """`std::thread(work, argument, …)`, in its own words `by`."""
    if not values or not _is_callable(values[0]):
        return [(reach.unknown_call(state, values), state.opaque(origin=by))]
    called: Value = values[0]
    arguments = values[1:]
    while isinstance(called, Partial):
        arguments = (*called.arguments, *arguments)
        called = called.callee
    if isinstance(called, Closure):
        called, arguments = _bound(machine, called, arguments, state, place)
    name = called.body.name if isinstance(called, Closure) else ""
    return hand_over(machine, Handover(called, arguments, (), by, name, in_work=True), state, place)


def _is_callable(value: Value) -> TypeGuard[Closure | Partial]:
    return isinstance(value, (Closure, Partial))


def _bound(
    machine: Interpreter, called: Closure, arguments: tuple[Value, ...], state: State, place: Place
) -> tuple[Closure, tuple[Value, ...]]:
    """A function with its arguments: `&Server::run` is given the object first."""
    body = called.body
    if len(body.qualified) > 1 and called.receiver is None and not body.is_static and body.name:
        cls = classes.class_named(machine, body.qualified[:-1], place)
        if cls is not None:
            receiver = arguments[0] if arguments else classes.instance_of(machine, cls, state, complete=False)
            return closures.changed(called, receiver=receiver, owner=cls), arguments[1:]
    return called, arguments


def run_parallel(machine: Interpreter, block: Block, state: State, place: Place) -> None:
    """Tell what the other threads of OpenMP record, which run a block without the guards around it."""
    spans = [inner.span for inner in all_statements(block.block)]
    if spans:
        whole = place.at(Span(min(span.start for span in spans), max(span.end for span in spans)))
        work = Handover(NONE, (), (), "#pragma omp parallel", "", in_work=True)
        tell_lost(machine, work, state, whole, lambda begun: machine.run(block.block, begun, place))


# -- what may be a guard, in the work of a thread

_MODE = lazy_regex(r"(?i:grad(?!i)|guard|mode(?!l)|scope|quiet)")
_MODE_MACRO = lazy_regex(r"GRAD|GUARD|INFERENCE|EVAL|MODE")
_SETTERS = lazy_regex(r"set_grad_enabled|setThreadLocalState")
_NO_MODE = lazy_regex(r"(?i)lock|lk$|^lk|^l$|mutex|timer|stopwatch|profil|trace|stream|device")
"""Objects that are held for their destructors and set no mode."""


def may_set_modes(callee: Expression) -> bool:
    """Whether what is called may be a macro that declares a guard, or sets the thread's mode: `EVALUATING();`."""
    name = last_name(callee)
    return (name.isupper() and _MODE_MACRO.search(name) is not None) or _SETTERS.fullmatch(name) is not None


def may_be_guard(machine: Interpreter, statement: Assign, place: Place) -> bool:
    """Whether a variable may be a guard that isn't known: one of an unknown type that is never read, or named so."""
    name = simple_name(statement.targets[0])
    path = classes.type_path(statement.type)
    if not name or path is None:
        return False
    if path.name == "auto":
        first, *steps = steps_of(statement.value) if statement.value is not None else (None,)
        return bool(steps) and isinstance(steps[0], CallExpression) and _MODE.search(last_name(first)) is not None
    if statement.value is not None and not isinstance(statement.value, Bracketed):
        return False
    if classes.class_named(machine, path.path, place) is not None:
        return False
    if _NO_MODE.search(name) or _NO_MODE.search(path.name):
        return False
    return _MODE.search(path.name) is not None or _times_named(name, place) < 2


def _times_named(name: str, place: Place) -> int:
    """How often a function names a variable, its declaration included."""
    own = (words_of(one) for statement in all_statements(place.body.statements) for one in expressions_of(statement))
    return sum(name in words for words in (*own, *map(words_in, place.body.inner)))


def declares_thread(written: Expression | None, place: Place) -> bool:
    """Whether a type is a thread's, or another name of it."""
    path = classes.type_path(written)
    if path is None:
        return False
    aliases = place.file.facts.aliases
    return is_thread(path) or any(one.name == path.name and one.path[-1:] in _THREAD_NAMES for one in aliases)


_THREAD_NAMES = tuple((name,) for name in THREADS)
