"""The tensors among an op's arguments, and what is refused there."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..core.thread_state import NORMAL_KEYS, tls
from .op_description import Op


def arguments_of(op: Op, args: tuple[Any, ...]) -> tuple[list[Tensor], int]:
    """The tensors among the arguments, and the union of their keys."""
    found: list[Tensor] = []
    keys = 0
    for i in op.tensor_positions:
        value = args[i]
        if isinstance(value, Tensor):
            if op.params[i] == "tensors":
                _not_a_tensor(op, args, i)
            found.append(value)
            keys |= value._keys
        elif type(value) in (list, tuple):
            if op.params[i] not in _LIST_PARAMS:
                _not_a_tensor(op, args, i)
            for nr, v in enumerate(value):
                if isinstance(v, Tensor):
                    found.append(v)
                    keys |= v._keys
                elif op.params[i] == "tensors":
                    raise TypeError(f"expected Tensor as element {nr} in argument 0, but got {type(v).__name__}")
        elif value is None and (i in op.optional or not op.public):
            continue
        elif not isinstance(value, _NUMBERS) or i in op.only_tensors:
            _not_a_tensor(op, args, i)
        elif op.wraps and tls.state.wrap_scalars and not tls.state.inference_mode:
            keys |= NORMAL_KEYS
    if not found:
        _not_a_tensor(op, args)
    return found, keys


#: Parameters of ops that are lists of tensors.
_LIST_PARAMS = ("tensors", "indices")


_NUMBERS = (int, float, complex, np.generic)


_EMPTY_LIST = {
    "cat": (ValueError, "torch.cat(): expected a non-empty list of Tensors"),
    "stack": (RuntimeError, "stack expects a non-empty TensorList"),
}


def _not_a_tensor(op: Op, args: tuple[Any, ...], position: int | None = None) -> None:
    from ..core.argument_errors import wrong_type

    if position is None:
        position = op.tensor_positions[0]
    value = args[position]
    if type(value) in (list, tuple) and not value and op.name in _EMPTY_LIST:
        kind, message = _EMPTY_LIST[op.name]
        raise kind(message)
    wanted = "tuple of Tensors" if op.params[position] == "tensors" else "Tensor"
    raise wrong_type(op.title, op.params[position], position + 1, value, wanted)


def arrays(args: tuple[Any, ...]) -> list[Any]:
    """The arguments as kernels take them."""
    return [
        a._array
        if isinstance(a, Tensor)
        else [v._array if isinstance(v, Tensor) else v for v in a]
        if type(a) in (list, tuple)
        else a
        for a in args
    ]
