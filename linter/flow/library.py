"""What code that isn't the program's own does: torch beside its ops, modules, optimizers, and Python's own library."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from guardfix import torch_ops

from ..facts.expressions import CallExpression, Expression, LambdaExpression, MemberAccess, NamePath, is_named
from . import calls, cpp_values, torch_calls
from .events import EventKind
from .guards_entered import guard_of, made_guard, opened_by, set_modes, why_unrecorded
from .paths import Place, Results
from .state import State
from .values import (
    NONE,
    NOT_REQUIRED,
    REQUIRED,
    ClassValue,
    Closure,
    Const,
    Grad,
    GuardValue,
    Instance,
    Items,
    Method,
    Modes,
    Name,
    NullContext,
    Opaque,
    Partial,
    Plain,
    Ref,
    Step,
    Table,
    Tensor,
    Truth,
    Value,
)

if TYPE_CHECKING:
    from .machine import Machine

Keywords = tuple[tuple[str, Value], ...]

BUILTINS = frozenset(
    "abs all any bool bytes callable chr classmethod dict dir divmod enumerate filter float format frozenset getattr "
    "hasattr hash id input int isinstance issubclass iter len list map max min next object open ord pow print property "
    "range repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip "
    "Exception RuntimeError ValueError TypeError KeyError NotImplementedError AssertionError StopIteration".split()
)
TRANSPARENT_DECORATORS = frozenset(
    "staticmethod classmethod property wraps cached_property abstractmethod override overload dataclass contextmanager "
    "setter getter profile record_function final".split()
)
"""What they give does what the function does."""
HARMLESS_DECORATORS = frozenset("ignore unused export lru_cache cache fixture parametrize skip skipif slow".split())
MODULE_CLASSES = frozenset(
    ("torch.nn.Module", "torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.modules.module.Module")
)
PLAIN_BASES = frozenset("object ABC Protocol Generic Enum NamedTuple TypedDict".split())
LOSS_METHODS = frozenset(("training_step", "compute_loss", "_compute_loss"))
"""Methods whose result Lightning's and Hugging Face's trainers differentiate."""

_MODEL = re.compile(
    r"(?:^|_|\b)(?:model|models|net|nets|network|module|backbone|encoder|decoder|unet|vae|policy|actor|critic|teacher|student|"
    r"generator|discriminator|classifier|clf|head|llm|transformer|embedder|extractor|predictor|detector|segmentor|"
    r"ref_model|reward_model|base_model)\d*$",
    re.IGNORECASE,
)
_RUNS = re.compile(r"^(?:forward|__call__|generate|encode|decode|embed|predict|extract|sample|get|encode_\w+|forward_\w+)$")
_MODULE_ONLY = frozenset(
    "eval train parameters named_parameters state_dict load_state_dict zero_grad children modules named_modules".split()
)


_LOSS = re.compile(r"(?:^|_|\.)(?:criterion|crit|loss|loss_fn|loss_func|loss_function|objective)\w*$", re.IGNORECASE)


def is_loss_name(shown: str) -> bool:
    """Whether what is called has a name that programs give their losses."""
    return bool(_LOSS.search(shown))


def loss_result(
    machine: Machine, shown: str, arguments: tuple[Value, ...], state: State, place: Place
) -> Ref:
    """What an unknown loss gives: it presumably saves what it compares."""
    ref = state.add(Tensor(None, NOT_REQUIRED, False))
    grad: Grad = frozenset((ref.number,))
    hazards = tuple(
        torch_calls.saving(machine, value, NONE, grad, state, place, shown)._replace(presumed=f"if `{shown}` saves it")
        for value in arguments
        if isinstance(value, Ref) and torch_calls.is_inference(value, state) and torch_calls.is_tensor(value, state)
    )
    state.change(ref, grad=grad, hazards=hazards)
    return ref


def is_model_name(shown: str) -> bool:
    """Whether what is called has a name that programs give their models."""
    parts = [part for part in re.split(r"[.\[]", shown) if part]
    if not parts:
        return False
    if parts[-1] in ("forward", "module"):
        parts = parts[:-1] or parts
    return bool(_MODEL.search(parts[-1]))


def model_result(machine: Machine, shown: str, grads: Grad, state: State, place: Place) -> Ref:
    """What a model gives where nothing is recorded: presumably new tensors, perhaps in an object or a tuple."""
    off = why_unrecorded(state)
    unrecorded = ()
    if off is not None:
        unrecorded = (
            Step(off.path, off.span, f"`{off.name}` begins: nothing is recorded"),
            place.step(f"`{shown}` runs, and records nothing"),
        )
    return torch_calls.new_tensor(
        state,
        place,
        f"`{shown}`",
        presumed=f"if `{shown}` returns a new tensor",
        open_=True,
        leaf=False,
        unrecorded=unrecorded,
    )


def presume_tensor(value: Value, shown: str, state: State) -> None:
    """What a function that is called as a model is gives: presumably tensors, where it computes with what it is given."""
    tensor = state.tensor(value)
    if tensor is not None and not tensor.shown and isinstance(value, Ref):
        state.change(value, shown=True, presumed=f"if `{shown}` returns a tensor")


# -- forms that aren't values


def special_form(machine: Machine, expression: CallExpression, state: State, place: Place) -> Results | None:
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


def _super_call(
    machine: Machine,
    owner: ClassValue,
    receiver: Value,
    name: str,
    arguments: tuple[Value, ...],
    state: State,
    place: Place,
) -> Results:
    for one in calls.ancestry(machine, owner, state):
        if one is owner:
            continue
        if isinstance(one, ClassValue) and one.frame is not None and one.frame in state.frames:
            found = state.frames[one.frame].get(name)
            if isinstance(found, Closure):
                bound = calls._with(found, receiver=receiver)
                return calls.call_closure(machine, bound, arguments, (), state, place)
        if one is None:
            break
        if isinstance(one, Name) and one.dotted in MODULE_CLASSES | {"torch.nn.Module"}:
            return [(state, NONE)]
    if name in ("__init__", "__init_subclass__"):
        return [(state, NONE)]
    calls.unknown_call(state, arguments)
    return [(state, state.opaque(name))]


# -- names


def call_name(
    machine: Machine,
    name: Name,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
    written: Expression | None = None,
) -> Results:
    """Call what an imported name stands for."""
    if place.file.language != "python":
        return _call_cpp_name(machine, name, arguments, state, place, written or NamePath(name.path))
    guard = guard_of(name, place.file.language)
    if guard is not None:
        return call_guard(machine, guard, arguments, keywords, state, place)
    path = name.path
    if path[0] == "builtins":
        return _builtin(machine, path[1], arguments, keywords, state, place)
    if path[0] == "torch":
        return _torch(machine, name, arguments, keywords, state, place)
    last = path[-1]
    if last in ("nullcontext", "suppress"):
        return [(state, NullContext(arguments[0] if arguments and last == "nullcontext" else None))]
    if last in ("ExitStack", "AsyncExitStack"):
        return [(state, state.add(Instance("stack", last)))]
    if last == "partial" and arguments:
        return [(state, Partial(arguments[0], arguments[1:], keywords))]
    if last in ("deepcopy", "copy") and path[0] == "copy" and arguments:
        thing = state.thing(arguments[0])
        if isinstance(thing, Tensor) and last == "deepcopy":
            made = torch_calls.new_tensor(state, place, "`deepcopy`", grad=thing.grad, leaf=True)
            return [(state, made)]
        if isinstance(thing, Tensor):
            return [(state, arguments[0])]
        return [(state, state.opaque(torch_calls.called(arguments[0], state)))]
    if path[0] in ("math", "os", "sys", "time", "json", "random", "re", "logging", "warnings", "numpy", "np", "pathlib"):
        return [(state, state.opaque(last, tensor=False))]
    values = (*arguments, *(value for _, value in keywords))
    if is_model_name(last) and False:
        return []
    return [(calls.unknown_call(state, values), state.opaque(origin=name.dotted))]


def _call_cpp_name(
    machine: Machine, name: Name, arguments: tuple[Value, ...], state: State, place: Place, written: Expression
) -> Results:
    if guard_of(name, "cpp") is not None:
        return [(state, state.plain())]  # a temporary: it is gone at the end of the expression
    known = cpp_values.call_name(machine, name, arguments, state, place, written)
    if known is not None:
        return known
    path = name.path
    rows = torch_ops.cpp("::".join(path))
    if rows:
        return torch_calls.apply(machine, rows, arguments, (), state, place, path[-1])
    if path[0] in ("torch", "at", "c10"):
        return _torch(machine, Name(("torch", *path[1:])), arguments, (), state, place)
    if path[0] == "std":
        return [(state, state.opaque(origin="::".join(path)))]
    return [(calls.unknown_call(state, arguments), state.opaque(origin="::".join(path)))]


def call_guard(
    machine: Machine,
    guard: tuple[str, object],
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
) -> Results:
    """Make a guard: `torch.inference_mode(flag)`; a flag that isn't known is either."""
    name, effect = guard
    if arguments and isinstance(arguments[0], Closure):  # `torch.no_grad(function)`, `inference_mode(function)`
        made = made_guard(name, effect, True, place)  # type: ignore[arg-type]
        return calls.apply_decorator(machine, made, arguments[0], state, place)
    given = arguments[0] if arguments else next((value for key, value in keywords if key in ("mode", "enabled")), None)
    on = True if given is None else machine.truth(state, given)
    found: Results = []
    sides: list[tuple[State, bool]]
    if on is not None:
        sides = [(state, on)]
    else:
        other = state.fork()
        sides = []
        assert given is not None
        for one, side in ((state, True), (other, False)):
            assumed = machine.assume(one, given, side)
            if assumed is not None:
                assumed.doubts |= {"a condition decides whether the guard is on"}
                assumed.choices |= {(given.key if isinstance(given, Truth) else ("flag", place.file.path, place.span), side)}
                sides.append((assumed, side))
    for one, side in sides:
        made = made_guard(name, effect, side, place)  # type: ignore[arg-type]
        if name == "set_grad_enabled":
            set_modes(one, made)
        found.append((one, made))
    return found


def _builtin(
    machine: Machine, name: str, arguments: tuple[Value, ...], keywords: Keywords, state: State, place: Place
) -> Results:
    first = arguments[0] if arguments else NONE
    thing = state.thing(first)
    if name in ("list", "tuple", "sorted", "reversed", "set", "iter", "dict"):
        if isinstance(thing, (Items, Table)):
            return [(state, state.add(thing._replace(kind="[]") if isinstance(thing, Items) else thing))]
        if not arguments:
            if name == "dict":
                return [(state, state.add(Table(tuple((Const(key), value) for key, value in keywords))))]
            return [(state, state.add(Items("[]", ())))]
        return [(state, state.add(Items("[]", (), calls.element_of(machine, first, state, None, ""))))]
    if name == "enumerate":
        if isinstance(thing, Items) and thing.rest is None:
            pairs = tuple(
                state.add(Items("()", (Const(float(index)), value))) for index, value in enumerate(thing.values)
            )
            return [(state, state.add(Items("[]", pairs)))]
        element = calls.element_of(machine, first, state, None, "")
        return [(state, state.add(Items("[]", (), state.add(Items("()", (state.plain(), element))))))]
    if name == "zip":
        elements = tuple(calls.element_of(machine, value, state, None, "") for value in arguments)
        return [(state, state.add(Items("[]", (), state.add(Items("()", elements)))))]
    if name == "range":
        return [(state, state.add(Items("[]", (), state.plain())))]
    if name == "next":
        return [(state, calls.element_of(machine, first, state, None, ""))]
    if name == "getattr" and len(arguments) >= 2 and isinstance(arguments[1], Const):
        return calls.attribute(machine, first, str(arguments[1].value), state, place, torch_calls.called(first, state))
    if name == "setattr" and len(arguments) == 3 and isinstance(arguments[1], Const):
        going = calls.set_attribute(machine, first, str(arguments[1].value), arguments[2], state, place, "")
        return [(one, NONE) for one in going]
    if name == "hasattr" and len(arguments) == 2 and isinstance(arguments[1], Const):
        attribute = str(arguments[1].value)
        if isinstance(thing, Instance):
            if attribute in thing.attributes:
                return [(state, Const(True))]
            if thing.complete and (thing.cls is None or calls.find_in_class(machine, thing.cls, attribute, state) is None):
                return [(state, Const(False))]
        return [(state, Truth(("hasattr", first, attribute)))]
    if name == "isinstance":
        return [(state, Truth(("isinstance", *arguments)))]
    if name in ("len", "int", "float", "str", "bool", "id", "hash", "repr", "round"):
        if isinstance(thing, Items) and thing.rest is None and name == "len":
            return [(state, Const(float(len(thing.values))))]
        if isinstance(first, Const) and name == "float" and isinstance(first.value, (int, float)):
            return [(state, first)]
        return [(state, Plain(first.number) if isinstance(first, Plain) and name in ("int", "float") else state.plain())]
    if name == "sum" and arguments:
        element = calls.element_of(machine, first, state, None, "")
        if torch_calls.is_tensor(element, state):
            return torch_calls.apply(
                machine, torch_ops.operator("+"), (element, element), (), state, place, "sum"
            )
        return [(state, state.opaque())]
    if name in ("abs", "min", "max", "pow") and torch_calls.is_tensor(first, state):
        rows = torch_ops.method(name)
        return torch_calls.apply(machine, rows, arguments, keywords, state, place, name)
    if name in ("print", "type", "callable", "format", "any", "all", "input", "open", "ord", "chr", "issubclass", "object"):
        return [(state, state.plain())]
    if name == "map" and len(arguments) == 2:
        element = calls.element_of(machine, arguments[1], state, None, "")
        return [
            (after, after.add(Items("[]", (), value)))
            for after, value in calls.call_value(machine, first, (element,), (), state, place, "")
        ]
    return [(calls.unknown_call(state, arguments), state.opaque())]


_NO_EFFECT = frozenset(
    "torch.manual_seed torch.cuda.synchronize torch.cuda.empty_cache torch.set_num_threads torch.cuda.manual_seed_all "
    "torch.cuda.is_available torch.backends.cudnn torch.set_default_dtype torch.device torch.Size torch.cuda.device_count "
    "torch.autograd.set_detect_anomaly torch.set_printoptions torch.get_default_dtype torch.cuda.manual_seed torch.save "
    "torch.is_tensor torch.cuda.current_device torch.distributed.barrier torch.distributed.get_rank torch.numel "
    "torch.distributed.get_world_size torch.set_float32_matmul_precision torch.Generator".split()
)


def _torch(
    machine: Machine, name: Name, arguments: tuple[Value, ...], keywords: Keywords, state: State, place: Place
) -> Results:
    dotted, path = name.dotted, name.path
    if dotted in _NO_EFFECT:
        return [(state, state.plain())]
    if dotted == "torch.is_grad_enabled":
        grad = state.modes.grad
        return [(state, Const(grad) if grad is not None else Truth(("grad mode",)))]
    if dotted == "torch.is_inference_mode_enabled":
        inference = state.modes.inference
        return [(state, Const(inference) if inference is not None else Truth(("inference mode",)))]
    if dotted in ("torch.is_inference",) and arguments:
        return [(state, inference_truth(arguments[0], state))]
    if dotted in ("torch.autograd.grad", "torch.autograd.backward") and arguments:
        if isinstance(arguments[0], Ref) and state.tensor(arguments[0]) is not None:
            state.change(arguments[0], shown=True)
        done = torch_calls.differentiate(machine, arguments[0], state, place, path[-1])
        return [(state, state.add(Items("()", (), state.opaque(tensor=True))))] if done else []
    if dotted in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
        return _parameter(machine, arguments, keywords, state, place)
    if path[:3] == ("torch", "nn", "init") and arguments:
        if isinstance(arguments[0], Ref) and state.tensor(arguments[0]) is not None:
            modes = state.modes
            state.modes = modes._replace(grad=False)
            done = torch_calls.write(machine, arguments[0], state, place, path[-1])
            state.modes = modes
            return [(state, arguments[0])] if done else []
        return [(state, arguments[0])]
    if path[:2] == ("torch", "optim"):
        return [(state, state.add(Instance("optimizer", path[-1], None, {"params": arguments[0] if arguments else NONE})))]
    if dotted in ("torch.nn.Sequential", "torch.nn.ModuleList"):
        items = arguments
        if dotted.endswith("List") and arguments:
            thing = state.thing(arguments[0])
            items = (*thing.values, *([thing.rest] if thing.rest is not None else [])) if isinstance(thing, Items) else ()
        children = {str(index): value for index, value in enumerate(items)}
        return [(state, state.add(Instance("sequential", path[-1], None, children)))]
    if path[:2] == ("torch", "nn") and len(path) == 3 and path[2][:1].isupper():
        return [(state, layer(path[2], keywords, state, place))]
    if dotted in ("torch.load", "torch.jit.load", "torch.hub.load"):
        if dotted == "torch.load":
            return [(state, state.opaque(origin=dotted))]
        return [(state, state.opaque("the loaded model", module=True))]
    if path[:2] in (("torch", "autocast"), ("torch", "profiler")) or path[-1] in ("autocast", "record_function", "profile"):
        return [(state, NullContext())]
    if dotted in ("torch.compile", "torch.jit.script", "torch.nn.DataParallel") and arguments:
        return [(state, arguments[0])]
    if dotted in ("torch.jit.trace", "torch.jit.freeze"):
        return [(state, state.opaque("the compiled model", module=True))]
    if dotted.startswith(("torch.func.", "torch.autograd.functional.", "torch.vmap")) or dotted in (
        "torch.utils.checkpoint.checkpoint",
    ):
        return [(state, state.opaque(origin=dotted))]
    spelled = ".".join(path[1:])
    rows = torch_ops.function(spelled)
    if rows:
        return torch_calls.apply(machine, rows, arguments, keywords, state, place, path[-1])
    values = (*arguments, *(value for _, value in keywords))
    return [(calls.unknown_call(state, values), state.opaque(origin=dotted))]


def inference_truth(value: Value, state: State) -> Value:
    known = torch_calls.is_inference(value, state)
    return Const(known) if known is not None else Truth(("inference", value))


def _parameter(
    machine: Machine, arguments: tuple[Value, ...], keywords: Keywords, state: State, place: Place
) -> Results:
    flag = dict(keywords).get("requires_grad", arguments[1] if len(arguments) > 1 else Const(True))
    if not arguments:
        return [(state, torch_calls.new_tensor(state, place, "`Parameter`", grad=REQUIRED, leaf=True))]
    first = arguments[0]
    if not isinstance(first, Ref) or not torch_calls.may_be_tensor(first, state):
        return [(state, state.add(Tensor(None, REQUIRED, True)))]
    made = torch_calls.alias(state, first, grad=NOT_REQUIRED)
    name = torch_calls.called(first, state)
    state.change(made, name=name)
    if not torch_calls.require_grad(machine, made, flag, state, place, "Parameter"):
        return []
    tensor = state.tensor(made)
    assert tensor is not None
    state.change(made, name="", hazards=(), unrecorded=())
    return [(state, made)]


def layer(name: str, keywords: Keywords, state: State, place: Place) -> Ref:
    """A layer of `torch.nn`, with its parameters."""
    row = torch_ops.layer(name)
    attributes: dict[str, Value] = {}
    if row is None:
        return state.add(Opaque(name, None, True))
    if row.parameters:
        for parameter in ("weight", "bias"):
            made = torch_calls.new_tensor(state, place, f"`{name}`", grad=REQUIRED, leaf=True)
            attributes[parameter] = made
        if dict(keywords).get("bias") == Const(False):
            attributes["bias"] = NONE
    return state.add(Instance("layer", name, None, attributes))


# -- objects


def call_instance(
    machine: Machine,
    ref: Value,
    thing: Instance,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
    shown: str,
) -> Results:
    """Call an object: a module runs its `forward`."""
    assert isinstance(ref, Ref)
    if thing.cls is not None:
        names = ("__call__", "forward") if thing.kind == "module" else ("__call__", "operator()")
        for name in names:
            method = calls.find_method(machine, thing.cls, name, state)
            if method is not None:
                bound = calls._with(method, receiver=ref)
                return calls.call_closure(machine, bound, arguments, keywords, state, place)
    if thing.kind == "layer":
        return _call_layer(machine, thing, arguments, state, place)
    if thing.kind == "sequential":
        results: Results = [(state, arguments[0] if arguments else NONE)]
        for child in thing.attributes.values():
            results = [
                pair
                for one, value in results
                for pair in calls.call_value(machine, child, (value,), (), one, place, shown)
            ]
        return results
    if thing.kind == "module" and state.modes.records is False and arguments:
        calls.unknown_call(state, arguments)
        return [(state, model_result(machine, shown or thing.name, NOT_REQUIRED, state, place))]
    return [(calls.unknown_call(state, arguments), state.opaque(origin=shown))]


def _call_layer(
    machine: Machine, thing: Instance, arguments: tuple[Value, ...], state: State, place: Place
) -> Results:
    """What a layer gives: its parameters and its input are saved as its row says."""
    row = torch_ops.layer(thing.name)
    if not arguments or row is None:
        return [(state, state.opaque())]
    value = arguments[0]
    parameters = [p for p in thing.attributes.values() if isinstance(p, Ref) and state.tensor(p) is not None]
    spelled = {"Linear": "nn.functional.linear"}.get(thing.name, "")
    if spelled and parameters:
        given = (value, thing.attributes["weight"], thing.attributes.get("bias", NONE))
        return torch_calls.apply(machine, torch_ops.function(spelled), given, (), state, place, thing.name)
    if not isinstance(value, Ref) or not torch_calls.may_be_tensor(value, state):
        return [(state, state.opaque())]
    own: Grad = frozenset().union(*(state.grad_of(parameter) for parameter in parameters))
    hazards = ()
    records = state.modes.records
    if torch_calls.is_inference(value, state) and row.saves_input and own and records is not False:
        hazard = torch_calls.saving(machine, value, parameters[0], own, state, place, thing.name)
        if 0 in own and records:
            torch_calls.machine_report(machine, hazard, state, place)
            if not torch_calls.cured(value, state):
                return []
        hazards = (hazard,)
    grad = own | state.grad_of(value)
    if records is False:
        off = why_unrecorded(state)
        steps = (Step(off.path, off.span, f"`{off.name}` begins: nothing is recorded"),) if off is not None else ()
        return [(state, torch_calls.new_tensor(state, place, f"`{thing.name}`", unrecorded=steps if grad else ()))]
    if row.result == "maybe":
        made = torch_calls.alias(state, value, grad=grad)
        tensor = state.tensor(made)
        if tensor is not None and tensor.inference is not state.modes.inference:
            state.change(made, inference=None)
        return [(state, made)]
    inherited = torch_calls._hazards_of(value, state)
    return [(state, torch_calls.new_tensor(state, place, f"`{thing.name}`", grad=grad, hazards=(*inherited, *hazards)))]


_SELF = frozenset("eval train to cuda cpu half float double bfloat16 requires_grad_ type apply compile".split())


def parameters_of(ref: Value, state: State, seen: frozenset[int] = frozenset()) -> list[Ref] | None:
    """The parameters of a module; None where not all of it is known."""
    thing = state.thing(ref)
    if not isinstance(ref, Ref) or ref.number in seen:
        return []
    if isinstance(thing, Tensor):
        return [ref] if thing.grad and thing.leaf else []
    if isinstance(thing, Instance) and thing.kind in ("layer", "sequential", "module"):
        if not thing.complete:
            return None
        found: list[Ref] = []
        for value in thing.attributes.values():
            inner = parameters_of(value, state, seen | {ref.number})
            if inner is None:
                return None
            found += inner
        return found
    return [] if not isinstance(thing, Opaque) else None


def call_instance_method(
    machine: Machine,
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
        method = calls.find_in_class(machine, thing.cls, name, state)
        if isinstance(method, Closure):
            static = calls.is_static(method)
            bound = method if static else calls._with(method, receiver=ref)
            return calls.call_closure(machine, bound, arguments, keywords, state, place)
    if name in ("get", "ptr", "value", "operator*") and not arguments and place.file.language != "python":
        return [(state, ref)]
    if name in thing.attributes:
        return calls.call_value(
            machine, thing.attributes[name], arguments, keywords, state, place, f"{shown}.{name}"
        )
    if thing.kind == "stack":
        if name == "enter_context" and arguments:
            if isinstance(arguments[0], GuardValue):
                set_modes(state, arguments[0])
            return [(state, NONE)]
        return [(state, NONE)]
    if thing.kind in ("module", "layer", "sequential"):
        if name in ("requires_grad_", "train", "eval") or name in _SELF:
            if name == "requires_grad_":
                flag = arguments[0] if arguments else Const(True)
                for parameter in parameters_of(ref, state) or ():
                    if not torch_calls.require_grad(machine, parameter, flag, state, place, name):
                        return []
            if name in ("train", "eval"):
                mode = Const(name == "train") if not arguments else arguments[0]
                state.change(ref, attributes={**thing.attributes, "training": mode})
            return [(state, ref)]
        if name in ("parameters", "buffers"):
            known = parameters_of(ref, state)
            return [(state, state.add(Items("[]", tuple(known))) if known is not None else state.opaque(name))]
        if name == "register_module" and len(arguments) >= 2:
            return [(state, arguments[1])]
        if name in ("register_buffer", "register_parameter") and len(arguments) >= 2 and isinstance(arguments[0], Const):
            given = arguments[1]
            if name == "register_parameter" and isinstance(given, Ref) and state.tensor(given) is not None:
                if not torch_calls.require_grad(machine, given, Const(True), state, place, name):
                    return []
            going = calls.set_attribute(machine, ref, str(arguments[0].value), given, state, place, shown)
            return [(one, given) for one in going]
        if name in ("zero_grad", "named_parameters", "state_dict", "modules", "children", "named_modules", "extra_repr"):
            return [(state, state.opaque(name, tensor=False))]
        if name == "load_state_dict":
            modes = state.modes
            state.modes = modes._replace(grad=False)
            for parameter in parameters_of(ref, state) or ():
                if not torch_calls.write(machine, parameter, state, place, name):
                    return []
            state.modes = modes
            return [(state, NONE)]
        if name in ("forward", "__call__"):
            return call_instance(machine, ref, thing, arguments, keywords, state, place, shown)
        if name == "append" and thing.kind == "sequential" and arguments:
            state.change(ref, attributes={**thing.attributes, str(len(thing.attributes)): arguments[0]})
            return [(state, ref)]
        if name == "__getitem__":
            index = arguments[0] if arguments else NONE
            key = str(int(index.value)) if isinstance(index, Const) and isinstance(index.value, float) else ""
            return [(state, thing.attributes.get(key) or state.opaque(f"{shown}[]"))]
    if thing.kind == "optimizer":
        if name == "step":
            step_taken(machine, "optimizer", state, place)
        if name == "step" and arguments and isinstance(arguments[0], Closure):
            modes, opened = state.modes, state.opened
            if state.modes.inference is False:
                state.modes = state.modes._replace(grad=True)
            results = calls.call_closure(machine, arguments[0], (), (), state, place)
            for after, _ in results:
                after.modes, after.opened = modes, opened
            return results
        return [(state, NONE)]
    if thing.kind == "options":
        if name == "requires_grad":
            state.change(ref, attributes={"requires_grad": arguments[0] if arguments else Const(True)})
        return [(state, ref)]
    if thing.kind == "context" and name == "save_for_backward":
        for saved in arguments:
            for one in torch_calls._tensors(saved, state):
                tensor = state.tensor(one)
                if tensor is not None and tensor.inference is True and state.modes.inference is False and tensor.shown:
                    hazard = torch_calls.saving(machine, one, NONE, REQUIRED, state, place, name)
                    torch_calls.machine_report(machine, hazard, state, place)
                    if not torch_calls.cured(one, state):
                        return []
        return [(state, NONE)]
    if thing.kind == "context":  # `ctx` of an autograd.Function
        return [(state, state.opaque(name))]
    values = (*arguments, *(value for _, value in keywords))
    if thing.kind == "object" and thing.complete and thing.cls is not None:
        calls.unknown_call(state, values)
        return [(state, state.opaque(origin=name))]
    calls.unknown_call(state, (ref, *values))
    return [(state, state.opaque(origin=name))]


def call_class_method(
    machine: Machine, cls: ClassValue, name: str, arguments: tuple[Value, ...], state: State, place: Place
) -> Results:
    """`Function.apply(…)`: its `forward` runs without recording; what it gives is recorded around it."""
    method = calls.find_method(machine, cls, "forward", state)
    if name != "apply" or method is None:
        return [(calls.unknown_call(state, arguments), state.opaque(origin=name))]
    modes, opened = state.modes, state.opened
    grads: Grad = frozenset().union(*(state.grad_of(argument) for argument in arguments)) if arguments else NOT_REQUIRED
    state.modes = modes._replace(grad=False)
    context = state.add(Instance("context", "ctx"))
    takes_context = not method.body.parameters or len(method.body.parameters) > len(arguments) or (
        method.body.parameters[0].name == "ctx"
    )
    given = (context, *arguments) if takes_context else arguments
    found: Results = []
    for after, value in calls.call_closure(machine, calls._with(method, receiver=None), given, (), state, place):
        after.modes, after.opened = modes, opened
        tensor = after.tensor(value)
        if tensor is not None and isinstance(value, Ref) and modes.records and value.number not in {
            argument.number for argument in arguments if isinstance(argument, Ref)
        }:
            if tensor.inference is True and modes.inference is False and grads:
                machine.report(
                    EventKind.INFERENCE_RESULT,
                    after,
                    place,
                    variable=tensor.name,
                    what="`forward` gives back an inference tensor: it gets no gradient",
                    steps=(*tensor.made, place.step(f"`{cls.body.name}.forward` gives it back")),
                    guard=tensor.guard,
                    presumed=tensor.presumed,
                    at=(tensor.guard.path, tensor.guard.span) if tensor.guard is not None else None,
                )
            after.change(value, grad=grads, hazards=(), leaf=False, unrecorded=())
        found.append((after, value))
    return found


def instance_attribute(
    machine: Machine, holder: Value, thing: Instance, name: str, state: State, place: Place, shown: str
) -> Results:
    assert isinstance(holder, Ref)
    known = thing.attributes.get(name)
    if known is not None:
        return [(state, known)]
    if thing.cls is not None:
        found = calls.find_in_class(machine, thing.cls, name, state)
        if isinstance(found, Closure):
            bound = found if calls.is_static(found) else calls._with(found, receiver=holder)
            if calls.is_property(found):
                return calls.call_closure(machine, bound, (), (), state, place)
            return [(state, bound)]
        if found is not None:
            return [(state, found)]
        if place.file.language != "python":
            return [(state, cpp_values.member_of(machine, holder, thing, name, state, place))]
    if thing.kind == "module" and name == "training":
        value: Value = Truth(("training", holder))
    elif thing.kind == "context" and name in ("saved_tensors", "saved_variables"):
        value = state.add(Items("()", (), state.opaque(tensor=True)))
    else:
        value = state.opaque(f"{shown}.{name}" if shown else name)
    state.change(holder, attributes={**thing.attributes, name: value})
    return [(state, value)]


# -- tensors


def call_tensor_method(
    machine: Machine,
    ref: Ref,
    thing: Tensor,
    name: str,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
) -> Results:
    if thing.open and not torch_ops.method(name) and name not in _TENSOR_METHODS:
        # An object that a model gave back: `outputs.keys()`, `result.to_tuple()`.
        return [(state, state.opaque(name))]
    if torch_ops.only_tensors_have(name):
        if not thing.shown or thing.open:
            state.change(ref, shown=True, open=False)
    if name == "backward":
        done = torch_calls.differentiate(machine, ref, state, place, "backward")
        return [(state, NONE)] if done else []
    if name in ("requires_grad_", "set_requires_grad"):
        flag = arguments[0] if arguments else dict(keywords).get("requires_grad", Const(True))
        return [(state, ref)] if torch_calls.require_grad(machine, ref, flag, state, place, name) else []
    if name == "is_inference":
        return [(state, inference_truth(ref, state))]
    if name == "set_" or name == "set_data":
        done = torch_calls.set_data(machine, ref, arguments[0] if arguments else NONE, state, place)
        return [(state, ref)] if done else []
    if name in ("tolist", "item", "numpy"):
        return [(state, state.opaque(name, tensor=False) if name != "item" else state.plain())]
    if name in ("detach", "detach_"):
        return [(state, detached(ref, state))]
    if name in ("retain_grad", "register_hook"):
        return [(state, state.plain())]
    rows = torch_ops.method(name)
    if not rows:
        return [(state, state.opaque(name))]
    return torch_calls.apply(machine, rows, (ref, *arguments), keywords, state, place, name, shown=thing.shown)


_TENSOR_METHODS = frozenset("backward requires_grad_ is_inference set_ set_data tolist item numpy detach detach_".split())


def step_taken(machine: Machine, shown: str, state: State, place: Place) -> None:
    """An optimizer's step: what it creates in inference mode are inference tensors."""
    if state.modes.inference:
        machine.report(
            EventKind.BACKWARD_IN_INFERENCE,
            state,
            place,
            variable=shown,
            what="the state that it makes are inference tensors",
            steps=(place.step(f"`{shown}.step` runs in inference mode"),),
            guard=opened_by(state, "inference"),
        )


def call_opaque_method(
    machine: Machine,
    ref: Ref,
    thing: Opaque,
    name: str,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
    shown: str,
) -> Results:
    """A method of something unknown: a tensor's, a module's, or anyone's."""
    if name in _MODULE_ONLY and not thing.tensor:
        state.change(ref, module=True)
        return [(state, ref if name in ("eval", "train") else state.opaque(name))]
    if name in ("backward", "manual_backward") and arguments and torch_calls.may_be_tensor(arguments[0], state):
        if thing.tensor is not True and isinstance(state.thing(arguments[0]), Tensor):
            # `accelerator.backward(loss)`, `self.manual_backward(loss)`, `scaler.scale(loss)` …
            done = torch_calls.differentiate(machine, arguments[0], state, place, name)
            return [(state, NONE)] if done else []
    if name == "step" and re.search(r"(?:^|_|\.)(?:optim|optimizer|opt)\w*$", shown):
        step_taken(machine, shown, state, place)
        return [(state, state.plain())]
    if name == "scale" and len(arguments) == 1 and isinstance(state.thing(arguments[0]), Tensor):
        return [(state, arguments[0])]
    is_tensor = thing.tensor is True
    if not thing.module and (is_tensor or torch_ops.only_tensors_have(name)):
        if name == "backward":
            return [(state, NONE)]
        if name == "requires_grad_":
            truth = machine.truth(state, arguments[0] if arguments else Const(True))
            grad = REQUIRED if truth else NOT_REQUIRED if truth is False else frozenset((ref.number,))
            state.heap[ref.number] = Tensor(None, grad, True, name=thing.name)
            return [(state, ref)]
        if name in ("detach", "detach_"):
            return [(state, detached(ref, state))]
        if name == "is_inference":
            return [(state, Truth(("inference", ref)))]
        rows = torch_ops.method(name)
        if rows:
            state.change(ref, tensor=True)
            return torch_calls.apply(machine, rows, (ref, *arguments), keywords, state, place, name)
        return [(state, state.opaque(name))]
    if name in ("item", "tolist", "numpy", "size", "dim", "numel", "keys", "strip", "lower", "format"):
        return [(state, state.opaque(name, tensor=False))]
    if name in ("to", "cuda", "cpu", "half", "float", "double") and thing.module:
        return [(state, ref)]
    dotted = f"{shown}.{name}" if shown else name
    known = thing.attributes.get(name)
    if isinstance(known, (Closure, Partial)):
        return calls.call_value(machine, known, arguments, keywords, state, place, dotted)
    values = (*arguments, *(value for _, value in keywords))
    model = (thing.module or is_model_name(shown)) and _RUNS.match(name) is not None
    if (model or is_model_name(dotted)) and values and state.modes.records is False:
        calls.unknown_call(state, values)
        made = model_result(machine, dotted, NOT_REQUIRED, state, place)
        if name not in ("forward", "__call__") and not is_model_name(dotted):
            state.change(made, shown=False)
        return [(state, made)]
    calls.unknown_call(state, (ref, *values))
    return [(state, state.opaque(origin=dotted))]


def tensor_attribute(ref: Ref, thing: Tensor, name: str, state: State, place: Place) -> Value:
    if thing.open and name not in torch_ops.TENSOR_PROPERTIES and not torch_ops.method(name):
        made = state.add(thing._replace(name=""))
        return made
    if name == "requires_grad":
        if not thing.grad:
            return Const(False)
        return Const(True) if thing.grad == REQUIRED else Truth(("requires grad", ref))
    return tensor_property(ref, name, state)


def detached(ref: Ref, state: State) -> Ref:
    """`detach()` and `.data`: of an inference tensor, outside the mode, one that has a counter."""
    made = torch_calls.alias(state, ref, grad=NOT_REQUIRED)
    state.change(made, counted=state.modes.inference is not True)
    return made


def tensor_property(ref: Ref, name: str, state: State) -> Value:
    """What reading an attribute of a tensor gives."""
    kind = torch_ops.TENSOR_PROPERTIES.get(name)
    if name == "data":
        return detached(ref, state)
    if name == "grad":
        return state.opaque("grad")
    if kind in ("view", "alias"):
        return torch_calls.alias(state, ref, view=True)
    if torch_ops.method(name):
        return Method(ref, name)
    return state.plain()


def tensor_element(
    machine: Machine, ref: Ref, thing: Tensor, indices: tuple[Value, ...], state: State, place: Place
) -> Value:
    """`t[i]`: a view where only numbers, slices, None and dots index, a new tensor where a tensor does."""
    if thing.open and any(isinstance(i, Const) and isinstance(i.value, str) for i in indices):
        return state.add(thing._replace(name=""))
    grad = thing.grad if state.modes.records is not False else NOT_REQUIRED
    plain = True
    for index in indices:
        inner = state.thing(index)
        if isinstance(inner, Tensor) or (isinstance(inner, Items) and inner.kind != "slice"):
            return torch_calls.new_tensor(
                state, place, "indexing", grad=grad, hazards=thing.hazards, presumed=thing.presumed, shown=thing.shown
            )
        if isinstance(inner, Opaque):
            plain = False
    made = torch_calls.alias(state, ref, grad=grad, view=True)
    if not plain and thing.inference is not state.modes.inference:
        state.change(made, inference=None)
    return made


# -- containers


def call_container_method(
    machine: Machine,
    ref: Ref,
    thing: Items | Table,
    name: str,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
) -> Results:
    if isinstance(thing, Items):
        if name in ("append", "add", "push_back", "emplace_back", "appendleft") and arguments:
            if len(thing.values) < 8 and thing.rest is None:
                state.heap[ref.number] = Items(thing.kind, (*thing.values, arguments[0]))
            else:
                state.heap[ref.number] = Items(thing.kind, thing.values, thing.rest or arguments[0])
            return [(state, NONE)]
        if name in ("pop", "popleft", "back", "front", "at") and (thing.values or thing.rest is not None):
            return [(state, calls.element_of(machine, ref, state, None if thing.rest else len(thing.values) - 1, ""))]
        if name in ("extend", "update") and arguments:
            more = state.thing(arguments[0])
            if isinstance(more, Items):
                state.heap[ref.number] = Items(thing.kind, (*thing.values, *more.values)[:8], thing.rest or more.rest)
            return [(state, NONE)]
        if name == "clear":
            state.heap[ref.number] = Items(thing.kind, ())
            return [(state, NONE)]
        return [(state, state.plain())]
    if name in ("get", "setdefault", "pop") and arguments:
        for key, value in thing.pairs:
            if key == arguments[0]:
                return [(state, value)]
        if thing.rest is not None:
            return [(state, thing.rest)]
        if all(isinstance(key, Const) for key, _ in thing.pairs) and isinstance(arguments[0], Const):
            fallback = arguments[1] if len(arguments) > 1 else NONE
            if name == "setdefault":
                state.heap[ref.number] = Table((*thing.pairs, (arguments[0], fallback)), thing.rest)
            return [(state, fallback)]
        return [(state, state.opaque())]
    if name in ("values", "keys", "items"):
        made = []
        for key, value in thing.pairs:
            made.append(value if name == "values" else key if name == "keys" else state.add(Items("()", (key, value))))
        rest = thing.rest
        if rest is not None and name == "items":
            rest = state.add(Items("()", (state.plain(), rest)))
        return [(state, state.add(Items("[]", tuple(made), rest)))]
    if name == "update":
        more_ = state.thing(arguments[0]) if arguments else None
        pairs = more_.pairs if isinstance(more_, Table) else ()
        added = (*pairs, *((Const(key), value) for key, value in keywords))
        keys = {key for key, _ in added}
        state.heap[ref.number] = Table((*((k, v) for k, v in thing.pairs if k not in keys), *added), thing.rest)
        return [(state, NONE)]
    return [(state, state.plain())]


def modes_are_known(state: State) -> bool:
    return state.modes != Modes(None, None, None, None)


def closed_by(state: State) -> GuardValue | None:
    return opened_by(state, "inference")


def is_path(value: Value) -> bool:
    return isinstance(value, (Name, NamePath))
