"""out= of functions that are made of ops: the result is computed apart and written, as `run_out` does for ops."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ..core import dtypes, error_texts
from ..core.argument_errors import wrong_type
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor, requires_grad
from ..core.thread_state import ADINPLACEORVIEW, AUTOGRAD, tls
from ..dispatch.inplace_layers import bump
from ..dispatch.memory_overlap import assert_no_overlap
from ..dispatch.out_argument import resize_output

_ACCEPT_OUT = """
where mean prod std var norm softmax log_softmax square outer floor_divide scatter nonzero sort topk
rand randn randint randperm lerp max min
"""
_SAME_DTYPE = "Expected out tensor to have dtype {want.short}, but got {got.short} instead"
_REFUSALS = {
    "where": "Expected out type to be {want.scalar_name} but got {got.scalar_name}",
    **dict.fromkeys(("norm", "softmax", "log_softmax", "max", "min"), _SAME_DTYPE),
}


def _write(found: Tensor, out: Any, name: str) -> Tensor:
    if not isinstance(out, Tensor):
        raise wrong_type(name, "out", 0, out)
    source, target = found._array, out._array
    if name in _REFUSALS and source.dtype != target.dtype:
        raise RuntimeError(_REFUSALS[name].format(want=found.dtype, got=out.dtype))
    if not dtypes.can_cast(source.dtype, target.dtype):
        raise dtypes.cast_error(source.dtype, target.dtype)
    resize_output(out, source.shape)
    assert_no_overlap(out, ())
    np.copyto(out._array, source, casting="unsafe")
    out._storage[0] += 1
    state = tls.state
    if (out._keys | state.included) & ~state.excluded & ADINPLACEORVIEW:
        bump(out, state)
    return out


def _with_out(call: Callable[..., Any], name: str) -> Callable[..., Any]:
    @wraps(call)
    def function(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is None:
            return call(*args, **kwargs)
        state = tls.state
        targets = out if isinstance(out, tuple | list) else (out,)
        if state.grad_mode and not state.excluded & AUTOGRAD:
            given = (*args, *kwargs.values(), *targets)
            if any(isinstance(a, Tensor) and requires_grad(a) for a in given):
                raise error_texts.out_requires_grad(f"aten::{name}" if name.startswith("rand") else name)
        if name == "prod" or (name == "mean" and args and args[0]._array.dtype.kind in "fc"):
            kwargs.setdefault("dtype", out.dtype)  # what it is computed in
        grad_mode, state.grad_mode = state.grad_mode, False
        try:
            found = call(*args, **kwargs)
        finally:
            state.grad_mode = grad_mode
        if isinstance(found, Tensor):
            return _write(found, out, name)
        return type(found)(*[_write(f, target, name) for f, target in zip(found, targets, strict=True)])

    return function


for _name in _ACCEPT_OUT.split():
    FUNCTIONS[_name] = _with_out(FUNCTIONS[_name], _name)
