"""`out=`: running an op into an existing tensor."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

import numpy as np

from ..core import dtypes, error_texts
from ..core.argument_errors import wrong_type
from ..core.python_key import ASKING
from ..core.return_types import out_type
from ..core.tensor import Tensor, new_tensor, requires_grad
from ..core.thread_state import ADINPLACEORVIEW, AUTOGRAD, PYTHON, tls
from .inplace_layers import bump
from .memory_overlap import assert_no_overlap, may_share, resize_storage
from .op_description import Op, OutRule
from .tensor_arguments import arguments_of, arrays

#: The functions that take a Python number for any of their tensors (torch/csrc/utils/python_arg_parser.cpp).
_NUMBERS_WILL_DO = frozenset({"add", "sub", "mul", "div", "floor_divide"})


def run_out(op: Op, args: tuple[Any, ...], out: Tensor) -> Tensor:
    """Run an op into an existing tensor, resizing it if need be."""
    state = tls.state
    if op.title in _NUMBERS_WILL_DO and isinstance(out, bool | int | float | complex):
        out = new_tensor(np.array(out))
    if not isinstance(out, Tensor):
        raise TypeError(f"{op.name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    tensors, keys = arguments_of(op, args)
    keys = (keys | out._keys | state.included) & ~state.excluded
    if keys & AUTOGRAD and state.grad_mode and op.differentiable and any(requires_grad(t) for t in [*tensors, out]):
        raise error_texts.out_requires_grad(op.title)
    if keys & PYTHON:
        return cast(Tensor, ASKING.out(op, state, args, out, keys))
    if "dtype" in op.params:
        _check_asked_dtype(args[op.params.index("dtype")], out)
    rule = op.out
    if not rule.resized_first and op.checks_overlap:
        assert_no_overlap(out, (out, *args))
    if rule.computed_in and args[-1] is None:
        args = (*args[:-1], out.dtype)
    found = np.asarray(op.kernel(*arrays(args)))
    rule.dtype(op.title, found.dtype, out._array.dtype)
    if not rule.resized_first:
        resize_output(out, found.shape)
    else:
        shared = rule.apart and any(may_share(t, out) for t in tensors)
        if op.lists or not shared:
            resize_output(out, found.shape)
        assert_no_overlap(out, ())
        if shared:
            raise RuntimeError(error_texts.PARTIAL_OVERLAP)
    if state.before_write is not None:
        state.before_write(out)
    np.copyto(out._array, found, casting="unsafe")
    out._storage[0] += 1
    if keys & ADINPLACEORVIEW:
        bump(out, state)
    if state.tracer is not None:
        state.tracer.record(op.name, keys, out)
    return out


def _check_asked_dtype(asked: Any, out: Tensor) -> None:
    """RuntimeError if `dtype=` says something else than `out` has."""
    if isinstance(asked, dtypes.dtype) and asked is not out.dtype:
        raise RuntimeError(f"Expected out tensor to have dtype {asked.short}, but got {out.dtype.short} instead")


def resize_output(out: Tensor, shape: tuple[int, ...], *, warn: bool = True) -> None:
    """Give `out` the shape of a result, in a new storage if it has another; counts as no write."""
    if out._array.shape == shape:
        return
    if out._array.size and warn:
        import warnings

        warnings.warn(
            "An output with one or more elements was resized since it had shape "
            f"{dtypes.sizes(out._array.shape)}, "
            f"which does not match the required output shape {dtypes.sizes(shape)}. This behavior is "
            "deprecated, and "
            "in a future PyTorch release outputs will not be resized unless they have zero elements. You can "
            "explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
            UserWarning,
            stacklevel=4,
        )
    resize_storage(out, shape)


def with_out(
    call: Callable[..., Any],
    name: str,
    rule: OutRule | tuple[OutRule, ...],
    computed_in_out: Callable[..., bool] | None = None,
) -> Callable[..., Any]:
    """`call`, made of other ops or with several results, with an `out=`: one for each result, by one rule or each by
    its own.

    What it computes is written as `run_out` does for an op. Where `computed_in_out` of its arguments holds, it is
    computed in the dtype of `out`.
    """

    @wraps(call)
    def function(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is None:
            return call(*args, **kwargs)
        state = tls.state
        targets = out if isinstance(out, (tuple, list)) else (out,)
        if state.grad_mode and not state.excluded & AUTOGRAD:
            given = (*args, *kwargs.values(), *targets)
            if any(isinstance(a, Tensor) and requires_grad(a) for a in given):
                raise error_texts.out_requires_grad(name)
        if type(rule) is tuple and isinstance(out, Tensor):
            raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not Tensor")
        if computed_in_out is not None and isinstance(out, Tensor):
            _check_asked_dtype(kwargs.get("dtype"), out)
        if computed_in_out is not None and computed_in_out(*args):
            kwargs.setdefault("dtype", out.dtype)
        grad_mode, state.grad_mode = state.grad_mode, False
        try:
            found = call(*args, **kwargs)
        finally:
            state.grad_mode = grad_mode
        if isinstance(found, Tensor):
            assert type(rule) is OutRule
            return _write_result(found, out, name, rule)
        if len(targets) != len(found):
            raise TypeError(f"expected tuple of {len(found)} elements but got {len(targets)}")
        rules = rule if isinstance(rule, tuple) else (rule,) * len(found)
        written = [_write_result(f, target, name, r) for f, target, r in zip(found, targets, rules, strict=True)]
        return tuple(written) if type(found) is tuple else out_type(type(found))(*written)

    return function


def _write_result(found: Tensor, out: Any, name: str, rule: OutRule) -> Tensor:
    if not isinstance(out, Tensor):
        raise wrong_type(name, "out", 0, out)
    rule.dtype(name, found._array.dtype, out._array.dtype)
    resize_output(out, found._array.shape)
    assert_no_overlap(out, ())
    state = tls.state
    if state.before_write is not None:
        state.before_write(out)
    np.copyto(out._array, found._array, casting="unsafe")
    out._storage[0] += 1
    if (out._keys | state.included) & ~state.excluded & ADINPLACEORVIEW:
        bump(out, state)
    return out
