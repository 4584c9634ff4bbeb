"""`__torch_function__`: classes and modes that are asked in the place of PyTorch's functions.

The functions of `torch`, `torch.nn.functional` and `torch.nn.init`, and the methods and properties of Tensor, know
nothing of it. When the first class that wants to be asked is made, or a mode is entered, the code of each is replaced
by one that looks at its arguments; the functions themselves stay the same objects, so whoever holds one calls the
replacement. When no mode and no such class is left, the code is put back.
Source: torch/csrc/utils/python_arg_parser.cpp, torch/_tensor.py, torch/overrides.py.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any, cast

from ..core import tensor as core_tensor
from ..core.function_table import FUNCTIONS, AnyFunction
from ..core.late_modules import late_module
from ..core.tensor import Tensor, disabled_torch_function, read_only
from ..core.thread_state import ThreadState, tls
from .op_node import OpNode

ENABLED, SUBCLASSES_DISABLED, ALL_DISABLED = range(3)

#: Modules whose public functions ask, beside `torch` itself.
_MODULES = ("nn.functional", "nn.init", "fft")
#: Methods that never ask.
SILENT = frozenset(
    "__new__ __hash__ __iter__ __init_subclass__ __dir__ __array_wrap__ _number as_subclass _make_subclass".split()
)
#: Functions that never ask.
SILENT_FUNCTIONS = frozenset(
    "is_tensor typename manual_seed initial_seed seed get_rng_state set_rng_state from_numpy frombuffer is_storage "
    "broadcast_shapes promote_types can_cast".split()
)
#: What an operator is asked about as.
_OPERATORS = {
    **{f"__{name}__": name for name in "add sub mul matmul neg abs lt le gt ge ne".split()},
    **{f"__{name}__": f"{name[1:]}_" for name in "iadd isub imul".split()},
    "__radd__": "add",
    "__rmul__": "mul",
    "__truediv__": "div",
    "__itruediv__": "div_",
    "__mod__": "remainder",
    "__imod__": "remainder_",
    "__ifloordiv__": "floor_divide_",
    "__rand__": "bitwise_and",
    "__ror__": "bitwise_or",
    "__rxor__": "bitwise_xor",
    "__pos__": "positive",
}
#: Methods that PyTorch has written in Python.
_PYTHON_METHODS = frozenset(
    "__rsub__ __rtruediv__ __floordiv__ __rfloordiv__ __rmod__ __pow__ __rpow__ __ipow__ __rmatmul__ __rlshift__ "
    "__rrshift__ __len__ __contains__ __repr__ __format__ __reversed__ __array__ __deepcopy__ split norm backward "
    "register_hook".split()
)
#: Functions of `torch.nn.functional` that it hasn't.
_BUILTINS = frozenset(
    "adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d bilinear celu_ channel_shuffle conv1d conv2d conv3d conv_tbc "
    "conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity elu_ gelu hardshrink hardtanh_ leaky_relu_ "
    "linear logsigmoid native_channel_shuffle one_hot pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu "
    "relu_ scaled_dot_product_attention selu_ softplus softshrink threshold_".split()
)
#: Operators with a second operand: what refuses it leaves it to the other's method.
_BINARY = frozenset(
    f"__{prefix}{name}__"
    for name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
    for prefix in ("", "r", "i")
) | frozenset(f"__{name}__" for name in "lt le gt ge eq ne".split())


# -- who is asked


def asks(kind: type) -> bool:
    """Whether functions ask a class: it has a `__torch_function__`, other than Tensor itself and those that
    disabled it.
    """
    found = getattr(kind, "__torch_function__", disabled_torch_function)
    return found is not disabled_torch_function and kind is not Tensor


def _inside(args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Iterator[Any]:
    for value in (*args, *kwargs.values()) if kwargs else args:
        if type(value) in (list, tuple):
            yield from value
        else:
            yield value


def overloaded(values: Any) -> list[Any]:
    """The values that are asked, one of each class, those of subclasses before those of their bases."""
    found: list[Any] = []
    for value in values:
        kind = type(value)
        if kind in _NEVER or not asks(kind) or any(type(f) is kind for f in found):
            continue
        place = next((i for i, f in enumerate(found) if issubclass(kind, type(f))), len(found))
        found.insert(place, value)
    return found


_NEVER = frozenset((Tensor, int, float, bool, str, type(None), complex))


class _WithoutMode:
    """Inside, there is one mode less."""

    def __init__(self, state: ThreadState) -> None:
        self.state = state

    def __enter__(self) -> Any:
        self.mode = self.state.function_modes.pop()
        return self.mode

    def __exit__(self, *exc: object) -> None:
        self.state.function_modes.append(self.mode)


def ask(
    function: object,
    asked: list[Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None,
    python_words: bool = False,
) -> Any:
    """What the mode, or the first of the arguments that makes anything of it, makes of a call. TypeError if none does.

    `kwargs` is None where there are none, and so it is passed on.
    """
    state = tls.state
    types = tuple(type(value) for value in asked)
    said = []
    if state.function_modes and state.function_off != ALL_DISABLED:
        with _WithoutMode(state) as mode:
            found = mode.__torch_function__(function, types, args, kwargs)
        if found is not NotImplemented:
            return found
        said.append(f"mode object {mode!r}")
    if state.function_off == ENABLED:
        for value in asked:
            found = type(value).__torch_function__(function, types, args, kwargs)
            if found is not NotImplemented:
                return found
            said.append(f"tensor subclass {type(value)}")
    if python_words:
        raise TypeError(
            f"no implementation found for '{name_of(function)}' on types that implement __torch_function__: "
            f"{list(types)}"
        )
    lines = "".join(f"\n\n  - {line}" if not i else f"\n  - {line}" for i, line in enumerate(said))
    raise TypeError(
        f"Multiple dispatch failed for '{name_of(function)}'; all __torch_function__ handlers returned "
        f"NotImplemented:{lines}\n\nFor more information, try re-running with TORCH_LOGS=not_implemented"
    )


def name_of(function: object) -> str:
    """What a function, method or property is called, as `torch.add` or `torch.Tensor.shape.__get__`."""
    known = PLACES.get(function)
    return known if known is not None else str(getattr(function, "__name__", function))


# -- what is in the place of a function


def _asking(function: object, original: FunctionType, wraps_errors: bool, python: bool) -> AnyFunction:
    """`original`, which first asks whether a mode or an argument wants to answer; `function` is what they see.

    `python`: PyTorch's function is written in Python. Those name the classes of plain tensors too, and give keywords
    to all that has a default.
    """
    code, op = original.__code__, getattr(original, "op", None)
    alone = code.co_argcount + code.co_kwonlyargcount == 1 and not code.co_flags & _VARIADIC
    names_all = python or (alone if op is None else len(op.params) == 1)

    def entry(*args: object, **kwargs: object) -> Any:
        state = tls.state
        off = state.function_off
        if off == ALL_DISABLED or (off and not state.function_modes):
            return original(*args, **kwargs)
        if off:
            asked = []
        else:
            asked = overloaded(_inside(args, kwargs))
        if not asked and not state.function_modes:
            return original(*args, **kwargs)
        if names_all and not asked and args and isinstance(args[0], Tensor):
            asked = [args[0]]
        if python:
            args, kwargs = _with_keywords(original, args, kwargs)
        if not wraps_errors:
            return ask(function, asked, args, kwargs if python else kwargs or None, python)
        try:
            return ask(function, asked, args, kwargs if python else kwargs or None, python)
        except TypeError:
            return NotImplemented

    return entry


_VARIADIC = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def _with_keywords(
    original: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with those that have defaults by name, whether they were given or not."""
    if original.__code__.co_flags & _VARIADIC:
        return args, kwargs
    try:
        bound = inspect.signature(original).bind(*args, **kwargs)
    except TypeError:
        return args, kwargs  # the function says what is wrong
    bound.apply_defaults()
    given: list[Any] = []
    named: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        parameter = bound.signature.parameters[name]
        if parameter.default is parameter.empty and parameter.kind is not parameter.KEYWORD_ONLY and not named:
            given.append(value)
        else:
            named[name] = value
    return tuple(given), named


def _asking_property(get: Callable[[], Any], original: AnyFunction) -> AnyFunction:
    """As before, for one accessor of a property; `get` gives the bound method that stands for it."""

    def entry(self: object, *value: object) -> Any:
        state = tls.state
        off = state.function_off
        if off == ALL_DISABLED or (not state.function_modes and (off or not asks(type(self)))):
            return original(self, *value)
        asked = [] if off else overloaded((self, *value))
        return ask(get(), asked or [self], (self, *value), None)

    return entry


def _replaced(*args: Any, _entry: Any = None, **kwargs: Any) -> Any:
    """The code that replaces a function's; the function's keyword-only default is what is called."""
    return _entry(*args, **kwargs)


@functools.cache
def _replaced_code(names: tuple[str, ...]) -> CodeType:
    """That code for a function that captured these variables. It begins as Python begins such a function: by copying
    them, without which Python crashes when somebody (pytest, for a traceback) asks for the locals of its frame.
    """
    if not names:
        return _replaced.__code__
    space: dict[str, Any] = {}
    captured = ", ".join(f"_{n}" for n in range(len(names)))
    inner = f"def _replaced(*args, _entry=None, **kwargs):\n  return _entry(*args, **kwargs)\n  {captured}"
    exec(f"def outer({captured}):\n {inner}\n return _replaced", space)
    return cast("CodeType", space["outer"](*names).__code__.replace(co_freevars=names, co_filename=__file__))


class _Replacement:
    """The code of one function, and what is in its place."""

    def __init__(self, function: FunctionType, seen: object, name: str, python: bool) -> None:
        self.function = function
        self.code, self.defaults, self.keywords = function.__code__, function.__defaults__, function.__kwdefaults__
        original = FunctionType(self.code, function.__globals__, function.__name__, self.defaults, function.__closure__)
        original.__qualname__, original.__kwdefaults__ = function.__qualname__, self.keywords
        original.__dict__.update(function.__dict__)
        self.original = original
        self.entry = _asking(seen, original, name in _BINARY, python)

    def put(self) -> None:
        self.function.__code__ = _replaced_code(self.code.co_freevars)
        self.function.__defaults__ = None
        self.function.__kwdefaults__ = {"_entry": self.entry}

    def take_back(self) -> None:
        self.function.__code__ = self.code
        self.function.__defaults__ = self.defaults
        self.function.__kwdefaults__ = self.keywords


#: Replacements by the function's id, and what functions are called.
_REPLACED: dict[int, _Replacement] = {}
_PROPERTIES: dict[str, tuple[property, property]] = {}
PLACES: dict[Any, str] = {}


def original_of(function: object) -> Any:
    """A function as it is without the question, by which its signature can be read."""
    found = _REPLACED.get(id(function))
    return found.original if found is not None and found.function is function else function


def _public_functions() -> Iterator[tuple[str, str, Any]]:
    """Where, under which name, and which function."""
    for name, function in FUNCTIONS.items():
        if name not in SILENT_FUNCTIONS:
            place, shown = "torch", name
            for prefix in ("linalg", "special", "fft"):
                if name.startswith(f"{prefix}_"):
                    place, shown = f"torch.{prefix}", name.removeprefix(f"{prefix}_")
            yield place, shown, function
    for name in _MODULES:
        module = sys.modules.get(f"guardfix.runtime_shim.{name}")
        if module is not None:
            for shown, function in _functions_of(module):
                yield f"torch.{name}", shown, function


def _functions_of(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name, function in list(vars(module).items()):
        if isinstance(function, FunctionType) and not name.startswith("_") and _takes_tensors(function):
            yield name, function


def _takes_tensors(function: FunctionType) -> bool:
    code = function.__code__
    ours = function.__module__.startswith("guardfix.runtime_shim")
    return ours and bool(code.co_argcount or code.co_flags & inspect.CO_VARARGS)


def _collect() -> None:
    """Make the replacements of functions that have none yet."""
    for name, value in list(vars(Tensor).items()):
        if name in SILENT:
            continue
        if isinstance(value, FunctionType):
            seen = vars(Tensor).get(_OPERATORS.get(name, ""), value)
            if id(value) not in _REPLACED:
                _REPLACED[id(value)] = _Replacement(value, seen, name, name in _PYTHON_METHODS)
            if name not in _OPERATORS and not PLACES.get(value):
                PLACES[value] = f"torch.Tensor.{name}"
                value.__name__ = "pow" if name == "__pow__" else name
        elif isinstance(value, property) and name not in _PROPERTIES:
            _PROPERTIES[name] = value, _replaced_property(name, value)
    for place, name, function in _public_functions():
        PLACES.setdefault(function, f"{place}.{name}")
        if isinstance(function, FunctionType) and id(function) not in _REPLACED:
            python = place.startswith("torch.nn.") and name not in _BUILTINS
            _REPLACED[id(function)] = _Replacement(function, function, name, python)


def _replaced_property(name: str, value: property) -> property:
    def bound(accessor: str) -> Callable[[], Any]:
        return lambda: getattr(made, accessor)

    get = _asking_property(bound("__get__"), value.fget)  # type: ignore[arg-type]
    if type(value) is read_only:
        made: property = read_only(get)
        made.__set_name__(Tensor, name)  # type: ignore[attr-defined]
    else:
        made = property(
            get,
            None if value.fset is None else _asking_property(bound("__set__"), value.fset),
            None if value.fdel is None else _asking_property(bound("__delete__"), value.fdel),
            value.__doc__,
        )
    PLACES[made.__get__] = f"torch.Tensor.{name}.__get__"
    PLACES[made.__set__] = f"torch.Tensor.{name}.__set__"
    return made


class _Replacements:
    """Whether the replacements are in place: while there is a mode, and for good once a class wants to be asked."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.count = 0

    def begin(self) -> None:
        with self.lock:
            self.count += 1
            if self.count == 1:
                self._put()

    def end(self) -> None:
        with self.lock:
            self.count -= 1
            if not self.count:
                self._take_back()

    def _put(self) -> None:
        for name in _MODULES:
            late_module(name)
        _collect()
        for replacement in _REPLACED.values():
            replacement.put()
        for name, (_, made) in _PROPERTIES.items():
            setattr(Tensor, name, made)
        OpNode.apply = _apply_silently  # type: ignore[method-assign]
        core_tensor.WHEN_PUBLISHED.append(self._late)

    def _take_back(self) -> None:
        for replacement in _REPLACED.values():
            replacement.take_back()
        for name, (value, _) in _PROPERTIES.items():
            setattr(Tensor, name, value)
        OpNode.apply = _APPLY  # type: ignore[method-assign]
        core_tensor.WHEN_PUBLISHED.clear()

    def _late(self, function: object) -> None:
        """A function that is published while the replacements are in place."""
        with self.lock:
            before = set(_REPLACED)
            _collect()
            for key in _REPLACED.keys() - before:
                _REPLACED[key].put()


_APPLY = OpNode.apply


def _apply_silently(self: OpNode, grads: Any) -> Any:
    """The gradients of an op, which are computed below all that asks."""
    state = tls.state
    before, state.function_off = state.function_off, ALL_DISABLED
    try:
        return _APPLY(self, grads)
    finally:
        state.function_off = before


REPLACEMENTS = _Replacements()
_for_good = False


def _class_was_made(cls: type) -> None:
    """A subclass of Tensor: from now on functions have to look at their arguments, if it is one that they ask."""
    global _for_good
    if not _for_good and asks(cls):
        _for_good = True
        REPLACEMENTS.begin()


core_tensor.WHEN_SUBCLASSED.append(_class_was_made)


def watch_for_classes() -> None:
    """See also classes with a `__torch_function__` that are no tensors."""
    import builtins

    making = builtins.__build_class__

    def build(function: Any, name: Any, *bases: Any, **keywords: Any) -> Any:
        made = making(function, name, *bases, **keywords)
        if "__torch_function__" in getattr(made, "__dict__", ()):
            _class_was_made(made)
        return made

    builtins.__build_class__ = build  # type: ignore[assignment]


def signature_of(function: object) -> inspect.Signature:
    return inspect.signature(original_of(function))
