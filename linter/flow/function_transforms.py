"""What runs a function that it is given under modes of its own: `torch.func.grad`, reentrant checkpoints, guards."""

from __future__ import annotations

from collections.abc import Sequence

from . import making, module_parts
from .events import EventKind
from .guards_entered import set_modes
from .module_parts import MODULE_KINDS
from .paths import Interpreter, Keywords, Place, Results
from .state import State
from .values import (
    NONE,
    NOT_REQUIRED,
    REQUIRED,
    Const,
    Grad,
    GuardValue,
    Instance,
    Items,
    Name,
    Partial,
    Table,
    Tensor,
    Value,
)

_TRANSFORMS = frozenset(f"torch.func.{name}" for name in ("grad", "grad_and_value", "jacrev"))
_RUN = "<run>"
CHECKPOINT = "checkpoint"
"""What stands for the guard of a reentrant checkpoint in events."""


def transformed(
    machine: Interpreter, name: Name, arguments: tuple[Value, ...], keywords: Keywords, state: State, place: Place
) -> Results | None:
    """A call of what takes a function and runs it, now or when its result is called; None for anything else."""
    dotted, given = name.dotted, dict(keywords)
    if dotted in _TRANSFORMS and arguments:
        # Only the first argument is differentiated, unless `argnums` says otherwise.
        known = not keywords and len(arguments) == 1
        return [(state, Partial(Name((*name.path, _RUN)), arguments, ()) if known else state.opaque(origin=dotted))]
    if name.path[-1] == _RUN:
        return _differentiated(machine, name.path[-2], arguments[0], arguments[1:], keywords, state, place)
    if dotted == "torch.utils.checkpoint.checkpoint":
        function, reentrant = (arguments[0] if arguments else NONE), given.get("use_reentrant")
        if reentrant == Const(False):
            return machine.call_value(function, arguments[1:], (), state, place, "checkpoint")
        if reentrant == Const(True):
            return _reentrant(machine, function, arguments[1:], state, place)
        return [(state, state.opaque(origin=dotted))]
    return None


def functional_call(
    machine: Interpreter, arguments: tuple[Value, ...], keywords: Keywords, state: State, place: Place
) -> Results | None:
    """`functional_call(module, tensors, args, kwargs)`: a module that is known runs with other tensors for its own."""
    named = dict(keywords)
    model, tensors, given, more = (*arguments, *[NONE] * 4)[:4]
    tables = state.thing(tensors)
    several = [state.thing(one) for one in tables.values] if isinstance(tables, Items) else [tables]
    args, kwargs = state.thing(named.get("args", given)), state.thing(named.get("kwargs", more))
    values = args.values if isinstance(args, Items) else (named.get("args", given),)
    module = state.thing(model)
    is_known = isinstance(module, Instance) and module.kind in MODULE_KINDS
    if not is_known or not all(isinstance(one, Table) and one.pairs and one.rest is None for one in several):
        return None
    before = [module_parts.replace_tensors(model, one, state) for one in several if isinstance(one, Table)]
    further = kwargs.pairs if isinstance(kwargs, Table) else ()
    by_name = tuple((str(key.value), value) for key, value in further if isinstance(key, Const))
    results = machine.call_value(model, tuple(values), by_name, state, place, making.called(model, state, "the module"))
    for after, _ in results:
        for one in reversed(before):
            module_parts.put_back(one, after)
    return results


def under_guards(
    machine: Interpreter,
    guards: Sequence[GuardValue],
    function: Value,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
    shown: str,
) -> Results:
    """A call that guards surround, as those do that a function was given to."""
    modes, opened = state.modes, state.opened
    for guard in guards:
        set_modes(state, guard)
    results = machine.call_value(function, arguments, keywords, state, place, shown)
    if guards:
        for after, _ in results:
            after.modes, after.opened = modes, opened
    return results


def _differentiated(
    machine: Interpreter,
    name: str,
    function: Value,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
) -> Results:
    """`grad(f)(x)` records whatever the modes around it are, but not what `f` itself keeps from being recorded.

    It saves inference tensors as well, so that nothing raises in it.
    """
    result = state.opaque(origin=f"torch.func.{name}", tensor=True)
    if state.modes.inference is not False or not arguments:
        return [(state, result)]
    tried = state.fork()
    tried.shielded += 1
    first = arguments[0]
    asked = (
        making.alias(tried, first, grad=REQUIRED)  # type: ignore[arg-type] # a tensor's value is a reference
        if tried.tensor(first) is not None
        else tried.add(Tensor(False, REQUIRED, True))
    )
    on = GuardValue(f"torch.func.{name}", (("grad", True),), place.file.path, place.span, is_engine=True)
    for after, value in under_guards(machine, (on,), function, (asked, *arguments[1:]), keywords, tried, place, name):
        after.shielded -= 1
        for ref in making.tensors_in(value, after)[:1]:
            tensor = after.tensor(ref)
            if tensor is not None and not tensor.grad and tensor.unrecorded and tensor.shown:
                machine.report(
                    EventKind.GRADIENT_OF_ZEROS,
                    after,
                    place,
                    variable=tensor.name,
                    what=f"`torch.func.{name}` gives zeros",
                    steps=(*tensor.unrecorded, place.step(f"`{name}` finds nothing recorded, and gives zeros")),
                    guard=tensor.off,
                    presumed=tensor.presumed,
                )
    return [(state, result)]


def _reentrant(
    machine: Interpreter, function: Value, arguments: tuple[Value, ...], state: State, place: Place
) -> Results:
    """A reentrant checkpoint runs its function unrecorded; what it gives requires grad as what is given to it does."""
    given: Grad = frozenset().union(NOT_REQUIRED, *(state.grad_of(value) for value in arguments))
    if state.modes.records is False:
        return machine.call_value(function, arguments, (), state, place, "checkpoint")
    off = GuardValue(CHECKPOINT, (("grad", False),), place.file.path, place.span, is_engine=True)
    results = under_guards(machine, (off,), function, arguments, (), state, place, "checkpoint")
    for after, value in results if given else ():
        for ref in making.tensors_in(value, after):
            if after.tensor(ref) is not None:
                after.change(ref, grad=given, hazards=(), leaf=False, unrecorded=(), off=None)
    return results
