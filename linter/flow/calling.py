# Long because a call and all that it may lead to is one path.
"""Names, attributes and calls: what the program's own code does when it is used, and what is known of other code."""

from __future__ import annotations

from collections.abc import Sequence

import guardfix.torch_ops as torch_ops  # `from guardfix import …` would import the library

from ..facts import Span
from ..facts.bodies import Body, BodyKind, BodyParameter, Define
from ..facts.expressions import (
    CallExpression,
    Expression,
    KeywordArgument,
    MemberAccess,
    NamePath,
    Operation,
    TypeName,
    simple_name,
)
from ..facts.statement_walk import called_in
from . import (
    classes,
    closures,
    container_methods,
    cpp_threads,
    cpp_values,
    differentiation,
    elements,
    kept_results,
    library,
    making,
    model_names,
    model_training,
    objects,
    reach,
    tensor_writes,
    tensors,
)
from .function_transforms import under_guards
from .guards_entered import decided_here, guard_of, leave_guard, leave_scope, made_guard, set_modes
from .paths import Interpreter, Keywords, PathOutcome, Place, Results
from .program import File
from .recording import note_recorded
from .state import State
from .values import (
    NONE,
    ClassValue,
    Closure,
    Const,
    Generator,
    GuardValue,
    Instance,
    Items,
    Method,
    Name,
    Opaque,
    Partial,
    Plain,
    Ref,
    Table,
    Tensor,
    Value,
)

MOST_CALLS = 6
"""How deep calls are followed."""


# -- names


def value_named(machine: Interpreter, path: NamePath, state: State, place: Place) -> Value:
    """What a name stands for here."""
    if place.file.language != "python":
        return cpp_values.cpp_named(machine, path, state, place)
    if len(path.parts) > 1:
        return Name(path.parts)
    name = path.parts[0]
    found = state.find(name, place.frame)
    if found is not None:
        return found[1]
    if name in library.BUILTINS:
        return Name(("builtins", name))
    if name.startswith("__") or name == "torch":
        return Name((name,))
    value = state.opaque(name)
    outermost = place.frame
    while "<parent>" in state.frames[outermost]:
        parent = state.frames[outermost]["<parent>"]
        assert isinstance(parent, Plain)
        outermost = parent.number
    state.names(outermost)[name] = value
    return value


# -- functions and classes of the program


def made(machine: Interpreter, body: Body, state: State, place: Place) -> Results:
    """The function or class that a definition makes, its decorators applied."""
    if body.kind is BodyKind.CLASS:
        frame = state.enter_frame(parent=place.frame)
        cls = ClassValue(body, place.file, frame)
        inside = Place(place.file, body, frame, body.header, place.calls)
        for statement in body.statements:
            if isinstance(statement, Define):
                inner = body.inner[statement.body]
                for _, value in made(machine, inner, state, inside):
                    state.names(frame)[inner.name] = _owned(value, cls)
        for statement in body.statements:
            if not isinstance(statement, Define):
                machine.run((statement,), state, inside)
        return _decorated_class(machine, cls, state, place)
    return decorated(machine, Closure(body, place.file, place.frame), state, place)


def _decorated_class(machine: Interpreter, cls: ClassValue, state: State, place: Place) -> Results:
    """A class as the program's own decorators leave it: they may replace its methods."""
    results: Results = [(state, cls)]
    for written in reversed(cls.body.decorators):
        found: Results = []
        for one, value in results:
            for after, decorator in machine.evaluate(written, one, place):
                given = call_value(machine, decorator, (value,), (), after, place, "") if _is_own(decorator) else []
                found += given or [(after, value)]
        results = [(after, value if isinstance(value, ClassValue) else cls) for after, value in found]
    return results


def _is_own(decorator: Value) -> bool:
    return isinstance(decorator, (Closure, Partial))


def _owned(value: Value, cls: ClassValue) -> Value:
    if isinstance(value, Closure):
        return Closure(
            value.body, value.program, value.frame, value.receiver, cls, value.guards, value.undecorated, value.unknown
        )
    return value


def decorated(machine: Interpreter, closure: Closure, state: State, place: Place) -> Results:
    """A function with its decorators applied, the lowest first."""
    results: Results = [(state, closure)]
    for decorator in reversed(closure.body.decorators):
        here = place.at(Span(closure.body.span.start, closure.body.header.end))
        found: Results = []
        for one, value in results:
            for after, given in machine.evaluate(decorator, one, here):
                found += apply_decorator(machine, given, value, after, here)
        results = found
    return results


def apply_decorator(machine: Interpreter, decorator: Value, function: Value, state: State, place: Place) -> Results:
    if isinstance(decorator, Name):
        guard = guard_of(decorator, "python")
        if guard is not None:  # `@torch.no_grad` without a call
            decorator = made_guard(*guard, True, place)
    if isinstance(decorator, GuardValue):
        if decorator.name == "set_grad_enabled" and decorator in state.opened:
            leave_guard(state, decorator)  # made, it has set the mode; called with a function, it sets that back
        if isinstance(function, Closure):
            guards = (decorator, *function.guards)
            return [(state, closures.changed(function, guards=guards))]
        if isinstance(function, (Ref, Method, Name, Partial)):
            return [(state, Partial(function, (), (), (decorator,)))]
        return [(state, function)]
    if isinstance(decorator, Name):
        name = decorator.path[-1]
    elif isinstance(decorator, (Closure, Partial, ClassValue)):
        return call_value(machine, decorator, (function,), (), state, place, "")
    else:
        thing = state.thing(decorator)
        name = (thing.name or thing.origin).rpartition(".")[2] if isinstance(thing, Opaque) else ""
    if isinstance(function, Closure) and name not in library.TRANSPARENT_DECORATORS:
        return [(state, closures.changed(function, unknown=name not in library.HARMLESS_DECORATORS))]
    return [(state, function)]


# -- running functions


def call_closure(
    machine: Interpreter,
    closure: Closure,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
) -> Results:
    """Call a function of the program."""
    body = closure.body
    if any(known is body for known, _ in place.calls) or len(place.calls) >= MOST_CALLS or not body.is_read:
        return [
            (reach.unknown_call(state, (*arguments, *(value for _, value in keywords))), state.opaque(origin=body.name))
        ]
    if closure.unknown:
        return [
            (reach.unknown_call(state, (*arguments, *(value for _, value in keywords))), state.opaque(origin=body.name))
        ]
    kept = kept_results.kept_by(closure, arguments, keywords)
    held = machine.kept.given_before(kept, machine.root, state) if kept is not None else None
    if held is not None:
        return [(state, held)]
    if closure.receiver is not None and not closures.is_static(closure) and closure.program.language == "python":
        arguments = (closure.receiver, *arguments)
    parent = closure.frame if closure.frame is not None and closure.frame in state.frames else None
    frame = state.enter_frame(parent=parent)
    file: File = closure.program
    step = place.step(f"calls `{body.name or 'a lambda'}`")
    inside = Place(file, body, frame, body.header, (*place.calls, (body, step)))
    state.names(frame).update(closure.types)
    state.names(frame).update(closures.bound_arguments(body, arguments, keywords, machine, state, inside))
    if closure.owner is not None:
        state.names(frame)["<class>"] = closure.owner
        if closure.receiver is not None:
            state.names(frame)["<self>"] = closure.receiver
        elif arguments:
            state.names(frame)["<self>"] = arguments[0]
    if body.is_generator:
        return [(state, state.add(Generator(closure, frame)))]
    results = run_body(machine, closure, state, inside, [place.frame])
    if kept is not None:
        for after, value in results:
            machine.kept.note(kept, value, machine.root, after, in_test=machine.testing)
    return results


def run_body(machine: Interpreter, closure: Closure, state: State, inside: Place, around: list[int]) -> Results:
    modes, opened, depth = state.modes, state.opened, len(state.scoped)
    for guard in closure.guards:
        set_modes(state, guard)
    outcomes = machine.run(closure.body.statements, state, inside)
    found: Results = []
    for outcome in outcomes:
        if outcome.kind == "raise":
            continue
        leave_scope(outcome.state, depth)
        if closure.guards:
            outcome.state.modes, outcome.state.opened = modes, opened
        value = outcome.value if outcome.kind == "return" else NONE
        outcome.state.given_back = _given_back(closure.body, outcome.state, inside)
        found.append((outcome.state, value))
    if len(found) > 1:
        found = _joined(machine, found, inside, around)
    if not closure.body.inner:
        for after, _ in found:
            after.frames.pop(inside.frame, None)
    return found


def _given_back(body: Body, state: State, inside: Place) -> tuple[tuple[int, Value], ...]:
    """(index of the argument, value) of what C++ gives back through references."""
    if inside.file.language == "python":
        return ()
    names = state.frames.get(inside.frame, {})
    references = (
        (index, parameter.name)
        for index, parameter in enumerate(body.parameters)
        if isinstance(parameter.annotation, TypeName)
        and ("&" in parameter.annotation.marks or (parameter.annotation.marks == "*" and _is_tensor_type(parameter)))
        and not parameter.annotation.constant
    )
    return tuple((index, names[name]) for index, name in references if name in names)


def _is_tensor_type(parameter: BodyParameter) -> bool:
    return isinstance(parameter.annotation, TypeName) and parameter.annotation.last in cpp_values.TENSORS


def _joined(machine: Interpreter, found: Results, inside: Place, around: list[int]) -> Results:
    """The results of a call, of those that are the same one; what the caller holds counts as well."""
    for after, value in found:
        after.frames[inside.frame] = {"<result>": value, **_kept(after, inside)}
    frames = [inside.frame, *around]
    seen: dict[tuple[object, ...], tuple[State, Value]] = {}
    for after, value in found:
        key = after.outline(*frames)
        known = seen.get(key)
        if known is None:
            seen[key] = (after, value)
        else:
            known[0].take(after)
    kept = list(seen.values())
    if len(kept) > machine.most_states:
        machine.dropped = True
        kept.sort(key=lambda pair: not pair[0].telling)
    return kept[: machine.most_states]


def _kept(state: State, inside: Place) -> dict[str, Value]:
    """What closures that were made in a frame may still read of it."""
    return state.frames.get(inside.frame, {}) if inside.body.inner else {}


def call_root(machine: Interpreter, closure: Closure, state: State, file: File) -> None:
    """Run a function with unknown arguments."""
    body = closure.body
    parent = closure.frame
    frame = state.enter_frame(parent=parent)
    place = Place(file, body, frame, body.header)
    names = state.names(frame)
    for parameter in body.parameters:
        names[parameter.name] = machine.parameter(parameter, state, place)
    for name in treated_as_tensors(body):
        value = names.get(name)
        thing = state.thing(value)
        if isinstance(thing, Opaque) and isinstance(value, Ref) and thing.tensor is None:
            state.change(value, tensor=True)
    if closure.owner is not None and not closures.is_static(closure):
        receiver = closure.receiver
        if receiver is not None and body.parameters and file.language == "python":
            names[body.parameters[0].name] = receiver
        names["<class>"] = closure.owner
    if closure.receiver is not None:
        names["<self>"] = closure.receiver
    yields = (lambda one, value: [PathOutcome(one, "next")]) if body.is_generator else None
    engine = classes.run_by_engine(machine, closure, state)
    for guard in (*engine, *closure.guards):
        set_modes(state, guard)
    if engine and body.parameters and file.language == "python":
        names[body.parameters[0].name] = state.add(Instance("context", "ctx"))
    before = machine.attributes_before(closure, state, place)
    outcomes = machine.run(body.statements, state, Place(file, body, frame, body.header, (), yields))
    machine.attributes_behind(closure, before, outcomes)
    for outcome in outcomes:
        model_training.tell_shared(machine, outcome.state, place)
        may_be_again = not closure.unknown and (engine or file.language != "python")
        if body.name == "backward" and outcome.kind == "return" and may_be_again:
            differentiation.tell_lost_gradients(machine, outcome.value, outcome.state, place)
        made = outcome.state.tensor(outcome.value)
        if engine and body.name == "forward" and made is not None:
            given_back = place.at(outcome.returned) if outcome.returned is not None else place
            objects.tell_inference_result(machine, made, engine[0].name, outcome.state, given_back)
    if body.name in library.LOSS_METHODS:
        for outcome in outcomes:
            if outcome.returned is not None:
                returned = place.at(outcome.returned)
                thing = outcome.state.thing(outcome.value)
                value = outcome.value
                if isinstance(thing, Table):
                    value = next((v for k, v in thing.pairs if k == Const("loss")), NONE)
                known = len(machine.events)
                differentiation.differentiate(machine, value, outcome.state, returned, "backward")
                if len(machine.events) > known:
                    break  # what other paths give back is mostly the same


def treated_as_tensors(body: Body) -> set[str]:
    """The variables of a function on which it calls what only tensors have, or that it gives to torch's functions."""

    found: set[str] = set()
    for call in called_in(body):
        callee = call.callee
        if isinstance(callee, MemberAccess):
            name = simple_name(callee.object)
            if name and torch_ops.only_tensors_have(callee.name):
                found.add(name)
        elif isinstance(callee, NamePath) and callee.parts[0] in ("torch", "at") and len(callee.parts) > 1:
            rows = torch_ops.function(".".join(callee.parts[1:]))
            for row in rows[:1]:
                for argument, value in zip(row.arguments, call.arguments, strict=False):
                    if argument.kind == "tensor" and simple_name(value):
                        found.add(simple_name(value))
    return found


# -- calls


def call(machine: Interpreter, expression: CallExpression, state: State, place: Place) -> Results:
    """Evaluate a call."""
    callee = expression.callee
    arguments = [argument for argument in expression.arguments if not isinstance(argument, KeywordArgument)]
    named_ones = [argument for argument in expression.arguments if isinstance(argument, KeywordArgument)]
    special = objects.special_form(machine, expression, state, place)
    if special is not None:
        return special
    found: Results = []
    parts: list[Expression] = [*arguments, *(one.value for one in named_ones)]
    method = isinstance(callee, MemberAccess)
    in_cpp = place.file.language != "python"
    start: Expression = callee.object if isinstance(callee, MemberAccess) else callee
    before = state.choices
    for after, (first, *values) in machine.each((start, *parts), state, place):
        flat: tuple[Value, ...] = tuple(values[: len(arguments)])
        keywords: Keywords = ()
        if not in_cpp:
            flat, more = _spread(arguments, flat, after)
            named = tuple((one.name, value) for one, value in zip(named_ones, values[len(arguments) :], strict=True))
            keywords = (*named, *more)
        if after.choices is not before and isinstance(first, Name) and guard_of(first, place.file.language):
            decided_here(after, before)
        if in_cpp:
            handed = cpp_threads.call_cpp_starter(machine, expression, first, flat, after, place)
            if handed is not None:
                found += handed
                continue
        if method:
            assert isinstance(callee, MemberAccess)
            shown = str(callee.object)
            if callee.name.endswith("_") and not tensor_writes.step_leaf(
                machine, callee.object, first, parts, after, place, callee.name
            ):
                continue
            found += call_method(machine, first, callee.name, flat, keywords, after, place, shown)
        else:
            found += call_value(machine, first, flat, keywords, after, place, str(callee), callee)
    for after, _ in found:
        given_back, after.given_back = after.given_back, ()
        for index, value in given_back:
            target: Expression | None = arguments[index] if index < len(arguments) else None
            if isinstance(target, Operation) and target.is_address:
                target = target.operands[0]
            if isinstance(target, NamePath) and simple_name(target):
                machine.bind(target, value, after, place)
    return found


def _spread(
    arguments: Sequence[Expression], values: Sequence[Value], state: State
) -> tuple[tuple[Value, ...], Keywords]:
    """The arguments with `*items` and `**table` spread out."""
    flat: list[Value] = []
    more: list[tuple[str, Value]] = []
    for argument, value in zip(arguments, values, strict=True):
        if isinstance(argument, Operation) and argument.operator in ("*", "**") and len(argument.operands) == 1:
            thing = state.thing(value)
            if isinstance(thing, Items):
                flat += thing.values
                if thing.rest is not None:
                    flat.append(thing.rest)
            elif isinstance(thing, Table):
                more += [(str(key.value), item) for key, item in thing.pairs if isinstance(key, Const)]
            elif argument.operator == "*":
                flat.append(state.opaque())
        else:
            flat.append(value)
    return tuple(flat), tuple(more)


def call_value(
    machine: Interpreter,
    callee: Value,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
    shown: str,
    written: Expression | None = None,
) -> Results:
    """Call a value."""
    if isinstance(callee, Closure):
        if callee.body.type_parameters and isinstance(written, NamePath):
            callee = closures.instantiated(callee, written.template_arguments or ())
        results = call_closure(machine, callee, arguments, keywords, state, place)
        if model_names.is_model_name(callee.body.name):
            for after, value in results:
                model_names.presume_tensor(value, callee.body.name, after)
        return results
    if isinstance(callee, ClassValue):
        return construct_class(machine, callee, arguments, keywords, state, place)
    if isinstance(callee, Name):
        return library.call_name(machine, callee, arguments, keywords, state, place, written)
    if isinstance(callee, Method) and isinstance(callee.receiver, ClassValue):
        return objects.call_class_method(machine, callee.receiver, callee.name, arguments, state, place)
    if isinstance(callee, Method):
        return call_method(machine, callee.receiver, callee.name, arguments, keywords, state, place, shown)
    if isinstance(callee, Partial):
        every, named = (*callee.arguments, *arguments), (*callee.keywords, *keywords)
        return under_guards(machine, callee.guards, callee.callee, every, named, state, place, shown)
    if isinstance(callee, GuardValue):
        # A guard called with a function guards it.
        if len(arguments) == 1:
            return apply_decorator(machine, callee, arguments[0], state, place)
        return [(state, callee)]
    thing = state.thing(callee)
    if isinstance(thing, Instance):
        return objects.call_instance(machine, callee, thing, arguments, keywords, state, place, shown)
    if isinstance(thing, Opaque):
        assert isinstance(callee, Ref)
        return call_unknown(machine, callee, thing, thing.name or shown, arguments, keywords, state, place)
    if callee == NONE:
        return []
    return [(reach.unknown_call(state, (*arguments, *(value for _, value in keywords))), state.opaque())]


def call_unknown(
    machine: Interpreter,
    callee: Ref,
    thing: Opaque,
    shown: str,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
) -> Results:
    """Call something unknown: a model, if it looks like one, gives a new tensor."""
    given = (*arguments, *(value for _, value in keywords))
    if given:
        model_training.note_run(callee, shown, state, place)
    if (thing.module or model_names.is_model_name(shown)) and given:
        note_recorded(machine, f"`{shown}`", state, place)
    if (thing.module or model_names.is_model_name(shown)) and given and _only_outside(state):
        grads = frozenset().union(*(state.grad_of(value) for value in given)) if given else frozenset()
        reach.unknown_call(state, given)
        return [(state, model_names.model_result(machine, shown, grads, state, place))]
    if model_names.is_loss_name(shown) and any(making.is_inference(value, state) for value in given):
        return [(state, model_names.loss_result(machine, shown, given, state, place))]
    reach.unknown_call(state, given)
    return [(state, state.opaque(origin=shown))]


def _only_outside(state: State) -> bool:
    return state.modes.records is False


def construct_class(
    machine: Interpreter, cls: ClassValue, arguments: tuple[Value, ...], keywords: Keywords, state: State, place: Place
) -> Results:
    """Make an object of a class of the program."""
    if cls.program.language != "python":
        return cpp_values.construct_cpp(machine, cls, arguments, state, place)
    ref = classes.instance_of(machine, cls, state, complete=True)
    initialiser = classes.find_method(machine, cls, "__init__", state)
    if initialiser is None:
        classes.fill_fields(machine, ref, cls, state, place)
        if arguments or keywords:
            state.change(ref, complete=False)
            for name, value in keywords:
                elements.set_attribute(machine, ref, name, value, state, place, "")
            names = list(classes.field_names(cls.body))
            for name, value in zip(names, arguments, strict=False):
                elements.set_attribute(machine, ref, name, value, state, place, "")
        return [(state, ref)]
    bound = closures.changed(initialiser, receiver=ref)
    return [(after, ref) for after, _ in call_closure(machine, bound, arguments, keywords, state, place)]


def call_method(
    machine: Interpreter,
    receiver: Value,
    name: str,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
    shown: str,
) -> Results:
    """Call a method of a value."""
    thing = state.thing(receiver)
    if isinstance(receiver, (Name, ClassValue)):
        found: Results = []
        for after, callee in elements.attribute(machine, receiver, name, state, place, shown):
            found += call_value(machine, callee, arguments, keywords, after, place, f"{shown}.{name}")
        return found
    if isinstance(thing, Instance):
        return objects.call_instance_method(machine, receiver, thing, name, arguments, keywords, state, place, shown)
    if isinstance(thing, Tensor):
        assert isinstance(receiver, Ref)
        return tensors.call_tensor_method(machine, receiver, thing, name, arguments, keywords, state, place)
    if isinstance(thing, Opaque):
        assert isinstance(receiver, Ref)
        return tensors.call_opaque_method(machine, receiver, thing, name, arguments, keywords, state, place, shown)
    if isinstance(thing, (Items, Table)):
        assert isinstance(receiver, Ref)
        return container_methods.call_container_method(
            machine, receiver, thing, name, arguments, keywords, state, place
        )
    if isinstance(receiver, GuardValue):
        if name == "__enter__":
            set_modes(state, receiver)
        elif name == "__exit__":
            leave_guard(state, receiver)
        return [(state, receiver)]
    if receiver == NONE:
        return []
    return [(reach.unknown_call(state, arguments), state.plain())]
