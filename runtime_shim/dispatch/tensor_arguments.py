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
            if i in op.lists:
                _not_a_tensor(op, args, i)
            found.append(value)
            keys |= value._keys
        elif type(value) in (list, tuple):
            if i not in op.lists and i not in op.index_lists:
                _not_a_tensor(op, args, i)
            for nr, v in enumerate(value):
                if isinstance(v, Tensor):
                    found.append(v)
                    keys |= v._keys
                elif i in op.lists:
                    raise TypeError(f"expected Tensor as element {nr} in argument 0, but got {type(v).__name__}")
        elif value is None and (i in op.optional or not op.public):
            continue
        elif not isinstance(value, NUMBERS) or i in op.only_tensors:
            _not_a_tensor(op, args, i)
        elif op.wraps and tls.state.wrap_scalars and not tls.state.inference_mode:
            keys |= NORMAL_KEYS
    if not found:
        _not_a_tensor(op, args)
    return found, keys


#: What may be given where a Python number will do.
NUMBERS = (int, float, complex, np.generic)


def _not_a_tensor(op: Op, args: tuple[Any, ...], position: int | None = None) -> None:
    from ..core.argument_errors import wrong_type

    if position is None:
        position = op.tensor_positions[0]
    value = args[position]
    if op.empty_list is not None and type(value) in (list, tuple) and not value:
        kind, message = op.empty_list
        raise kind(message)
    wanted = "tuple of Tensors" if position in op.lists else "Tensor"
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
