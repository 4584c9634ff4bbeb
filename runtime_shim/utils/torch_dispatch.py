"""What asks the classes of tensors that have a `__torch_dispatch__`, where a kernel would run.

Autograd and view tracking are above it, as in PyTorch: the class is asked with both off, and what it returns gets the
node and the base. A mode is asked before the classes, and a subclass before its bases.
Source of the behaviour: torch/csrc/autograd/python_variable.cpp, c10/core/impl/PythonDispatcherTLS.cpp.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core.array_kinds import StandInArray
from ..core.gradient_modes import exclude, leave_excluded
from ..core.tensor import (
    DEFAULT,
    INFERENCE_MODE,
    MULTI_OUTPUT_NODE,
    NO_GRAD_MODE,
    Tensor,
    alias,
    new_tensor,
    requires_grad,
)
from ..core.thread_state import ADINPLACEORVIEW, ASKING, AUTOGRAD, PYTHON, ThreadState, tls, wants_to_be_asked
from ..dispatch.functional_layers import give_history, recorded_node
from ..dispatch.op_description import Op
from ..dispatch.op_node import OpNode, arrays
from ..dispatch.view_layers import track
from ..dispatch.writing_layers import bump
from ..library.custom_ops import OpOverload, aten_packet, ops
from ..tape.history import set_history
from ..tape.saved_tensors import Saved

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
_OVERLOADS |= {"squeeze_dim": "dim", "squeeze_dims": "dims", "unbind": "int"}
#: What PyTorch calls ops that have another name here.
_ATEN_NAMES = {
    "softmax_": "_softmax",
    "log_softmax_": "_log_softmax",
    "softmax_backward": "_softmax_backward_data",
    "log_softmax_backward": "_log_softmax_backward_data",
}
_BY_OTHER = frozenset(
    "eq ne lt le gt ge remainder fmod floor_divide bitwise_and bitwise_or bitwise_xor fill masked_fill".split()
)


def overload_of(op: Op, args: tuple[Any, ...], inplace: bool) -> Any:
    name, chosen = op.name, _OVERLOADS.get(op.name, "default")
    if name in _BY_OTHER:
        chosen = "Tensor" if isinstance(args[-1], Tensor) else "Scalar"
    elif name in ("add_scalar", "mul_scalar", "div_scalar"):
        name, chosen = name.removesuffix("_scalar"), "Tensor"
    elif name == "rsub":
        chosen = "Tensor" if isinstance(args[1], Tensor) else "Scalar"
    elif name == "pow_scalar":
        name, chosen = "pow", "Tensor_Scalar"
    elif name == "pow":
        first, second = (isinstance(a, Tensor) for a in args[:2])
        chosen = "Tensor_Tensor" if first and second else "Tensor_Scalar" if first else "Scalar"
    elif name in ("sum", "mean") and len(args) > 1 and args[1] is not None:
        chosen = "dim_IntList" if name == "sum" else "dim"
    name = _ATEN_NAMES.get(name) or name.removesuffix("_dim").removesuffix("_dims").removesuffix("_all")
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


def given_arguments(op: Op, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments as the op is called with them: without defaults at the end."""
    count = len(args)
    while count > 1 and op.params[count - 1] in op.defaults and args[count - 1] is op.defaults[op.params[count - 1]]:
        count -= 1
    return tuple(args[:count])


_GUARD = "__torch_dispatch__"


def _values(args: Sequence[Any]) -> Iterator[Any]:
    for value in args:
        if type(value) in (list, tuple):
            yield from _values(value)
        else:
            yield value


def asked_among(values: Any) -> list[Any]:
    """The tensors whose classes are asked, one of each class, those of subclasses before those of their bases."""
    found: list[Any] = []
    if tls.state.excluded & PYTHON:
        return found
    for value in _values(values):
        kind = type(value)
        if not isinstance(value, Tensor) or not wants_to_be_asked(kind) or any(type(f) is kind for f in found):
            continue
        place = next((i for i, f in enumerate(found) if issubclass(kind, type(f))), len(found))
        found.insert(place, value)
    return found


def check_plain_method(mode: Any) -> None:
    if isinstance(getattr(mode.__torch_dispatch__, "__self__", None), type):
        raise RuntimeError(
            f"Defining your mode's `__torch_dispatch__` as a classmethod is not supported, please make it a plain "
            f"method: {type(mode).__name__}"
        )


def _rule(func: Any, kind: type) -> Callable[..., Any] | None:
    """What was registered for a custom op in the place of a class's or a mode's `__torch_dispatch__`."""
    return func.rules.get(kind) if isinstance(func, OpOverload) else None


def ask_classes(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the mode, or the first class that makes anything of it, makes of an op. TypeError if none does."""
    state = tls.state
    asked = asked_among((*args, *kwargs.values()))
    types = tuple(type(t) for t in asked)
    said = []
    before = exclude(AUTOGRAD | ADINPLACEORVIEW, _GUARD)
    try:
        if state.dispatch_modes:
            mode = state.dispatch_modes.pop()
            try:
                check_plain_method(mode)
                rule = _rule(func, type(mode))
                answer = mode.__torch_dispatch__ if rule is None else functools.partial(rule, mode)
                found = answer(func, types, args, kwargs)
            finally:
                state.dispatch_modes.append(mode)
            if found is not NotImplemented:
                return found
            said.append(f"mode object {mode!r}")
        for t in asked:
            rule = _rule(func, type(t))
            answer = type(t).__torch_dispatch__ if rule is None else functools.partial(rule, type(t))
            found = answer(func, types, args, kwargs)
            if found is not NotImplemented:
                return found
            said.append(f"tensor subclass {type(t)}")
    finally:
        leave_excluded(before, _GUARD)
    lines = "".join(f"\n\n  - {line}" if not i else f"\n  - {line}" for i, line in enumerate(said))
    raise TypeError(
        f"Multiple dispatch failed for '{func.__module__}.{func.__name__}'; all __torch_dispatch__ handlers returned "
        f"NotImplemented:{lines}\n\nFor more information, try re-running with TORCH_LOGS=not_implemented"
    )


def _as_called(op: Op, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments by position, and those that are keywords alone; without what is the default."""
    if op.name == "as_strided":
        (size, stride, offset), _ = args[1:]
        return (args[0], list(size), list(stride), offset), {}
    args = tuple(list(a) if type(a) is tuple else a for a in args)
    if len(args) != len(op.params):
        return args, {}
    count = op.positional
    while count > 1 and (op.name, op.params[count - 1]) in _KEYWORDS:
        count -= 1
    keywords = {
        name: value
        for name, value in zip(op.params[count:], args[count:], strict=True)
        if not _is_default(value, op.defaults.get(name, Tensor))
    }
    while count > 1 and _is_default(args[count - 1], op.defaults.get(op.params[count - 1], Tensor)):
        count -= 1
    return args[:count], keywords


#: Parameters that are keywords alone in PyTorch's schemas.
_KEYWORDS = frozenset(
    [(op, "alpha") for op in "add sub rsub addmm addmv addr addbmm baddbmm index_add".split()]
    + [(op, "beta") for op in "addmm addmv addr addbmm baddbmm".split()]
    + [(op, "value") for op in ("addcmul", "addcdiv")]
    + [(op, "dtype") for op in "sum mean prod cumsum cumprod nansum _to_copy".split()]
)


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (type(value) in (int, float, bool) and type(default) is type(value) and value == default)


def _tensor(found: Any) -> Tensor:
    if not isinstance(found, Tensor):
        raise RuntimeError(f"Unable to cast {found} to Tensor")
    return found


def _recording(op: Op, state: ThreadState, tensors: Sequence[Tensor], keys: int) -> bool:
    return bool(keys & AUTOGRAD and state.grad_mode and op.differentiable) and any(map(requires_grad, tensors))


def _alias_of_argument(t: Tensor, tensors: Sequence[Tensor]) -> Tensor:
    """A result, which gets its own history: where a mode or a class returns an argument, another tensor."""
    return alias(t, t._array, t._keys, t._version_counter) if type(t) is Tensor and any(t is a for a in tensors) else t


def _functional(op: Op, state: ThreadState, args: tuple[Any, ...], tensors: list[Tensor], keys: int) -> Any:
    node: OpNode | None = None
    if _recording(op, state, tensors, keys):
        node, _ = recorded_node(op, args)
    func = overload_of(op, given_arguments(op, args), False)
    found = ask_classes(func, *_as_called(op, args))
    if found is None and node is None:
        return None
    results = [_tensor(f) for f in (found if isinstance(found, (list, tuple)) else (found,))]
    results = [_alias_of_argument(t, tensors) for t in results]
    if node is not None and op.outputs is not None:
        give_history(op, node, results)
    elif node is not None and results[0]._array.dtype.kind in "fcV":
        set_history(results[0], node)
        if op.saves_result:
            node.saved["result"] = Saved(results[0], True)
    return results[0] if op.outputs is None else op.outputs(results)


def _write(op: Op, state: ThreadState, args: tuple[Any, ...]) -> Callable[[], None]:
    func = overload_of(op, given_arguments(op, args), True)

    def kernel() -> None:
        ask_classes(func, *_as_called(op, args))

    return kernel


def _tracked(view: Tensor, self: Tensor, state: ThreadState, keys: int, multi: bool) -> None:
    """Make what a class returned a view of the tensor that it was asked for."""
    if view is self or not keys & ADINPLACEORVIEW or not self._keys & AUTOGRAD:
        return
    if state.inference_mode:
        meta = INFERENCE_MODE
    elif not state.grad_mode:
        meta = NO_GRAD_MODE
    else:
        meta = MULTI_OUTPUT_NODE if multi else DEFAULT
    track(view, self, meta)


def _view(op: Op, state: ThreadState, self: Tensor, args: tuple[Any, ...], keys: int, multi: bool) -> Tensor:
    node: OpNode | None = None
    if _recording(op, state, (self,), keys):
        node, _ = recorded_node(op, (self, *args))
    func = overload_of(op, (self, *args), False)
    found = _tensor(ask_classes(func, *_as_called(op, (self, *args))))
    _tracked(found, self, state, keys, multi)
    if node is not None:
        set_history(found, node)
    return found


def _views(op: Op, state: ThreadState, self: Tensor, args: tuple[Any, ...], keys: int) -> list[Tensor]:
    node: OpNode | None = None
    if _recording(op, state, (self,), keys):
        node, _ = recorded_node(op, (self, *args))
    func = overload_of(op, (self, *args), False)
    found = [_tensor(f) for f in ask_classes(func, *_as_called(op, (self, *args)))]
    for nr, view in enumerate(found):
        _tracked(view, self, state, keys, True)
        if node is not None:
            set_history(view, node, nr)
    return found


def _out(op: Op, state: ThreadState, args: tuple[Any, ...], out: Tensor, keys: int) -> Tensor:
    func = overload_of(op, given_arguments(op, args), False).overloadpacket.out
    given, keywords = _as_called(op, args)
    ask_classes(func, given, {**keywords, "out": out})
    if keys & ADINPLACEORVIEW:
        bump(out, state)
    return out


def _by_name(name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, overload: str = "default") -> Any:
    """What is said of an op that passes no layers here."""
    func = getattr(getattr(ops.aten, name), overload)
    found = ask_classes(func, args, kwargs or {})
    return found if name == "_local_scalar_dense" else _tensor(found)


def share_memory(view: Tensor, base: Tensor) -> None:
    """Let a tensor without elements lie in the memory of another, as far into it as it says."""
    if type(view._array) is StandInArray and type(base._array) is StandInArray:
        root = base._storage[1]
        part = root[view.storage_offset() :]
        view._array = np.lib.stride_tricks.as_strided(part, view._array.shape, view._array.strides, subok=True)
    view._storage = base._storage


ASKING.functional, ASKING.write, ASKING.out = _functional, _write, _out
ASKING.view, ASKING.views, ASKING.by_name, ASKING.ask = _view, _views, _by_name, ask_classes
