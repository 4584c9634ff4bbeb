"""What only C++ says: names by namespaces and members, values by their types, guards that live as long as a block."""

from __future__ import annotations

import guardfix.torch_ops as torch_ops  # `from guardfix import …` would import the library

from ..analysis.thread_starters import THREADS
from ..facts.bodies import Assign, BodyParameter
from ..facts.expressions import (
    Bracketed,
    Construction,
    Expression,
    NamePath,
    NewExpression,
    TypeName,
    last_name,
)
from ..facts.statement_walk import words_in
from ..guards import GRAD_MODE_SETTER, Effect
from . import classes, closures, cpp_threads, held_guards, layer_calls, reach
from .guards_entered import guard_of, made_guard, on_and_off, set_modes
from .paths import Interpreter, Place, Results
from .state import State
from .values import (
    DECLARED,
    NONE,
    ClassValue,
    Closure,
    Const,
    GuardValue,
    Instance,
    Items,
    Method,
    Name,
    Opaque,
    Partial,
    Ref,
    Table,
    Tensor,
    Thing,
    Truth,
    Value,
)

TENSORS = frozenset({"Tensor", "Variable"})
_OF_MODULES = frozenset(
    "register_module register_parameter register_buffer is_training train eval parameters named_parameters buffers "
    "named_buffers zero_grad".split()
)
"""Methods of `torch::nn::Module` that the program's modules call by their names alone."""
_AUTOGRAD = (("torch", "autograd", "grad"), ("torch", "autograd", "backward"))
_SEQUENCES = frozenset(
    {"vector", "deque", "list", "array", "TensorList", "ArrayRef", "initializer_list", "variable_list"}
)
_MAPS = frozenset({"map", "unordered_map", "OrderedDict"})
_POINTERS = frozenset({"shared_ptr", "unique_ptr", "optional", "reference_wrapper", "weak_ptr", "intrusive_ptr"})
_CALLABLES = frozenset({"function", "packaged_task"})
_NUMBERS = frozenset(
    "int long short char bool float double size_t int64_t int32_t uint8_t uint64_t uint32_t string auto_t void Scalar "
    "string_view unsigned ScalarType Device".split()
)


def value_of_type(machine: Interpreter, written: Expression | None, name: str, state: State, place: Place) -> Value:
    """A value of which nothing is known but its declared type."""
    path = classes.meant_type(machine, written, place)
    if path is None:
        return state.opaque(name)
    last = path.name
    if last in TENSORS:
        return state.opaque(name, tensor=True)
    if last in _NUMBERS:
        return state.plain()
    inner = path.template_arguments or ()
    if last in _SEQUENCES:
        element = value_of_type(machine, inner[0], name, state, place) if inner else state.opaque(name, tensor=True)
        return state.add(Items("[]", (), element, _class_of_elements(machine, path, place)))
    if last in _MAPS:
        return state.add(
            Table((), value_of_type(machine, inner[-1], name, state, place) if inner else state.opaque(name), True)
        )
    kept = _guard_kept(path, place)
    if kept is not None:
        return held_guards.empty(kept, state)
    if last in _POINTERS and inner:
        return value_of_type(machine, inner[0], name, state, place)
    if "nn" in path.path[:-1] and torch_ops.layer(last) is not None:
        made = layer_calls.made_layer(last, (), state, place)
        return layer_calls.unknown_parameters(made, state)
    if "optim" in path.path[:-1] and not last.endswith("Options"):
        return state.add(Instance("optimizer", last))
    cls = classes.class_named(machine, path.path, place)
    if cls is not None:
        return classes.instance_of(machine, cls, state, complete=False)
    if last == "Module" or ("nn" in path.path[:-1] and last[:1].isupper()):
        return state.opaque(name, module=True)
    if last == "AutogradContext":
        return state.add(Instance("context", last))
    return state.opaque(name, tensor=None)


def _class_of_elements(machine: Interpreter, path: NamePath, place: Place) -> ClassValue | None:
    inner = _first_inner(path)
    return classes.class_named(machine, inner.path, place) if inner is not None else None


def element_added(
    machine: Interpreter, held: Items, name: str, values: tuple[Value, ...], state: State, place: Place
) -> Results:
    """What `push_back({a, b})` and `emplace_back(a, b)` add: objects of the class that the vector has."""
    given = state.thing(values[0])
    if held.cls is None or isinstance(given, (Instance, Opaque)):
        return [(state, values[0])]
    listed = given.values if isinstance(given, Items) and name != "emplace_back" else values
    return construct_cpp(machine, held.cls, listed, state, place)


def parameter(machine: Interpreter, parameter: BodyParameter, state: State, place: Place) -> Value:
    """An argument of which nothing is known but its declared type."""
    if place.file.language != "python":
        return value_of_type(machine, parameter.annotation, parameter.name, state, place)
    shown = str(parameter.annotation).strip("\"'") if parameter.annotation is not None else ""
    if shown in ("int", "float", "str", "bool"):
        return state.plain()
    module = shown.rpartition(".")[2] in ("Module",)
    return state.opaque(parameter.name, tensor=True if shown.rpartition(".")[2] == "Tensor" else None, module=module)


def cpp_named(machine: Interpreter, path: NamePath, state: State, place: Place) -> Value:
    """What a C++ name stands for."""
    parts = path.path
    if len(parts) == 1:
        name = parts[0]
        if name == "this":
            found = state.find("<self>", place.frame)
            return found[1] if found is not None else state.opaque("this")
        found = state.find(name, place.frame)
        if found is not None:
            return found[1]
        self_ = state.find("<self>", place.frame)
        thing = state.thing(self_[1]) if self_ is not None else None
        if self_ is not None and isinstance(thing, Instance) and thing.cls is not None:
            if name in thing.attributes or any(member.name == name for member in thing.cls.body.members):
                return member_of(machine, self_[1], thing, name, state, place)
            method = classes.method_of(machine, thing.cls, name)
            if method is not None:
                return closures.changed(method, receiver=self_[1])
            if thing.kind == "module" and name in _OF_MODULES:
                return Method(self_[1], name)
    functions = machine.program.functions(parts, place.file)
    if len(functions) == 1:
        return Closure(functions[0][1], functions[0][0], None)
    cls = classes.class_named(machine, parts, place)
    if cls is not None:
        return cls
    for alias in place.file.facts.aliases if len(parts) == 1 else ():
        qualified = (*alias.path, *parts)
        if alias.kind == "using-namespace" and (torch_ops.cpp("::".join(qualified)) or qualified in _AUTOGRAD):
            return Name(qualified)
    if len(parts) == 1 and not parts[0][:1].isupper():
        return state.opaque(parts[0])  # a variable that is declared elsewhere, or a function
    return Name(parts)


def member_of(machine: Interpreter, holder: Value, thing: Instance, name: str, state: State, place: Place) -> Value:
    """A data member of an object: what it was given, or a value of its declared type."""
    known = thing.attributes.get(name)
    if known is not None:
        return known
    assert thing.cls is not None
    assert isinstance(holder, Ref)
    declared = next((member for member in thing.cls.body.members if member.name == name), None)
    value = value_of_type(machine, declared.annotation if declared else None, name, state, place)
    current = state.thing(holder)
    assert isinstance(current, Instance)
    state.change(holder, attributes={**current.attributes, name: value})
    return value


# -- making objects


def construct(machine: Interpreter, expression: Expression, state: State, place: Place) -> Results:
    """`T{1, 2}`, `new T(x)`."""
    if isinstance(expression, (Construction, NewExpression)):
        written, given = expression.type, expression.arguments
    else:
        return [(state, state.opaque())]
    items = given.items if isinstance(given, Bracketed) else ()
    found: Results = []
    for after, values in machine.each(items, state, place):
        found += made_of_type(machine, written, tuple(values), after, place, "")
    return found


def made_of_type(
    machine: Interpreter, written: Expression, values: tuple[Value, ...], state: State, place: Place, name: str
) -> Results:
    """An object of a type, made from arguments."""
    path = classes.meant_type(machine, written, place)
    if path is None:
        return [(state, state.opaque(name))]
    last = path.name
    if last in TENSORS or _is_optional_tensor(path):
        return [(state, values[0] if values else state.opaque(name, tensor=True, origin=DECLARED, under=None))]
    if last in _SEQUENCES:
        if (not values and last != "array") or (values and isinstance(state.thing(values[0]), Items)):
            empty = Items("[]", (), None, _class_of_elements(machine, path, place))
            return [(state, values[0] if values else state.add(empty))]
        numbers = not any(isinstance(value, Ref) for value in values)
        inner = _first_inner(path)
        of_tensors = inner is not None and inner.name in TENSORS
        sized = state.opaque(name, tensor=True, origin=DECLARED, under=None) if of_tensors else state.opaque(name)
        return [(state, state.add(Items("[]", (), sized) if numbers else Items("[]", values)))]
    if last in _MAPS:
        return [(state, state.add(Table((), None, True)))]
    kept = _guard_kept(path, place)
    if kept is not None and not (values and held_guards.is_held(values[0], state)):
        if not values:
            return [(state, held_guards.empty(kept, state))]
        return held_guards.newly_kept(machine, kept, values, state, place)
    if last in _POINTERS:
        return [(state, values[0] if values else NONE)]
    if last in _NUMBERS:
        return [(state, values[0] if len(values) == 1 else state.plain())]
    if last in _CALLABLES:
        return [(state, values[0] if values else state.opaque(name))]
    if values and cpp_threads.declares_thread(path, place):
        return cpp_threads.start_thread(machine, values, state, place, f"std::{last}" if last in THREADS else last)
    if "nn" in path.path[:-1] and last == "Sequential":
        children = {str(index): value for index, value in enumerate(values) if value != NONE}
        return [(state, state.add(Instance("sequential", last, None, children)))]
    if "nn" in path.path[:-1] and torch_ops.layer(last) is not None:
        if values == (NONE,):
            return [(state, layer_calls.unknown_parameters(layer_calls.made_layer(last, (), state, place), state))]
        return [(state, layer_calls.made_layer(last, (), state, place))]
    if "optim" in path.path[:-1]:
        return [(state, state.add(Instance("optimizer", last, None, {"params": values[0] if values else NONE})))]
    if last == "TensorOptions" or ("nn" in path.path[:-1] and last.endswith("Options")):
        return [(state, state.add(Instance("options", last)))]
    cls = classes.class_named(machine, path.path, place)
    if cls is not None:
        return construct_cpp(machine, cls, values, state, place)
    reach.unknown_call(state, values)
    return [(state, state.opaque(name))]


def construct_cpp(
    machine: Interpreter, cls: ClassValue, values: tuple[Value, ...], state: State, place: Place
) -> Results:
    """An object of a class of the program; its destructor, if it has one, restores the modes that its block began with.

    That is what such destructors are for.
    """
    before = (state.modes, state.opened)
    found = _constructed(machine, cls, values, state, place)
    destructors = machine.program.functions((cls.body.name, f"~{cls.body.name}"), cls.program)
    for after, _ in found if destructors else ():
        if after.modes != before[0] or any("set_enabled" in words_in(body) for _, body in destructors):
            after.scoped = (*after.scoped, before)
    return found


def _constructed(
    machine: Interpreter, cls: ClassValue, values: tuple[Value, ...], state: State, place: Place
) -> Results:
    """Members first, then the constructor with these arguments."""
    ref = classes.instance_of(machine, cls, state, complete=True)
    inside = Place(cls.program, cls.body, state.enter_frame([("<self>", ref)]), place.span, place.calls)
    constructors = [
        (file, body)
        for file, body in machine.program.functions((cls.body.name, cls.body.name), cls.program)
        if len(body.parameters) >= len(values) >= sum(parameter.default is None for parameter in body.parameters)
    ]
    going = [state]
    aggregate = not constructors and values
    known = len(constructors) == 1 or not any(
        one.name == cls.body.name and one.has_constructors for one in cls.program.facts.classes
    )
    for index, member in enumerate(cls.body.members):
        asked, going = going, []
        for one in asked:
            if aggregate and index < len(values):
                pairs: Results = [(one, values[index])]
            elif member.default is not None and member.annotation is not None:
                default = member.default
                items = default.items if isinstance(default, Bracketed) else (default,)
                pairs = [
                    pair
                    for after, given in machine.each(items, one, inside)
                    for pair in given_type(machine, member.annotation, tuple(given), after, place, member.name, ref)
                ]
            elif member.annotation is not None and _begins(member.annotation, place, known=known):
                pairs = given_type(machine, member.annotation, (), one, place, member.name, ref)
            else:
                going.append(one)
                continue
            for after, value in pairs:
                current = after.thing(ref)
                assert isinstance(current, Instance)
                after.change(ref, attributes={**current.attributes, member.name: value})
                going.append(after)
    if len(constructors) != 1:
        if values and not aggregate:
            for one in going:
                reach.unknown_call(one, (ref, *values))
        return [(one, ref) for one in going]
    file, body = constructors[0]
    found: Results = []
    for one in going:
        frame_values = closures.bound_arguments(body, values, (), machine, one, inside)
        frame = one.enter_frame([("<self>", ref), *frame_values.items()])
        within = Place(file, body, frame, body.header, (*place.calls, (body, place.step(f"makes a `{cls.body.name}`"))))
        states = [one]
        for initialiser in body.initialisers:
            states = [last for s in states for last in _initialise(machine, initialiser, cls, s, within)]
        for s in states:
            found += [
                (outcome.state, ref) for outcome in machine.run(body.statements, s, within) if outcome.kind != "raise"
            ]
    return found


def _initialise(machine: Interpreter, initialiser: Assign, cls: ClassValue, state: State, place: Place) -> list[State]:
    """`member(value)` in front of a constructor's body: an object of the member's type; a thread begins there."""
    name = last_name(initialiser.targets[0])
    written = next((one.annotation for one in cls.body.members if one.name == name), None)
    value, found = initialiser.value, state.find("<self>", place.frame)
    if found is None or written is None or not isinstance(value, Bracketed) or is_guard(written, place):
        return [one.state for one in machine.run((initialiser,), state, place) if one.kind == "next"]
    here = place.at(initialiser.span)
    is_thread = cpp_threads.declares_thread(written, place)
    done: list[State] = []
    for after, values in machine.each(value.items, state, here):
        if is_thread:
            pairs = cpp_threads.start_thread(machine, tuple(values), after, here, "std::thread")
        elif len(values) == 1 and _is_copied(after.thing(values[0])):
            pairs = [(after, values[0])]  # a copy, or what `register_module` gives back
        else:
            pairs = made_of_type(machine, written, tuple(values), after, here, name)
        for last, made in pairs:
            owner = last.thing(found[1])
            before = owner.attributes.get(name) if isinstance(owner, Instance) else None
            if before is not None and held_guards.is_held(before, last):
                made = held_guards.replace(before, made, last)
            if not is_thread and isinstance(found[1], Ref) and isinstance(owner, Instance):
                last.change(found[1], attributes={**owner.attributes, name: made})
            done.append(last)
    return done


def _is_copied(thing: Thing | None) -> bool:
    return isinstance(thing, (Instance, Opaque, Tensor)) and not (
        isinstance(thing, Instance) and thing.kind == "options"
    )


def is_guard(written: Expression | None, place: Place) -> bool:
    path = classes.type_path(written)
    return path is not None and _guard_named(path, place) is not None


def _begins(written: Expression, place: Place, *, known: bool) -> bool:
    """Whether a member is something before a constructor gives it a value: a guard acts, a container is empty.

    A tensor isn't defined, which matters where what the constructor does is known.
    """
    path = classes.type_path(written)
    if path is None or (isinstance(written, TypeName) and written.marks):
        return is_guard(written, place)
    if is_guard(written, place) or _guard_kept(path, place) is not None or path.name in _SEQUENCES | _MAPS:
        return True
    return known and (path.name in TENSORS or _is_optional_tensor(path))


def _first_inner(path: NamePath) -> NamePath | None:
    """`T` of `std::optional<T>`, `std::vector<T>`."""
    return classes.type_path((path.template_arguments or (None,))[0])


def _is_optional_tensor(path: NamePath) -> bool:
    inner = _first_inner(path) if path.name == "optional" else None
    return inner is not None and inner.name in TENSORS


def _guard_named(path: NamePath, place: Place) -> tuple[str, Effect] | None:
    """The guard that a type is, or is another name of."""
    found = guard_of(Name(path.path), "cpp")
    alias = place.file.guard_aliases.get(path.name) if found is None else None
    return guard_of(Name((alias,)), "cpp") if alias is not None else found


def _guard_kept(path: NamePath, place: Place) -> tuple[str, Effect] | None:
    """The guard that an optional or a smart pointer of this type keeps."""
    inner = _first_inner(path) if path.name in _POINTERS else None
    return _guard_named(inner, place) if inner is not None else None


def given_type(
    machine: Interpreter,
    written: Expression,
    values: tuple[Value, ...],
    state: State,
    place: Place,
    name: str,
    ref: Ref,
) -> Results:
    """The value of a member; a guard begins to act."""
    if is_guard(written, place):
        return [(after, after.opened[-1]) for after in enter_guard(machine, written, values, state, place)]
    found = made_of_type(machine, written, values, state, place, name)
    for after, value in found:
        held_guards.begin(value, after)
    return found


def enter_guard(
    machine: Interpreter, written: Expression, values: tuple[Value, ...], state: State, place: Place
) -> list[State]:
    """A guard is declared: it acts until its block ends."""
    path = classes.type_path(written)
    assert path is not None
    guard = _guard_named(path, place)
    assert guard is not None
    given = values[0] if values else Const(True)
    sides = on_and_off(machine, given, state, place)
    for one, side in sides:
        one.scoped = (*one.scoped, (one.modes, one.opened))
        set_modes(one, made_guard(*guard, side, place))
    return [one for one, _ in sides]


def call_cpp_name(
    machine: Interpreter, name: Name, arguments: tuple[Value, ...], state: State, place: Place, written: Expression
) -> Results | None:
    """What only C++ has among the things that a name may call; None for others."""
    path, last = name.path, name.path[-1]
    if path[0] == "std" and last in ("make_tuple", "make_pair", "tie", "forward_as_tuple"):
        return [(state, state.add(Items("()", arguments)))]
    if path == ("std", "get") and arguments and isinstance(state.thing(arguments[0]), Items):
        given = written.template_arguments if isinstance(written, NamePath) else None
        index = str(given[0]) if given else ""
        element = machine.element_of(arguments[0], state, int(index) if index.isdecimal() else None, "")
        return [(state, element)]
    if path[0] == "std" and last in ("move", "forward") and arguments:
        return [(state, held_guards.move_of(arguments[0], state))]
    if path[0] == "std" and last in ("ref", "cref", "get", "addressof", "as_const") and arguments:
        return [(state, arguments[0])]
    exchanged = held_guards.exchanged(last, arguments, state) if last in ("swap", "exchange") else None
    if exchanged is not None:
        return [(state, exchanged)]
    if path[0] in ("std", "boost") and last in ("bind", "bind_front") and arguments:
        return [(state, Partial(arguments[0], arguments[1:], ()))]
    template = written.template_arguments if isinstance(written, NamePath) else None
    kept = classes.type_path(template[0]) if template and last.startswith("make_") else None
    guard = _guard_named(kept, place) if kept is not None else None
    if guard is not None:
        return held_guards.newly_kept(machine, guard, arguments, state, place)
    if last in ("make_shared", "make_unique", "make_intrusive") and template:
        return made_of_type(machine, template[0], arguments, state, place, "")
    if last == "set_enabled" and "GradMode" in path and arguments:
        on = machine.truth(state, arguments[0])
        if state.opened and state.opened[-1].name == GRAD_MODE_SETTER:
            state.opened = state.opened[:-1]
        set_modes(state, GuardValue(GRAD_MODE_SETTER, (("grad", on),), place.file.path, place.span))
        return [(state, NONE)]
    if last == "is_enabled" and "GradMode" in path:
        grad = state.modes.grad
        return [(state, Const(grad) if grad is not None else Truth(("grad mode",)))]
    if last == "is_enabled" and "InferenceMode" in path:
        inference = state.modes.inference
        return [(state, Const(inference) if inference is not None else Truth(("inference mode",)))]
    if last == "requires_grad" and path[0] in ("torch", "at"):
        flag = arguments[0] if arguments else Const(True)
        return [(state, state.add(Instance("options", "TensorOptions", None, {"requires_grad": flag})))]
    if path[0] in ("torch", "at", "c10") and last in ("dtype", "device", "layout", "TensorOptions"):
        return [(state, state.add(Instance("options", "TensorOptions")))]
    if path[0] in ("torch", "at", "c10") and last[:1].isupper():
        return made_of_type(machine, NamePath(path), arguments, state, place, "")
    return None
