"""Classes of the program: what they derive from, and what is found in them."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts.bodies import Assign, Body
from ..facts.expressions import (
    CallExpression,
    Expression,
    KeywordArgument,
    NamePath,
    TypeName,
    is_named,
    last_name,
    simple_name,
)
from ..facts.statement_walk import called_in, words_in
from .paths import Interpreter, Place
from .state import State
from .values import (
    ClassValue,
    Closure,
    GuardValue,
    Instance,
    Items,
    Name,
    Ref,
    Thing,
    Value,
)

MODULE_CLASSES = frozenset(
    (
        "torch.nn.Module",
        "torch.nn.Sequential",
        "torch.nn.ModuleList",
        "torch.nn.Cloneable",
        "torch.nn.modules.module.Module",
    )
)


MOST_ANCESTORS = 20
"""Classes that are looked at for what one derives from; of more, nothing is known."""

PLAIN_BASES = frozenset("object ABC Protocol Generic Enum NamedTuple TypedDict".split())


def bases_of(machine: Interpreter, cls: ClassValue, state: State) -> Iterator[ClassValue | Name | None]:
    """What a class derives from: classes of the program, names of libraries, None for what isn't known."""
    for base in cls.body.bases:
        if isinstance(base, KeywordArgument):
            continue
        if cls.program.language != "python":
            path = type_path(base)
            yield (
                class_named(machine, path.path, Place(cls.program, cls.body, 0, cls.body.header)) or Name(path.path)
                if path
                else None
            )
            continue
        place = Place(cls.program, cls.body, cls.frame if cls.frame is not None else -(10**9), cls.body.header)
        if place.frame not in state.frames:
            yield None
            continue
        value = machine.evaluate(base, state, place)[0][1]
        yield value if isinstance(value, (ClassValue, Name)) else None


def ancestry(machine: Interpreter, cls: ClassValue, state: State) -> Iterator[ClassValue | Name | None]:
    """A class and all that it derives from, nearest first."""
    waiting: list[ClassValue | Name | None] = [cls]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, ClassValue):
            if id(one.body) in seen:
                continue
            seen.add(id(one.body))
        if len(seen) > MOST_ANCESTORS:
            yield None
            return
        yield one
        if isinstance(one, ClassValue):
            waiting += bases_of(machine, one, state)


def find_method(machine: Interpreter, cls: ClassValue, name: str, state: State) -> Closure | None:
    found = find_in_class(machine, cls, name, state)
    return found if isinstance(found, Closure) else None


def find_in_class(machine: Interpreter, cls: ClassValue, name: str, state: State) -> Value | None:
    if cls.program.language != "python":
        return method_of(machine, cls, name)
    for one in ancestry(machine, cls, state):
        if isinstance(one, ClassValue) and one.frame is not None and one.frame in state.frames:
            found = state.frames[one.frame].get(name)
            if found is not None and not name.startswith("<"):
                return found
    return None


def kind_of_class(machine: Interpreter, cls: ClassValue, state: State) -> str:
    """`module`, `function`, `object`, or `unknown` where it derives from something that isn't known."""
    known = "object"
    for one in ancestry(machine, cls, state):
        if isinstance(one, Name):
            if one.dotted in MODULE_CLASSES:
                return "module"
            if one.dotted.endswith("autograd.Function") or one.dotted in ("torch.autograd.function.Function",):
                return "function"
            if one.path[-1] not in PLAIN_BASES:
                known = "unknown"
        elif one is None:
            known = "unknown"
    return known


def is_instance(machine: Interpreter, thing: Thing | None, asked: Value, state: State) -> bool | None:
    """Whether an object is of a class, or of one of several; None where that isn't known."""
    several = state.thing(asked)
    if isinstance(several, Items) and several.rest is None:
        each = [is_instance(machine, thing, one, state) for one in several.values]
        return True if True in each else None if None in each else False
    if not isinstance(thing, Instance) or not isinstance(asked, (Name, ClassValue)):
        return None
    if thing.cls is None:
        if not isinstance(asked, Name) or thing.kind not in ("layer", "sequential") or asked.path[0] != "torch":
            return None
        if asked.path[-1] in (thing.name, "Module"):
            return True
        return None if asked.path[-1].startswith("_") else False
    found = list(ancestry(machine, thing.cls, state))
    if isinstance(asked, ClassValue) and any(isinstance(one, ClassValue) and one.body is asked.body for one in found):
        return True
    if asked in found:
        return True
    own = all(isinstance(one, ClassValue) or (isinstance(one, Name) and one.dotted in MODULE_CLASSES) for one in found)
    return False if own and isinstance(asked, Name) and asked.path[:2] == ("torch", "nn") else None


def is_autograd_function(base: Expression) -> bool:
    """Whether a C++ class derives from this as autograd functions do: `torch::autograd::Function<Scale>`."""
    path = type_path(base)
    return path is not None and path.name == "Function" and bool(path.template_arguments)


def run_by_engine(machine: Interpreter, closure: Closure, state: State) -> tuple[GuardValue, ...]:
    """What switches recording off in `forward` and `backward` of an autograd function: PyTorch's engine.

    Of `backward` it does so unless the caller passes `create_graph=True`.
    """
    body, file = closure.body, closure.program
    if body.name not in ("forward", "backward"):
        return ()
    if file.language != "python":
        differentiates = "autograd" in words_in(body) or any(is_named(call.callee, "grad") for call in called_in(body))
        if body.name == "backward" and not differentiates:
            return ()  # whether it is differentiated itself is for those to ask who look for a lost second derivative
        found = machine.program.classes(body.qualified[:-1], file) if len(body.qualified) > 1 else []
        if not any(map(is_autograd_function, (base for _, cls in found for base in cls.bases))):
            return ()
        joined, class_ = "::", body.qualified[-2]
    else:
        owner = closure.owner
        if owner is None or kind_of_class(machine, owner, state) != "function":
            return ()
        joined, class_ = ".", owner.body.name
    return (GuardValue(f"{class_}{joined}{body.name}", (("grad", False),), file.path, body.header, is_engine=True),)


def instance_of(machine: Interpreter, cls: ClassValue, state: State, *, complete: bool) -> Ref:
    kind = kind_of_class(machine, cls, state)
    return state.add(
        Instance("object" if kind == "unknown" else kind, cls.body.name, cls, {}, complete and kind != "unknown")
    )


def type_path(written: Expression | None) -> NamePath | None:
    """The name of a type, without what qualifies it."""
    while isinstance(written, TypeName):
        written = written.name
    return written if isinstance(written, NamePath) else None


def meant_type(machine: Interpreter, written: Expression | None, place: Place) -> NamePath | None:
    """The same of what may be an alias."""
    path = type_path(written)
    return machine.program.type_meant(path, place.file) if path is not None else None


def class_named(machine: Interpreter, path: tuple[str, ...], place: Place) -> ClassValue | None:
    """The class of the program that a name means; `Net` of `TORCH_MODULE(Net)` holds a `NetImpl`."""
    for qualified in (path, (*path[:-1], path[-1] + "Impl")):
        found = machine.program.classes(qualified, place.file)
        if len(found) == 1:
            return ClassValue(found[0][1], found[0][0], None)
    return None


def method_of(machine: Interpreter, cls: ClassValue, name: str) -> Closure | None:
    """A method of a class, or of one that it derives from, of C++."""
    waiting = [cls]
    for _ in range(MOST_ANCESTORS):
        if not waiting:
            break
        one = waiting.pop(0)
        for file, body in machine.program.functions((one.body.name, name), one.program):
            return Closure(body, file, None, None, one)
        for base in one.body.bases:
            path = type_path(base)
            if path is not None:
                bases = machine.program.classes(path.path[-1:], one.program)
                waiting += [ClassValue(body, file, None) for file, body in bases]
    return None


def field_names(body: Body) -> Iterator[str]:
    """The fields of a dataclass, or a `NamedTuple`."""
    for statement in body.statements:
        if isinstance(statement, Assign) and statement.declares:
            yield simple_name(statement.targets[0])


def fill_fields(machine: Interpreter, ref: Ref, cls: ClassValue, state: State, place: Place) -> None:
    """Give an object what its dataclass's factories make: `steps: list = field(default_factory=list)`."""
    if cls.frame is None or cls.frame not in state.frames:
        return
    for statement in cls.body.statements:
        if not isinstance(statement, Assign) or not isinstance(statement.value, CallExpression):
            continue
        if last_name(statement.value.callee) != "field":
            continue
        factories = (
            one.value
            for one in statement.value.arguments
            if isinstance(one, KeywordArgument) and one.name == "default_factory"
        )
        for factory in factories:
            inside = Place(cls.program, cls.body, cls.frame, place.span)
            for after, function in machine.evaluate(factory, state, inside):
                made = machine.call_value(function, (), (), after, place, "")
                if len(made) == 1 and made[0][0] is state:
                    machine.set_attribute(ref, simple_name(statement.targets[0]), made[0][1], state, place, "")
