"""What code that isn't the program's own does: torch beside its ops, and Python's and C++'s own libraries."""

from __future__ import annotations

import guardfix.torch_ops as torch_ops  # `from guardfix import …` would import the library

from ..facts.expressions import Expression, NamePath
from . import (
    classes,
    cpp_values,
    differentiation,
    distribution_calls,
    elements,
    function_transforms,
    gradients,
    layer_calls,
    making,
    model_names,
    reach,
    tensor_writes,
    tensors,
    threads,
    torch_calls,
)
from .guards_entered import guard_of, made_guard, on_and_off, opened_by, set_modes
from .paths import Interpreter, Keywords, Place, Results
from .state import State
from .values import (
    NONE,
    NOT_REQUIRED,
    REQUIRED,
    Closure,
    Const,
    Generator,
    Instance,
    Items,
    Method,
    Name,
    NullContext,
    Partial,
    Plain,
    Ref,
    Table,
    Tensor,
    Truth,
    Value,
)

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
_GIVE_THEIR_FUNCTION = frozenset(
    f"torch.{name}" for name in ("compile", "jit.script", "nn.DataParallel", "vmap", "func.vmap")
)
"""What they give does to tensors what the function does."""
_NO_TENSORS = frozenset("math os sys time json random re logging warnings numpy np pathlib".split())
"""Modules whose functions give no tensors."""
LOSS_METHODS = frozenset(("training_step", "compute_loss", "_compute_loss"))
"""Methods whose result Lightning's and Hugging Face's trainers differentiate."""


def call_name(
    machine: Interpreter,
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
    threaded = threads.call_starter(machine, name, arguments, keywords, state, place)
    if threaded is not None:
        return threaded
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
    if path[0] in ("collections", "types", "dataclasses", "argparse", _RECORD):
        known = _container(last, arguments, keywords, state)
        if known is not None:
            return [(state, known)]
    if last in ("tqdm", "track") and arguments:
        return [(state, arguments[0])]
    if last == "partial" and arguments:
        return [(state, Partial(arguments[0], arguments[1:], keywords))]
    if last in ("deepcopy", "copy") and path[0] == "copy" and arguments:
        if last == "deepcopy":
            return [(state, making.deep_copy(arguments[0], state, place, {}))]
        if making.is_tensor(arguments[0], state):
            return [(state, arguments[0])]
        return [(state, state.opaque(making.called(arguments[0], state)))]
    drawn = state.thing(arguments[0]) if arguments and path in _DRAW else None
    if isinstance(drawn, Items):
        one = elements.any_element(drawn, state) if last == "choice" else None
        return [(state, one or state.add(drawn._replace(kind="[]")))]
    if path[0] in _NO_TENSORS:
        return [(state, state.opaque(last, tensor=False))]
    values = (*arguments, *(value for _, value in keywords))
    return [(reach.unknown_call(state, values), state.opaque(origin=name.dotted))]


_DRAW = frozenset(
    {("random", "sample"), ("random", "choices"), ("random", "choice"), ("itertools", "islice"), ("itertools", "cycle")}
)
"""They give some of a list's elements."""
_RECORD = "<record>"


def _container(name: str, arguments: tuple[Value, ...], keywords: Keywords, state: State) -> Value | None:
    """What the standard library's types of containers and records make; None for others."""
    first = arguments[0] if arguments else None
    thing = state.thing(first)
    if name == "namedtuple" and len(arguments) == 2:
        listed = state.thing(arguments[1])
        given = listed.values if isinstance(listed, Items) else (arguments[1],)
        fields = " ".join(str(one.value) for one in given if isinstance(one, Const))
        return Partial(Name((_RECORD, _RECORD)), (Const(fields),), ())
    if name == _RECORD and isinstance(first, Const):
        values = dict(zip(str(first.value).replace(",", " ").split(), arguments[1:], strict=False))
        return state.add(Instance("record", "", None, {**values, **dict(keywords)}))
    if name in ("SimpleNamespace", "Namespace") and not arguments:
        return state.add(Instance("record", "", None, dict(keywords)))
    if name == "replace" and isinstance(thing, Instance):
        return state.add(thing._replace(attributes={**thing.attributes, **dict(keywords)}))
    if name == "deque":
        empty = Items("[]", (), None if first is None else state.opaque())
        return state.add(thing if isinstance(thing, Items) else empty)
    if name == "OrderedDict" and not arguments:
        return state.add(Table(tuple((Const(key), value) for key, value in keywords)))
    if name == "defaultdict" and isinstance(first, Name) and len(arguments) == 1:
        made = first.path[-1]
        return state.add(Table((), default=made) if made in ("list", "dict") else Table((), state.opaque()))
    return None


def _call_cpp_name(
    machine: Interpreter, name: Name, arguments: tuple[Value, ...], state: State, place: Place, written: Expression
) -> Results:
    if guard_of(name, "cpp") is not None:
        return [(state, state.plain())]  # a temporary: it is gone at the end of the expression
    known = cpp_values.call_cpp_name(machine, name, arguments, state, place, written)
    if known is not None:
        return known
    path = name.path
    function = classes.class_named(machine, path[:-1], place) if path[-1] == "apply" and len(path) > 1 else None
    if function is not None:
        return machine.call_value(Method(function, path[-1]), arguments, (), state, place, ".".join(path))
    if "redispatch" in path:  # `at::redispatch::add_(keys, x, y)`
        path, arguments = tuple(part for part in path if part != "redispatch"), arguments[1:]
    if path[-1].endswith("_outf"):
        path, arguments = (*path[:-1], path[-1][:-1]), (*arguments[-1:], *arguments[:-1])
    if path[0] == "F" and len(path) == 2:  # `namespace F = torch::nn::functional;`
        path = ("torch", "nn", "functional", path[1])
    rows = torch_ops.cpp("::".join(path)) or (torch_ops.method(path[-1]) if path[:-1] == ("at",) else ())
    if rows:
        return torch_calls.apply(machine, rows, arguments, (), state, place, path[-1])
    if path[0] in ("torch", "at", "c10"):
        return _torch(machine, Name(("torch", *path[1:])), arguments, (), state, place)
    if path[0] == "std":
        return [(state, state.opaque(origin="::".join(path)))]
    return [(reach.unknown_call(state, arguments), state.opaque(origin="::".join(path)))]


def call_guard(
    machine: Interpreter,
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
        return machine.apply_decorator(made, arguments[0], state, place)
    given = arguments[0] if arguments else next((value for key, value in keywords if key in ("mode", "enabled")), None)
    found: Results = []
    for one, side in on_and_off(machine, given if given is not None else Const(True), state, place):
        made = made_guard(name, effect, side, place)  # type: ignore[arg-type]
        if name == "set_grad_enabled":
            set_modes(one, made)
        found.append((one, made))
    return found


_PLAIN = frozenset("print type callable format any all input open ord chr issubclass object".split())
"""Functions whose results hold no tensor."""


def _builtin(
    machine: Interpreter, name: str, arguments: tuple[Value, ...], keywords: Keywords, state: State, place: Place
) -> Results:
    first = arguments[0] if arguments else NONE
    thing = state.thing(first)
    if isinstance(thing, Generator) and name in ("list", "tuple", "enumerate", "zip", "next", "sum", "set", "sorted"):
        return [
            pair
            for after, yielded in machine.run_generator(thing, state, place)
            for pair in _builtin(machine, name, (yielded, *arguments[1:]), keywords, after, place)
        ]
    if name in ("list", "tuple", "sorted", "reversed", "set", "iter", "dict"):
        if name == "dict" and isinstance(thing, Items):
            each = [pair.values for one in thing.values if isinstance(pair := state.thing(one), Items)]
            if thing.rest is None and len(each) == len(thing.values) and all(len(values) == 2 for values in each):
                return [(state, state.add(Table(tuple((values[0], values[1]) for values in each))))]
            pair = state.thing(machine.element_of(first, state, None, ""))
            value = pair.values[1] if isinstance(pair, Items) and len(pair.values) == 2 else state.opaque()
            return [(state, state.add(Table((), value)))]
        if isinstance(thing, (Items, Table)):
            return [(state, state.add(thing._replace(kind="[]") if isinstance(thing, Items) else thing))]
        if not arguments:
            if name == "dict":
                return [(state, state.add(Table(tuple((Const(key), value) for key, value in keywords))))]
            return [(state, state.add(Items("[]", ())))]
        return [(state, state.add(Items("[]", (), machine.element_of(first, state, None, ""))))]
    if name == "enumerate":
        if isinstance(thing, Items) and thing.rest is None:
            pairs = tuple(
                state.add(Items("()", (Const(float(index)), value))) for index, value in enumerate(thing.values)
            )
            return [(state, state.add(Items("[]", pairs)))]
        element = machine.element_of(first, state, None, "")
        return [(state, state.add(Items("[]", (), state.add(Items("()", (state.plain(), element))))))]
    if name == "zip":
        held = [state.thing(value) for value in arguments]
        known = [len(one.values) for one in held if isinstance(one, Items) and one.rest is None]
        if known:
            together = [
                tuple(machine.element_of(value, state, index, "") for value in arguments) for index in range(min(known))
            ]
            return [(state, state.add(Items("[]", tuple(state.add(Items("()", row)) for row in together))))]
        elements = tuple(machine.element_of(value, state, None, "") for value in arguments)
        return [(state, state.add(Items("[]", (), state.add(Items("()", elements)))))]
    if name == "range":
        return [(state, state.add(Items("[]", *_counted(arguments, state))))]
    if name == "next":
        return [(state, machine.element_of(first, state, None, ""))]
    if name == "getattr" and len(arguments) >= 2 and isinstance(arguments[1], Const):
        return machine.attribute(first, str(arguments[1].value), state, place, making.called(first, state))
    if name == "setattr" and len(arguments) == 3 and isinstance(arguments[1], Const):
        going = machine.set_attribute(first, str(arguments[1].value), arguments[2], state, place, "")
        return [(one, NONE) for one in going]
    if name == "hasattr" and len(arguments) == 2 and isinstance(arguments[1], Const):
        attribute = str(arguments[1].value)
        if isinstance(thing, Instance):
            if attribute in thing.attributes:
                return [(state, Const(True))]
            if thing.complete and (
                thing.cls is None or classes.find_in_class(machine, thing.cls, attribute, state) is None
            ):
                return [(state, Const(False))]
        return [(state, Truth(("hasattr", first, attribute)))]
    if name == "isinstance":
        is_one = classes.is_instance(machine, thing, arguments[1], state) if len(arguments) == 2 else None
        return [(state, Const(is_one) if is_one is not None else Truth(("isinstance", *arguments)))]
    if name in ("len", "int", "float", "str", "bool", "id", "hash", "repr", "round"):
        if isinstance(thing, Items) and thing.rest is None and name == "len":
            return [(state, Const(float(len(thing.values))))]
        if isinstance(first, Const) and name == "float" and isinstance(first.value, (int, float)):
            return [(state, first)]
        return [
            (state, Plain(first.number) if isinstance(first, Plain) and name in ("int", "float") else state.plain())
        ]
    if name == "sum" and arguments:
        element = machine.element_of(first, state, None, "")
        if making.is_tensor(element, state):
            return torch_calls.apply(machine, torch_ops.operator("+"), (element, element), (), state, place, "sum")
        return [(state, state.opaque())]
    if name in ("abs", "min", "max", "pow") and making.is_tensor(first, state):
        rows = torch_ops.method(name)
        return torch_calls.apply(machine, rows, arguments, keywords, state, place, name)
    if name in _PLAIN:
        return [(state, state.plain())]
    if name == "map" and len(arguments) == 2:
        element = machine.element_of(arguments[1], state, None, "")
        return [
            (after, after.add(Items("[]", (), value)))
            for after, value in machine.call_value(first, (element,), (), state, place, "")
        ]
    return [(reach.unknown_call(state, arguments), state.opaque())]


def _counted(arguments: tuple[Value, ...], state: State) -> tuple[tuple[Value, ...], Value | None]:
    """What `range` gives: the first few numbers, and one that stands for all others."""
    known = [int(given.value) for given in arguments if isinstance(given, Const) and isinstance(given.value, float)]
    if len(known) != len(arguments) or not 1 <= len(known) <= 3 or known[2:] == [0]:
        return (), state.plain()
    numbers = range(*known)
    return tuple(Const(float(number)) for number in numbers[:4]), state.plain() if len(numbers) > 4 else None


_ENTERED = frozenset({"autocast", "record_function", "profile"})
_NO_EFFECT = frozenset(
    "torch.manual_seed torch.cuda.synchronize torch.cuda.empty_cache torch.set_num_threads torch.cuda.manual_seed_all "
    "torch.cuda.is_available torch.backends.cudnn torch.set_default_dtype torch.device torch.Size "
    "torch.cuda.device_count "
    "torch.autograd.set_detect_anomaly torch.set_printoptions torch.get_default_dtype torch.cuda.manual_seed "
    "torch.save "
    "torch.is_tensor torch.cuda.current_device torch.distributed.barrier torch.distributed.get_rank torch.numel "
    "torch.distributed.get_world_size torch.set_float32_matmul_precision torch.Generator".split()
)


def _torch(
    machine: Interpreter, name: Name, arguments: tuple[Value, ...], keywords: Keywords, state: State, place: Place
) -> Results:
    dotted, path = name.dotted, name.path
    if dotted in _NO_EFFECT:
        return [(state, state.plain())]
    if dotted == "torch.from_blob":
        return [(state, making.new_tensor(state, place, "`from_blob`"))]
    if dotted == "torch.is_grad_enabled":
        grad, guard = state.modes.grad, opened_by(state, "grad")
        if guard is not None and guard.is_engine:
            state.facts["grad mode", "asked"] = True
        return [(state, Const(grad) if grad is not None else Truth(("grad mode",)))]
    if dotted == "torch.is_inference_mode_enabled":
        inference = state.modes.inference
        return [(state, Const(inference) if inference is not None else Truth(("inference mode",)))]
    if dotted in ("torch.is_inference",) and arguments:
        return [(state, tensors.inference_truth(arguments[0], state))]
    if dotted in ("torch.autograd.grad", "torch.autograd.backward") and (arguments or keywords):
        named = (value for key, value in keywords if key in ("outputs", "tensors"))
        asked = arguments[0] if arguments else next(named, NONE)
        if isinstance(asked, Ref) and state.tensor(asked) is not None:
            state.change(asked, shown=True)
        done = differentiation.differentiate(machine, asked, state, place, path[-1])
        return [(state, state.add(Items("()", (), state.opaque(tensor=True))))] if done else []
    if dotted in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
        return _parameter(machine, arguments, keywords, state, place)
    if path[:3] == ("torch", "nn", "init") and arguments:
        if isinstance(arguments[0], Ref) and state.tensor(arguments[0]) is not None:
            modes = state.modes
            state.modes = modes._replace(grad=False)
            done = tensor_writes.write_tensor(machine, arguments[0], state, place, path[-1])
            state.modes = modes
            return [(state, arguments[0])] if done else []
        return [(state, arguments[0])]
    if path[:3] == ("torch", "nn", "utils") and path[-1] in gradients.CLIPS and arguments:
        gradients.clip_gradients(machine, arguments[0], state, place, path[-1])
        return [(state, state.opaque(path[-1], tensor=True))]
    if path[:2] == ("torch", "optim"):
        return [
            (state, state.add(Instance("optimizer", path[-1], None, {"params": arguments[0] if arguments else NONE})))
        ]
    if dotted in ("torch.nn.Sequential", "torch.nn.ModuleList"):
        items = arguments
        if dotted.endswith("List") and arguments:
            thing = state.thing(arguments[0])
            items = (
                (*thing.values, *([thing.rest] if thing.rest is not None else [])) if isinstance(thing, Items) else ()
            )
        children = {str(index): value for index, value in enumerate(items)}
        return [(state, state.add(Instance("sequential", path[-1], None, children)))]
    if dotted == "torch.nn.Module" and not arguments:
        return [(state, state.add(Instance("module", "Module")))]
    if dotted == "torch.nn.ParameterList" and arguments:
        going: Results = [(state, NONE)]
        for value in making.tensors_in(arguments[0], state):
            going = [pair for one, _ in going for pair in _parameter(machine, (value,), (), one, place)]
        return [(one, one.opaque("ParameterList", module=True)) for one, _ in going]
    if path[:2] == ("torch", "nn") and len(path) == 3 and path[2][:1].isupper():
        return [(state, layer_calls.made_layer(path[2], keywords, state, place))]
    if path[:2] == ("torch", "distributions") and len(path) > 2:
        return [(state, distribution_calls.made_distribution(path, arguments, keywords, state, place))]
    batches = _batches(machine, arguments, dict(keywords), state, place) if path[-1] == "DataLoader" else None
    if batches is not None:
        return [batches]
    if dotted in ("torch.load", "torch.jit.load", "torch.hub.load"):
        if dotted == "torch.load":
            return [(state, state.opaque(origin=dotted))]
        return [(state, state.opaque("the loaded model", module=True))]
    if path[:2] in (("torch", "autocast"), ("torch", "profiler")) or path[-1] in _ENTERED:
        return [(state, NullContext())]
    if path[-2:] in (("func", "functional_call"), ("stateless", "functional_call")):
        results = function_transforms.functional_call(machine, arguments, keywords, state, place)
        if results is not None:
            return results
        values = (*arguments, *(value for _, value in keywords))
        reach.unknown_call(state, values)
        if state.modes.records is not False:
            return [(state, state.opaque(origin=dotted))]
        return [(state, model_names.model_result(machine, path[-1], NOT_REQUIRED, state, place))]
    if dotted in _GIVE_THEIR_FUNCTION and arguments:
        return [(state, arguments[0])]
    if dotted in ("torch.jit.trace", "torch.jit.freeze"):
        return [(state, state.opaque("the compiled model", module=True))]
    ran = function_transforms.transformed(machine, Name(path), arguments, keywords, state, place)
    if ran is not None:
        return ran
    if dotted.startswith(("torch.func.", "torch.autograd.functional.", "torch.vmap")):
        return [(state, state.opaque(origin=dotted))]
    spelled = ".".join(path[1:])
    rows = torch_ops.function(spelled)
    if rows and arguments and dict(keywords).get("inplace") == Const(True) and isinstance(arguments[0], Ref):
        done = tensor_writes.write_tensor(machine, arguments[0], state, place, path[-1])
        return [(state, arguments[0])] if done else []
    if rows:
        return torch_calls.apply(machine, rows, arguments, keywords, state, place, path[-1])
    values = (*arguments, *(value for _, value in keywords))
    return [(reach.unknown_call(state, values), state.opaque(origin=dotted))]


def _batches(
    machine: Interpreter, arguments: tuple[Value, ...], given: dict[str, Value], state: State, place: Place
) -> tuple[State, Value] | None:
    """What a loader of this thread gives, if that are inference tensors; workers send normal ones.

    `collate_fn` makes them of what the data set has, or, with `batch_size=None`, that has them itself.
    """
    collate, workers = given.get("collate_fn", NONE), given.get("num_workers", Const(0.0))
    data = arguments[0] if arguments else given.get("dataset", NONE)
    after = state.fork()
    made: Results = []
    if workers == Const(0.0):
        made = machine.call_value(collate, (after.opaque(),), (), after, place, "")
        if collate == NONE and given.get("batch_size") == NONE:
            made = machine.call_method(data, "__getitem__", (after.plain(),), (), after, place, "")
    for one, batch in made[:1]:
        if any(making.is_inference(held, one) for held in making.tensors_in(batch, one)):
            return one, one.add(Items("[]", (), batch))
    return None


def _parameter(
    machine: Interpreter, arguments: tuple[Value, ...], keywords: Keywords, state: State, place: Place
) -> Results:
    flag = dict(keywords).get("requires_grad", arguments[1] if len(arguments) > 1 else Const(True))
    if not arguments:
        return [(state, making.new_tensor(state, place, "`Parameter`", grad=REQUIRED, leaf=True))]
    first = arguments[0]
    if not isinstance(first, Ref) or not making.may_be_tensor(first, state):
        return [(state, state.add(Tensor(None, REQUIRED, True)))]
    made = making.alias(state, first, grad=NOT_REQUIRED)
    name = making.called(first, state)
    state.change(made, name=name)
    if not tensor_writes.require_grad(machine, made, flag, state, place, "Parameter"):
        return []
    tensor = state.tensor(made)
    assert tensor is not None
    state.change(made, name="", hazards=(), unrecorded=())
    return [(state, made)]
