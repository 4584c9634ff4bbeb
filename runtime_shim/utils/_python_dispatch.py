"""`torch.utils._python_dispatch`: modes that see every op below autograd, and may answer in its place.

    class Logging(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            print(func)
            return func(*args, **(kwargs or {}))

An op calls its mode where its kernel would run, with autograd and view tracking off and the mode itself off. A mode
sees ops that are given tensors, and custom ops; not the creation of tensors. Without a mode, ops know nothing
of them: entering the first replaces the functions that ops go through, leaving the last puts them back.
"""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from ..core.gradient_modes import exclude, leave_excluded
from ..core.tensor import Tensor, alias, new_tensor
from ..core.thread_state import ADINPLACEORVIEW, AUTOGRAD, BACKEND, ThreadState, tls
from ..dispatch import functional_layers, inplace_layers, view_layers
from ..dispatch.op_description import Op
from ..dispatch.tensor_arguments import arrays
from ..library.custom_ops import COMPOSITE, OpOverload, aten_packet, ops

__all__ = ["TorchDispatchMode"]


class TorchDispatchMode:
    """Inside, ops of this thread call `__torch_dispatch__(func, types, args, kwargs)`, whose result is theirs."""

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        _MODES.push(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _MODES.pop()


def _get_current_dispatch_mode() -> TorchDispatchMode | None:
    modes = tls.state.dispatch_modes
    return modes[-1] if modes else None


def _get_current_dispatch_mode_stack() -> list[TorchDispatchMode]:
    return list(tls.state.dispatch_modes)


class _Without:
    """Inside, there is one mode less, and no autograd."""

    def __init__(self, state: ThreadState) -> None:
        self.state = state

    def __enter__(self) -> Any:
        self.mode = self.state.dispatch_modes.pop()
        self.before = exclude(AUTOGRAD | ADINPLACEORVIEW, "TorchDispatchMode")
        return self.mode

    def __exit__(self, *exc: object) -> None:
        self.state.dispatch_modes.append(self.mode)
        leave_excluded(self.before, "TorchDispatchMode")


def _ask(state: ThreadState, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the innermost mode makes of an op."""
    with _Without(state) as mode:
        return mode.__torch_dispatch__(func, (), args, kwargs)


# -- which overload an op is
# --------------------------------------------------------------------------------------------------

#: Overloads by the op, where it isn't `default`.
_OVERLOADS = {
    **dict.fromkeys("add sub mul div true_divide atan2 maximum minimum".split(), "Tensor"),
    **dict.fromkeys("transpose select".split(), "int"),
    **dict.fromkeys("var std var_mean std_mean".split(), "correction"),
    **dict.fromkeys("slice split index where repeat_interleave".split(), "Tensor"),
    **dict.fromkeys("max_dim min_dim median_dim nanmedian_dim".split(), "dim"),
    "where": "self",
}
_OVERLOADS["maximum"] = _OVERLOADS["minimum"] = _OVERLOADS["atan2"] = "default"
_BY_OTHER = frozenset(
    "eq ne lt le gt ge remainder fmod floor_divide bitwise_and bitwise_or bitwise_xor fill masked_fill".split()
)


def _overload(op: Op, args: tuple[Any, ...], inplace: bool) -> Any:
    name, chosen = op.name, _OVERLOADS.get(op.name, "default")
    if name in _BY_OTHER:
        chosen = "Tensor" if isinstance(args[-1], Tensor) else "Scalar"
    elif name == "pow":
        first, second = (isinstance(a, Tensor) for a in args[:2])
        chosen = "Tensor_Tensor" if first and second else "Tensor_Scalar" if first else "Scalar"
    elif name in ("sum", "mean") and len(args) > 1 and args[1] is not None:
        chosen = "dim_IntList" if name == "sum" else "dim"
    name = name.removesuffix("_dim").removesuffix("_all")
    packet = getattr(ops.aten, f"{name}_" if inplace else name, None)
    return aten_packet(name, _unnamed(op), chosen) if packet is None else getattr(packet, chosen)


@functools.cache
def _unnamed(op: Op) -> Callable[..., Any]:
    """A function for an op that programs don't call by its own name."""

    def call(*args: Any) -> Any:
        found = op.kernel(*arrays(op.bind(args, {})))
        if isinstance(found, np.ndarray) and np.may_share_memory(found, args[0]._array):
            return alias(args[0], found, args[0]._keys, None if args[0].is_inference() else [0])
        made = [new_tensor(f) for f in (found if isinstance(found, tuple) else (found,))]
        return op.outputs(made) if op.outputs is not None else made[0]

    return call


# -- the functions that ops go through
# -----------------------------------------------------------------------------------------------------


class _Asking:
    """An op whose kernel is what a mode answers, while it is called."""

    __slots__ = ("kernel", "op")

    special_when_unwrapped = False

    def __init__(self, op: Op, kernel: Callable[..., Any]) -> None:
        self.op = op
        self.kernel: Any = kernel

    def __getattr__(self, name: str) -> Any:
        return getattr(self.op, name)

    def __hash__(self) -> int:
        return hash(self.op)

    def __eq__(self, other: object) -> bool:
        return other is self.op


def _elements(found: Any) -> Any:
    return found._array if isinstance(found, Tensor) else tuple(_elements(f) for f in found)


def _functional(op: Op, state: ThreadState, args: tuple[Any, ...]) -> Any:
    if not state.dispatch_modes:
        return _ORIGINAL[functional_layers, "functional"](op, state, args)
    answers: list[Any] = []

    def kernel(*_: Any) -> Any:
        answers.append(_ask(state, _overload(op, args, False), _given(op, args), {}))
        return _elements(answers[0])

    asking = _Asking(op, kernel)
    made = _ORIGINAL[functional_layers, "functional"](asking, state, args)
    asking.kernel = None  # a node keeps the op, and is not to keep the arguments
    for result, answer in zip(_each(made), _each(answers[0]), strict=True):
        # The result is what the mode returned: it has the same memory, and the same count of writes.
        result._storage = answer._storage
        if answer._version_counter is not None and result._version_counter is not None:
            result._version_counter = answer._version_counter
    return made


def _given(op: Op, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments as the op is called with them: without defaults at the end."""
    count = len(args)
    while count > 1 and op.params[count - 1] in op.defaults and args[count - 1] is op.defaults[op.params[count - 1]]:
        count -= 1
    return tuple(args[:count])


def _each(value: Any) -> Sequence[Any]:
    return (value,) if isinstance(value, Tensor) else tuple(value)


def _write_through_layers(
    op: Op,
    state: ThreadState,
    self: Tensor,
    args: tuple[Any, ...],
    tensors: list[Tensor],
    keys: int,
    kernel: Callable[[], None],
) -> Tensor:
    if state.dispatch_modes:
        given = _given(op, args)
        func = _overload(op, args, True)

        def kernel() -> None:
            _ask(state, func, given, {})

    found: Tensor = _ORIGINAL[inplace_layers, "write_through_layers"](op, state, self, args, tensors, keys, kernel)
    return found


def _make_view(op: Op, self: Tensor, array: Any, args: tuple[Any, ...], multi: bool = False) -> Tensor:
    state = tls.state
    if state.dispatch_modes:
        array = _ask(state, _overload(op, (self, *args), False), (self, *_given_to_view(op, args)), {})._array
    found: Tensor = _ORIGINAL[view_layers, "make_view"](op, self, array, args, multi)
    return found


def _given_to_view(op: Op, args: tuple[Any, ...]) -> tuple[Any, ...]:
    return _given(op, (None, *args))[1:] if len(args) + 1 == len(op.params) else args


def _make_views(op: Op, self: Tensor, found: Sequence[Any], args: tuple[Any, ...]) -> list[Tensor]:
    state = tls.state
    if state.dispatch_modes:
        answers = _ask(state, _overload(op, (self, *args), False), (self, *args), {})
        found = [answer._array for answer in answers]
    made: list[Tensor] = _ORIGINAL[view_layers, "make_views"](op, self, found, args)
    return made


def _call_custom(
    op: OpOverload, kernel: Any, bit: int, keys: int, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    state = tls.state
    if state.dispatch_modes and bit == BACKEND and kernel not in op.kernels.get(COMPOSITE, ()):
        return _ask(state, op, args, kwargs)
    return _ORIGINAL[OpOverload, "_call"](op, kernel, bit, keys, args, kwargs)


_REPLACEMENTS: dict[tuple[Any, str], Callable[..., Any]] = {
    (functional_layers, "functional"): _functional,
    (inplace_layers, "write_through_layers"): _write_through_layers,
    (view_layers, "make_view"): _make_view,
    (view_layers, "make_views"): _make_views,
    (OpOverload, "_call"): _call_custom,
}
_ORIGINAL = {place: getattr(*place) for place in _REPLACEMENTS}
#: Modules that have imported one of the functions by its name.
_IMPORTED_BY = (
    "dispatch.registration",
    "dispatch.functional_layers",
    "dispatch.inplace_layers",
    "dispatch.view_layers",
    "aten.ufunc_makers",
    "aten.several_views",
    "aten.indexing",
    "aten.inplace",
    "aten.strided",
    "aten.views",
)


class _Modes:
    """The modes of all threads: as long as there is one, the replacements are in place."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0

    def push(self, mode: TorchDispatchMode) -> None:
        with self.lock:
            self.count += 1
            if self.count == 1:
                self.put(_REPLACEMENTS)
        tls.state.dispatch_modes.append(mode)
        tls.state.refresh()

    def pop(self) -> None:
        tls.state.dispatch_modes.pop()
        tls.state.refresh()
        with self.lock:
            self.count -= 1
            if not self.count:
                self.put(_ORIGINAL)

    def put(self, functions: dict[tuple[Any, str], Callable[..., Any]]) -> None:
        modules: list[ModuleType] = [importlib.import_module(f"guardfix.runtime_shim.{name}") for name in _IMPORTED_BY]
        for (home, name), function in functions.items():
            if home is OpOverload:
                setattr(OpOverload, name, function)
                continue
            for module in modules:
                if name in vars(module):
                    setattr(module, name, function)


_MODES = _Modes()
