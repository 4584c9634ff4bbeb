"""Which overload of `torch.ops.aten` an op is, and the arguments that it is given with."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.tensor import Tensor, alias, new_tensor
from ..dispatch.op_description import Op
from ..dispatch.tensor_arguments import arrays
from ..library.custom_ops import aten_packet, ops

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
