"""Objects: what a call of one runs, their methods and their attributes."""

from __future__ import annotations

from ..facts.expressions import (
    CallExpression,
    LambdaExpression,
    MemberAccess,
    is_named,
)
from . import (
    classes,
    closures,
    cpp_values,
    distribution_calls,
    forward_hooks,
    function_contexts,
    gradients,
    held_guards,
    layer_calls,
    model_names,
    model_training,
    module_methods,
    module_parts,
    reach,
    tensors,
    threads,
)
from .events import EventKind
from .guards_entered import leave_guard, set_modes
from .module_parts import MODULE_KINDS
from .paths import Interpreter, Keywords, Place, Results
from .recording import note_recorded
from .state import State
from .values import (
    NONE,
    NOT_REQUIRED,
    ClassValue,
    Closure,
    Const,
    Grad,
    GuardValue,
    Instance,
    Items,
    Name,
    Partial,
    Ref,
    Tensor,
    Truth,
    Value,
)


def call_instance(
    machine: Interpreter,
    ref: Value,
    thing: Instance,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
    shown: str,
) -> Results:
    """Call an object: a module runs its `forward` between its hooks."""
    assert isinstance(ref, Ref)
    if thing.kind not in MODULE_KINDS:
        return _run_instance(machine, ref, thing, arguments, keywords, state, place, shown)
    before, after = (
        forward_hooks.hooks_of(thing, name, state) for name in ("register_forward_pre_hook", "register_forward_hook")
    )
    found: Results = []
    for one, given in forward_hooks.run_pre_hooks(machine, ref, before, arguments, state, place):
        results = _run_instance(machine, ref, thing, given, keywords, one, place, shown)
        found += forward_hooks.run_hooks(machine, ref, after, given, results, place, shown)
    return found


def _run_instance(
    machine: Interpreter,
    ref: Ref,
    thing: Instance,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
    shown: str,
) -> Results:
    if thing.kind in ("module", "object"):
        model_training.note_run(ref, shown or thing.name, state, place)
    if thing.cls is not None:
        names = ("__call__", "forward") if thing.kind == "module" else ("__call__", "operator()")
        for name in names:
            method = classes.find_method(machine, thing.cls, name, state)
            if method is not None:
                bound = closures.changed(method, receiver=ref)
                return machine.call_closure(bound, arguments, keywords, state, place)
    if thing.kind == "layer":
        return layer_calls.call_layer(machine, thing, arguments, state, place)
    if thing.kind == "sequential":
        results: Results = [(state, arguments[0] if arguments else NONE)]
        for _, child in module_parts.children_of(thing):
            results = [
                pair for one, value in results for pair in machine.call_value(child, (value,), (), one, place, shown)
            ]
        return results
    if thing.kind == "module":
        note_recorded(machine, f"`{shown or thing.name}`", state, place)
    if thing.kind == "module" and state.modes.records is False and arguments:
        reach.unknown_call(state, arguments)
        return [(state, model_names.model_result(machine, shown or thing.name, NOT_REQUIRED, state, place))]
    return [(reach.unknown_call(state, arguments), state.opaque(origin=shown))]


def _call_stack(ref: Ref, thing: Instance, name: str, arguments: tuple[Value, ...], state: State) -> Value:
    """A method of `ExitStack`: guards are entered, and left together."""
    entered = thing.attributes.get("<entered>")
    held = state.thing(entered)
    guards = held.values if isinstance(held, Items) else ()
    if name == "enter_context" and arguments and isinstance(arguments[0], GuardValue):
        set_modes(state, arguments[0])
        guards = (*guards, arguments[0])
        state.change(ref, attributes={"<entered>": state.add(Items("[]", guards))})
    elif name in ("close", "aclose", "__exit__", "pop_all"):
        state.change(ref, attributes={})
        if name == "pop_all":
            return state.add(thing)
        for guard in reversed(guards):
            if isinstance(guard, GuardValue):
                leave_guard(state, guard)
    return ref if name == "__enter__" else NONE


def call_instance_method(
    machine: Interpreter,
    ref: Value,
    thing: Instance,
    name: str,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
    shown: str,
) -> Results:
    """Call a method of an object."""
    assert isinstance(ref, Ref)
    if thing.cls is not None:
        method = classes.find_in_class(machine, thing.cls, name, state)
        if isinstance(method, Closure):
            static = closures.is_static(method)
            bound = method if static else closures.changed(method, receiver=ref)
            return machine.call_closure(bound, arguments, keywords, state, place)
    threaded = threads.call_thread_method(machine, thing, name, arguments, keywords, ref, state, place)
    if threaded is not None:
        return threaded
    if thing.kind == held_guards.KIND:
        return held_guards.call_keeper(machine, ref, thing, name, arguments, state, place)
    if name in ("get", "ptr", "value", "operator*") and not arguments and place.file.language != "python":
        return [(state, ref)]
    if name in thing.attributes:
        return machine.call_value(thing.attributes[name], arguments, keywords, state, place, f"{shown}.{name}")
    if thing.kind == "distribution":
        return [(state, distribution_calls.call_distribution(thing, name, state, place))]
    if thing.kind == "stack":
        return [(state, _call_stack(ref, thing, name, arguments, state))]
    if thing.kind == "handle" and name == "remove":
        forward_hooks.remove_hook(thing, state)
        return [(state, NONE)]
    if thing.kind in MODULE_KINDS:
        done = module_methods.call_module_method(machine, ref, thing, name, arguments, keywords, state, place, shown)
        if done is not None:
            return done
    if thing.kind == "optimizer":
        return _call_optimizer(machine, thing, name, arguments, state, place)
    if thing.kind == "context":
        return function_contexts.call_context(machine, thing, name, arguments, state, place)
    if thing.kind == "options":
        if name == "requires_grad":
            state.change(ref, attributes={"requires_grad": arguments[0] if arguments else Const(True)})
        return [(state, ref)]
    values = (*arguments, *(value for _, value in keywords))
    if thing.kind == "object" and thing.complete and thing.cls is not None:
        held_guards.forget(ref, state)  # `reset` of a pointer to it
        reach.unknown_call(state, values)
        return [(state, state.opaque(origin=name))]
    reach.unknown_call(state, (ref, *values))
    return [(state, state.opaque(origin=name))]


def _call_optimizer(
    machine: Interpreter, thing: Instance, name: str, arguments: tuple[Value, ...], state: State, place: Place
) -> Results:
    """A method of an optimizer; `step` runs what it is given with grad on, but not under inference mode."""
    if name == "zero_grad":
        gradients.forget_gradients(machine, state)
    if name != "step":
        return [(state, NONE)]
    tensors.step_taken(machine, "optimizer", state, place)
    tensors.step_writes(machine, thing.attributes.get("params", NONE), state, place)
    if not arguments or not isinstance(arguments[0], Closure):
        return [(state, NONE)]
    modes, opened = state.modes, state.opened
    if state.modes.inference is False:
        state.modes = state.modes._replace(grad=True)
    results = machine.call_closure(arguments[0], (), (), state, place)
    for after, _ in results:
        after.modes, after.opened = modes, opened
    return results


def call_class_method(
    machine: Interpreter, cls: ClassValue, name: str, arguments: tuple[Value, ...], state: State, place: Place
) -> Results:
    """`Function.apply(…)`: its `forward` runs without recording; what it gives is recorded around it."""
    method = classes.find_method(machine, cls, "forward", state)
    if name != "apply" or method is None:
        return [(reach.unknown_call(state, arguments), state.opaque(origin=name))]
    modes, opened = state.modes, state.opened
    grads: Grad = frozenset().union(*(state.grad_of(argument) for argument in arguments)) if arguments else NOT_REQUIRED
    for guard in classes.run_by_engine(machine, method, state):
        set_modes(state, guard)
    # A Function is recorded as grad mode says, also where ops aren't.
    given_grad = state.add(Tensor(None, grads if modes.grad is not False else NOT_REQUIRED))
    context = state.add(Instance("context", "ctx", None, {"<given>": given_grad}))
    takes_context = (
        not method.body.parameters
        or len(method.body.parameters) > len(arguments)
        or (method.body.parameters[0].name == "ctx")
    )
    given = (context, *arguments) if takes_context else arguments
    found: Results = []
    for after, value in machine.call_closure(closures.changed(method, receiver=None), given, (), state, place):
        after.modes, after.opened = modes, opened
        tensor = after.tensor(value)
        if (
            tensor is not None
            and isinstance(value, Ref)
            and modes.grad
            and value.number not in {argument.number for argument in arguments if isinstance(argument, Ref)}
        ):
            lost = next((t.unrecorded for given in arguments if (t := after.tensor(given)) and t.unrecorded), ())
            after.change(value, grad=grads, hazards=(), leaf=not grads, unrecorded=() if grads else lost)
        found.append((after, value))
    return found


def tell_inference_result(machine: Interpreter, tensor: Tensor, method: str, state: State, place: Place) -> None:
    """An autograd function's `forward` gives back a tensor: one that was made in inference mode gets no gradient."""
    if tensor.inference is True and tensor.shown:
        machine.report(
            EventKind.INFERENCE_RESULT,
            state,
            place,
            variable=tensor.name,
            what="`forward` gives back an inference tensor: it gets no gradient",
            steps=(*tensor.made, place.step(f"`{method}` gives it back")),
            guard=tensor.guard,
            presumed=tensor.presumed,
        )


def instance_attribute(
    machine: Interpreter, holder: Value, thing: Instance, name: str, state: State, place: Place, shown: str
) -> Results:
    assert isinstance(holder, Ref)
    known = thing.attributes.get(name)
    if known is not None:
        return [(state, known)]
    if thing.cls is not None:
        found = classes.find_in_class(machine, thing.cls, name, state)
        if isinstance(found, Closure):
            bound = found if closures.is_static(found) else closures.changed(found, receiver=holder)
            if closures.is_property(found):
                return machine.call_closure(bound, (), (), state, place)
            return [(state, bound)]
        if found is not None:
            return [(state, found)]
        if place.file.language != "python":
            return [(state, cpp_values.member_of(machine, holder, thing, name, state, place))]
    if thing.kind in MODULE_KINDS and name == "training":
        value: Value = Truth(("training", holder))
    elif thing.kind == "context" and name in ("saved_tensors", "saved_variables"):
        value = state.add(Items("()", (), state.opaque(tensor=True)))
    else:
        value = state.opaque(f"{shown}.{name}" if shown else name)
    state.change(holder, attributes={**thing.attributes, name: value})
    return [(state, value)]


def _super_call(
    machine: Interpreter,
    owner: ClassValue,
    receiver: Value,
    name: str,
    arguments: tuple[Value, ...],
    state: State,
    place: Place,
) -> Results:
    for one in classes.ancestry(machine, owner, state):
        if one is owner:
            continue
        if isinstance(one, ClassValue) and one.frame is not None and one.frame in state.frames:
            found = state.frames[one.frame].get(name)
            if isinstance(found, Closure):
                bound = closures.changed(found, receiver=receiver)
                return machine.call_closure(bound, arguments, (), state, place)
        if one is None:
            break
        if isinstance(one, Name) and one.dotted in classes.MODULE_CLASSES:
            if name in ("train", "eval"):
                module_parts.set_training(receiver, arguments[0] if arguments else Const(name == "train"), state)
                return [(state, receiver)]
            return [(state, NONE)]
    if name in ("__init__", "__init_subclass__"):
        return [(state, NONE)]
    reach.unknown_call(state, arguments)
    return [(state, state.opaque(name))]


def special_form(machine: Interpreter, expression: CallExpression, state: State, place: Place) -> Results | None:
    """`super()`, which has no value of its own."""
    callee = expression.callee
    if is_named(callee, "super") and place.file.language == "python":
        found = state.find("<self>", place.frame)
        owner = state.find("<class>", place.frame)
        if found is not None and owner is not None:
            return [(state, Partial(Name(("super",)), (found[1], owner[1]), ()))]
        return [(state, state.opaque("super"))]
    if (
        isinstance(callee, MemberAccess)
        and isinstance(callee.object, CallExpression)
        and is_named(callee.object.callee, "super")
        and place.file.language == "python"
    ):
        found = state.find("<self>", place.frame)
        owner = state.find("<class>", place.frame)
        if found is None or owner is None or not isinstance(owner[1], ClassValue):
            return None
        receiver = found[1]
        results: Results = []
        for after, values in machine.each(expression.arguments, state, place):
            results += _super_call(machine, owner[1], receiver, callee.name, tuple(values), after, place)
        return results
    if isinstance(callee, LambdaExpression) and callee.body is None:
        return [(state, state.opaque())]
    return None
