"""Runs all that a program's guards can reach: each module's own code, and each function as its callers may call it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from types import MappingProxyType

from ..analysis.thread_starters import may_start_threads
from ..facts import Facts
from ..facts.bodies import AnyStatement, Assign, Body, BodyKind, Evaluate, Loop
from ..facts.expressions import (
    CallExpression,
    Expression,
    KeywordArgument,
    MemberAccess,
    Operation,
    Subscript,
    last_name,
    words_of,
)
from ..facts.spans import Sorted
from ..facts.statement_walk import all_statements, called_in, words_in
from ..guards import CPP, PYTHON, Effect, GuardNames, guards_with
from . import calling, classes, closures, left_attributes, lost_parameters, model_training
from .left_attributes import LeftTensor, class_of
from .library import LOSS_METHODS
from .machine import MOST_STATES, Exhausted, Machine
from .paths import Place
from .program import File, ProjectCode
from .state import State
from .values import NONE, ClassValue, Closure, Instance, Items, Ref, Table, Tensor, Value


def run_flow(
    files: Iterable[Facts],
    instead: Mapping[str, Effect] = MappingProxyType({}),
    machine_class: type[Machine] = Machine,
) -> Machine:
    """Run the project's files; `events` of what is given back are what was shown.

    With `instead`, guards of these names have other effects, and only what reaches one of them is run.
    """
    machine = machine_class(ProjectCode(files, instead))
    run_reached(machine, set(instead))
    return machine


def run_reached(
    machine: Machine, instead: Set[str] = frozenset(), *, every: bool = False, done: Set[int] = frozenset()
) -> None:
    """Run all that guards can reach; with `every`, also what only switches recording off reaches, then all the rest.

    `done` are the bodies that have been run.
    """
    reach = reaching_guards(machine.program, instead, every=every)
    functions = [(file, owner, body) for file in machine.program.files for owner, body in functions_of(file)]
    reached = {name for _, owner, body in functions if id(body) in reach for name in names_of(owner, body)}
    for file in machine.program.files:
        if id(file.module) not in done and (every or _is_module_run(file, reached, instead)):
            machine.run_module(file)
        for owner, body in functions_of(file):
            if id(body) not in done and (id(body) in reach or (not instead and matters_unguarded(file, body))):
                run_function_of(machine, file, owner, body)
    for file, owner, body in functions if every else ():
        if id(body) not in done and id(body) not in reach and not matters_unguarded(file, body):
            run_function_of(machine, file, owner, body)
    if machine.fills_by_others:
        # Who trains what others run in inference mode need not reach a guard.
        for file, owner, body in functions:
            if id(body) not in reach and model_training.may_train(body):
                run_function_of(machine, file, owner, body)
    if machine.kept and any(model_training.may_train(body) for _, _, body in functions):
        machine.kept.are_read = True
        names = {body.name for _, _, body in functions if body in machine.kept}
        for file, owner, body in functions:
            if body not in machine.kept and not names.isdisjoint(words_in(body)):
                run_function_of(machine, file, owner, body)
        machine.kept.are_read = False
    left = machine.left.found(functions)
    for file, owner, body in functions:
        fills = _fills_of(owner, machine) if owner is not None else {}
        class_ = class_of(owner, body)
        found = {name: one for name, one in left.get(class_, {}).items() if one.by is not body and name not in fills}
        if not found.keys().isdisjoint(words_in(body)):
            run_function_of(machine, file, owner, body, found)
        if fills:
            run_function_of(machine, file, owner, body, fills)
    lost_parameters.forget_told_twice(machine)


def _is_module_run(file: File, reached: Set[str], instead: Set[str]) -> bool:
    if any(not instead or use.guard in instead for use in file.facts.guard_uses):
        return True
    return not instead and (not reached.isdisjoint(_words_of_module(file)) or matters_unguarded(file, file.module))


def run_function_of(
    machine: Machine,
    file: File,
    owner: Body | None,
    body: Body,
    filled: Mapping[str, Tensor | LeftTensor] = MappingProxyType({}),
) -> None:
    """Run a function of a file, or of a class in it, as its callers may; its object may have these attributes."""
    machine.run_function(file, body, _found(machine, file, owner, body, filled))


def _fills_of(owner: Body, machine: Machine) -> dict[str, Tensor]:
    """The attributes of a class that are inference tensors when its methods run, and autograd may record."""
    found = dict(machine.fills.get(id(owner), {}))
    for part, (class_, fills) in machine.fills_by_others.items():
        if class_ == id(owner) and part in machine.trained:
            found |= fills
    return found


def matters_unguarded(file: File, body: Body | None) -> bool:
    """Whether something can go wrong in a function, or a module, that no guard reaches."""
    if body is None:
        return False
    words = words_in(body)
    if _steps_leaves(body, words):
        return True
    if file.language != "python":
        makes_leaf = "requires_grad" in words or body.name in ("forward", "backward")
        return makes_leaf and not _DIFFERENTIATES.isdisjoint(words)
    # Of an autograd function PyTorch runs these without recording; a script may differentiate by itself.
    is_asked = body.kind is BodyKind.MODULE or body.name in ("forward", "backward")
    if not _DIFFERENTIATES.isdisjoint(words) and (is_asked or _gives(body, "requires_grad")):
        return True
    is_leaf = not _PARAMETERS.isdisjoint(words) or _gives(body, "requires_grad")
    return is_leaf and (_gives(body, "inplace") or any(map(_writes_leaf, all_statements(body.statements))))


_DIFFERENTIATES = frozenset({"grad", "backward"})
_SETS_MODE = frozenset({"GradMode", "set_enabled"})
_PARAMETERS = frozenset({"weight", "bias", "Parameter"})
_STEPS = frozenset({"backward", "grad", "parameters", "named_parameters"})


def _gives(body: Body, keyword: str) -> bool:
    """Whether a function gives something a keyword argument: `requires_grad=True` makes a leaf that can be followed."""
    return any(
        isinstance(argument, KeywordArgument) and argument.name == keyword
        for call in called_in(body)
        for argument in call.arguments
    )


def _steps_leaves(body: Body, words: Set[str]) -> bool:
    return not _STEPS.isdisjoint(words) and any(map(_steps_leaf, all_statements(body.statements)))


def _writes_parameters(owner: Body | None, body: Body, words: Set[str]) -> bool:
    """Whether a parameter of a layer, or of the function's class, is written in place: `self.codes[i] = …`."""
    of_class = owner is not None and any(not _PARAMETERS.isdisjoint(words_in(one)) for one in owner.inner)
    return (of_class or not _PARAMETERS.isdisjoint(words)) and any(
        _writes_leaf(one) and isinstance(_written_thing(one), MemberAccess) for one in all_statements(body.statements)
    )


def _written_thing(statement: AnyStatement) -> Expression | None:
    """`layer.weight` of `layer.weight[0] = …` and `layer.weight.fill_(0)`."""
    if isinstance(statement, Assign):
        target = statement.targets[0]
        return target.object if isinstance(target, Subscript) else target
    callee = getattr(statement.value, "callee", None) if isinstance(statement, Evaluate) else None
    return callee.object if isinstance(callee, MemberAccess) else None


def _steps_leaf(statement: AnyStatement) -> bool:
    """`p -= lr * p.grad`, `p.add_(p.grad)`, or any change in place in a loop over a module's parameters."""
    if isinstance(statement, Loop):
        of_module = not {"parameters", "named_parameters"}.isdisjoint(words_of(statement.iterable))
        return of_module and any(_written_in_place(one) is not None for one in all_statements(statement.block))
    return "grad" in words_of(_written_in_place(statement))


def _written_in_place(statement: AnyStatement) -> Expression | None:
    """What a statement writes something with in place: `x += 1`, `x.add_(1)`."""
    if isinstance(statement, Assign):
        return statement.value if statement.operator not in ("=", ":=") else None
    value = statement.value if isinstance(statement, Evaluate) else None
    if isinstance(value, Operation):  # as C++ has it
        return value if value.operator in ("+=", "-=", "*=", "/=") else None
    in_place = isinstance(value, CallExpression) and last_name(value.callee).endswith("_")
    return value if in_place else None


def _writes_leaf(statement: AnyStatement) -> bool:
    """Whether something is written in place: `layer.weight[0] = …`, `w.fill_(0)`, `w += 1`; of data it may be."""
    if isinstance(statement, Assign) and any(isinstance(target, Subscript) for target in statement.targets):
        return True
    written = _written_in_place(statement)
    value = statement.value if isinstance(statement, Evaluate) else None
    callee = value.callee if isinstance(value, CallExpression) else None
    is_data = isinstance(callee, MemberAccess) and last_name(callee.object) == "data"
    return written is not None and not is_data


def reaching_guards(program: ProjectCode, only: Set[str] = frozenset(), *, every: bool = False) -> set[int]:
    """The functions (by body) that contain a guard (of these names, if any), and those that name such a function.

    Guards that only switch recording off count where the file asks for gradients or starts threads, or with `every`.
    """
    naming: dict[str, list[tuple[File, Body | None, Body]]] = defaultdict(list)
    defining: Counter[str] = Counter()
    near: list[tuple[File, Body | None, Body]] = []
    every_file = [file.facts for file in program.files]
    types = {one.name for facts in every_file for one in facts.classes}
    standing = {*CPP, *PYTHON, *types, *(macro.name for facts in every_file for macro in facts.macros)}
    """What can stand for a guard: of all other names that were asked for, the file only says where they are."""
    holders: set[str] = set()
    """C++ classes that have a guard as a member: who makes an object of one is under it."""
    read = {
        file.number: [(owner, body, {body.name} | words_in(body)) for owner, body in functions_of(file)]
        for file in program.files
    }
    said = {
        file.number: _words_of_module(file).union(*(words for _, _, words in read[file.number]))
        for file in program.files
    }
    # What only switches recording off shows where gradients are asked for, or threads are started.
    asking = {number for number, words in said.items() if not _ASKING.isdisjoint(words)}
    trainers = [cls for file in program.files for cls in _classes_of(file) if any(map(_gives_loss, cls.inner))]
    bases = {last_name(base) for cls in trainers for base in cls.bases}
    for file in program.files:
        functions = read[file.number]
        for owner, body, words in functions:
            defining[body.name] += 1
            for word in words:
                naming[word].append((file, owner, body))
        tells = every or file.number in asking or any(cls.name in bases for cls in _classes_of(file))
        if file.language == "cpp":
            own = said[file.number]
            threads = bool(file.facts.parallel_blocks) or may_start_threads(own)
            tells = tells or threads or not _PARAMETERS.isdisjoint(own)
        uses = [
            use
            for use in file.facts.guard_uses
            if use.guard in (only or standing) and (only or tells or use.guard not in _ONLY_RECORDING)
        ]
        spans = Sorted(uses, lambda use: use.type_span)
        by_macros = {use.guard for use in uses if use.macro is not None}
        near += [
            (file, owner, body)
            for owner, body, words in functions
            if spans.first(body.span) is not None
            or not by_macros.isdisjoint(words)
            or (not only and (_steps_leaves(body, words) or _writes_parameters(owner, body, words)))
            or (not only and tells and words >= _SETS_MODE)
        ]
        holders |= {
            body.name
            for body in (file.bodies if file.language != "python" else ())
            if body.kind is BodyKind.CLASS and spans.first(body.span) is not None
        }
    near += [one for name in holders for one in naming.get(name, ())]
    found: set[int] = set()
    followed: set[tuple[str, int]] = set()
    for _ in range(MOST_LEVELS):
        above: list[tuple[File, Body | None, Body]] = []
        for file, owner, body in near:
            if id(body) in found:
                continue
            found.add(id(body))
            for name in names_of(owner, body):
                # Of a name that many functions have, only the file's own calls are taken for calls of this one.
                place = file.number if defining[name] > MOST_OF_ONE_NAME else -1
                if (name, place) not in followed:
                    followed.add((name, place))
                    above += [one for one in naming.get(name, ()) if place < 0 or one[0] is file]
        near = above
    return found


MOST_LEVELS = 5
"""Levels of callers above a guard whose functions are run by themselves."""
MOST_FILLED = 64
"""Where other methods fill more attributes than this, a method's object has those that it names."""
MOST_OF_ONE_NAME = 3
"""More functions of one name than this are not distinguished across files."""
_SWITCHES = guards_with(Effect.GRAD_MODE)
_ONLY_RECORDING = frozenset(name for table in (PYTHON, CPP) for name in GuardNames(table, _SWITCHES))
_ASKING = frozenset(
    "backward manual_backward grad requires_grad_ Thread Timer ThreadPoolExecutor Executor submit map run_in_executor "
    "to_thread run_in_threadpool start_new_thread ThreadPool training_step compute_loss".split()
)
"""A file without any of these words has no finding about a guard that only switches recording off."""


def _classes_of(file: File) -> list[Body]:
    """The classes of a Python file that were read."""
    inner = file.module.inner if file.module is not None else ()
    return [body for body in inner if body.kind is BodyKind.CLASS]


def _gives_loss(method: Body) -> bool:
    return method.name in LOSS_METHODS


def _words_of_module(file: File) -> frozenset[str]:
    return words_in(file.module) if file.module is not None and file.language == "python" else frozenset()


def functions_of(file: File) -> Iterator[tuple[Body | None, Body]]:
    """The functions at the top of a file and in its classes: (class, function)."""
    if file.language != "python":
        for body in file.bodies:
            if body.kind is BodyKind.FUNCTION and body.is_read:
                yield None, body
        return
    if file.module is None:
        return
    for body in file.module.inner:
        if body.kind is BodyKind.FUNCTION and body.is_read:
            yield None, body
        elif body.kind is BodyKind.CLASS:
            for inner in body.inner:
                if inner.kind is BodyKind.FUNCTION and inner.is_read:
                    yield body, inner


def _found(
    machine: Machine,
    file: File,
    owner: Body | None,
    body: Body,
    filled: Mapping[str, Tensor | LeftTensor],
) -> Callable[[State], Closure | None]:
    """What makes the function in a new state; of a method, its object's attributes may be filled already."""
    if len(filled) > MOST_FILLED:
        filled = {name: filled[name] for name in words_in(body) if name in filled}

    def closure(state: State) -> Closure | None:
        if file.language != "python":
            cls = None
            if len(body.qualified) > 1 and body.qualified[-2] != body.name:
                place = Place(file, body, 0, body.header)
                cls = classes.class_named(machine, body.qualified[:-1], place)
            if cls is None or body.is_static:
                return Closure(body, file, None)
            receiver = classes.instance_of(machine, cls, state, complete=False)
            _fill(receiver, filled, state)
            return Closure(body, file, None, receiver, cls)
        frame = machine.modules.frame(file)
        if owner is None:
            value = state.frames[frame].get(body.name)
            return value if isinstance(value, Closure) else None
        holder = state.frames[frame].get(owner.name)
        if not isinstance(holder, ClassValue) or holder.frame is None or holder.body is not owner:
            return None
        value = state.frames[holder.frame].get(body.name)
        if not isinstance(value, Closure):
            return None
        if closures.is_static(value):
            return value
        receiver = receiver_of(machine, file, holder, state, body)
        state.receiver = receiver.number
        state.receiver_class = id(holder.body), state.next
        _fill(receiver, filled, state)
        return closures.changed(value, receiver=receiver)

    return closure


def _fill(receiver: Ref, filled: Mapping[str, Tensor | LeftTensor], state: State) -> None:
    """Give an object the attributes that other methods have filled."""
    made = state.thing(receiver)
    if filled and isinstance(made, Instance):
        known = {
            name: left_attributes.filled(state, thing, name) if isinstance(thing, LeftTensor) else state.add(thing)
            for name, thing in filled.items()
            if _is_empty(made.attributes.get(name, NONE), state)
        }
        state.change(receiver, attributes={**made.attributes, **known})
        state.doubts |= {one.doubt for one in filled.values() if isinstance(one, LeftTensor)} - {""}


def _is_empty(value: Value, state: State) -> bool:
    thing = state.thing(value)
    return (
        value == NONE or thing == Items("[]", ()) or (isinstance(thing, Table) and not thing.pairs and not thing.rest)
    )


def names_of(owner: Body | None, body: Body) -> tuple[str, ...]:
    """By what others reach a function: its name, and that of the class that it makes or runs."""
    class_ = class_of(owner, body)
    called = body.name in ("__init__", "forward", "__call__", "__enter__", "operator()", class_)
    return (class_, class_.removesuffix("Impl"), body.name) if called and class_ else (body.name,)


def receiver_of(machine: Machine, file: File, cls: ClassValue, state: State, body: Body) -> Ref:
    """An object of which is known what its `__init__` does, and what no other method changes."""
    initialiser = classes.find_method(machine, cls, "__init__", state)
    if initialiser is None or body.name == "__init__":
        return classes.instance_of(machine, cls, state, complete=False)
    known = machine.receivers.get(id(cls.body))
    if known is None:
        known = machine.receivers[id(cls.body)] = _initialised(machine, file, cls, initialiser)
    made, ref = known
    begun = made.fork()
    state.frames, state.heap, state.next = begun.frames, begun.heap, begun.next
    return ref


def _initialised(machine: Machine, file: File, cls: ClassValue, initialiser: Closure) -> tuple[State, Ref]:
    state = machine.modules.state()
    ref = classes.instance_of(machine, cls, state, complete=False)
    place = Place(file, cls.body, cls.frame or 0, cls.body.header)
    arguments = tuple(
        state.opaque(parameter.name) for parameter in initialiser.body.parameters[1:] if not parameter.mark
    )
    before = dict(machine.events), dict(machine.fills), dict(machine.fills_by_others)
    begun = state.fork()
    machine.most_states = 1
    machine.begin()
    try:
        results = calling.call_closure(
            machine, closures.changed(initialiser, receiver=ref), arguments, (), state, place
        )
    except Exhausted:
        results = []
    finally:
        machine.events, machine.fills, machine.fills_by_others = before
        machine.most_states = MOST_STATES
    if not results:
        return begun.over(), ref
    after, _ = results[0]
    made = after.heap.get(ref.number)
    if not isinstance(made, Instance):
        return begun.over(), ref
    changed = set().union(*(left_attributes.changed_in(one) for one in cls.body.inner if one.name != "__init__"))
    # What may have become of it since isn't known.
    kept = {name: value for name, value in made.attributes.items() if name not in changed}
    after.heap[ref.number] = made._replace(attributes=kept, complete=False)
    layers = {
        value.number: number
        for number, thing in after.heap.items()
        if isinstance(thing, Instance) and thing.kind == "layer"
        for value in thing.attributes.values()
        if isinstance(value, Ref)
    }
    for number, thing in list(after.heap.items()):
        if isinstance(thing, Tensor):
            grad = frozenset((layers.get(number, number),)) if thing.grad else thing.grad
            after.heap[number] = thing._replace(grad=grad, inference=thing.inference or None)
    after.choices, after.doubts, after.facts = begun.choices, begun.doubts, {}
    return after.over(), ref
