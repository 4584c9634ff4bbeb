"""Ops that choose between values: clamp, where and their kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.argument_errors import invalid_combination, public_call
from ..core.dtypes import Array, result_type
from ..core.function_table import FUNCTIONS
from ..core.numpy_functions import where as choose
from ..core.reordered_array import elementwise
from ..core.tensor import Tensor, attach
from ..dispatch.inplace_layers import store
from ..dispatch.op_description import ANY_DTYPE, FOUND_DTYPE, RESIZED, Computes, DtypeRefusal, OutRule, same_dtype
from ..dispatch.registration import composite, op
from .ufunc_makers import cast, is_operand


def _clamp_self(grad: Tensor, self: Tensor, min: Any, max: Any) -> Tensor:
    inside = None
    if min is not None:
        inside = self >= min
    if max is not None:
        inside = self <= max if inside is None else inside & (self <= max)
    return FUNCTIONS["where"](inside, grad, 0.0)


def _clamp_kernel(self: Any, min: Any, max: Any) -> Array:
    bounds = [b for b in (min, max) if b is not None]
    if not bounds:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    common = result_type(self, *bounds)
    found = cast(self, common)
    try:
        if min is not None:
            found = np.maximum(found, cast(min, common))
        if max is not None:
            found = np.minimum(found, cast(max, common))
    except ValueError:
        for bound in bounds:
            dtypes.broadcast_shapes(self.shape, np.shape(bound))
        raise
    return elementwise(found, self, *(b for b in bounds if isinstance(b, np.ndarray) and b.ndim))


def _clamp_in_place(self: Any, min: Any = None, max: Any = None) -> None:
    found = _clamp_kernel(self, min, max)
    if not dtypes.can_cast(found.dtype, self.dtype):
        raise RuntimeError(
            f"result type {dtypes.of(found).scalar_name} can't be cast to the desired output type "
            f"{dtypes.of(self).short}"
        )
    store(self, found)


@op(
    "clamp",
    computes=Computes(
        "bif", refusals=(DtypeRefusal("c", NotImplementedError, "clamp is not supported for complex types"),)
    ),
    out=OutRule(FOUND_DTYPE),
    inplace_kernel=_clamp_in_place,
    numbers=("self",),
    title="clamp",
    node="ClampBackward1",
    inplace=True,
    method=False,
    function=False,
    self=_clamp_self,
)
def _clamp_scalar(self: Any, min: Any = None, max: Any = None) -> Array:
    return _clamp_kernel(self, min, max)


@op(
    "clamp_tensor",
    computes=Computes(
        "if", refusals=(DtypeRefusal("c", NotImplementedError, "clamp is not supported for complex types"),)
    ),
    out=OutRule(FOUND_DTYPE),
    inplace_kernel=_clamp_in_place,
    numbers=(
        "self",
        "min",
        "max",
    ),
    title="clamp",
    node="ClampBackward0",
    inplace=True,
    method=False,
    function=False,
    tensor_params=("self", "min", "max"),
    self=_clamp_self,
    min=lambda grad, self, min: FUNCTIONS["where"](self < min, grad, 0.0),
    max=lambda grad, self, max: FUNCTIONS["where"](self > max, grad, 0.0),
)
def _clamp_tensor(self: Any, min: Any = None, max: Any = None) -> Array:
    return _clamp_kernel(self, min, max)


@composite("clamp")
def clamp(self: Tensor, min: Any = None, max: Any = None, *, out: Tensor | None = None) -> Any:
    """Limit to [min, max]; numbers or tensors."""
    for bound in (min, max):
        if bound is not None and not is_operand(bound):
            called = public_call()
            raise invalid_combination("clamp", tuple(a for a in called[2] if a is not None) if called else ())
    chosen = _clamp_tensor if isinstance(min, Tensor) or isinstance(max, Tensor) else _clamp_scalar
    return chosen(self, min, max, out=out) if out is not None else chosen(self, min, max)


@composite("clamp_")
def clamp_(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    chosen = _clamp_tensor if isinstance(min, Tensor) or isinstance(max, Tensor) else _clamp_scalar
    return chosen.inplace(self, min, max)  # type: ignore[attr-defined]


FUNCTIONS["clip"] = clamp
attach("clip", clamp)


def _one_bound(name: str, node: str, kernel: Any, in_place: Any, gradient: Any) -> Any:
    """`clamp` with one bound, a number: an op of its own."""
    return op(
        name,
        computes=Computes(
            "bif", refusals=(DtypeRefusal("c", NotImplementedError, f"{name} is not supported for complex types"),)
        ),
        out=OutRule(FOUND_DTYPE),
        inplace_kernel=in_place,
        numbers=("self",),
        node=node,
        inplace=True,
        method=False,
        function=False,
        self=gradient,
    )(kernel)


_clamp_min = _one_bound(
    "clamp_min",
    "ClampMinBackward0",
    lambda self, min: _clamp_kernel(self, min, None),
    lambda self, min: _clamp_in_place(self, min, None),
    lambda grad, self, min: where(self >= min, grad, 0.0),
)
_clamp_max = _one_bound(
    "clamp_max",
    "ClampMaxBackward0",
    lambda self, max: _clamp_kernel(self, None, max),
    lambda self, max: _clamp_in_place(self, None, max),
    lambda grad, self, max: where(self <= max, grad, 0.0),
)


@composite("clamp_min")
def clamp_min(self: Tensor, min: Any) -> Any:
    return _clamp_min(self, min) if isinstance(min, int | float) else clamp(self, min)


@composite("clamp_max")
def clamp_max(self: Tensor, max: Any) -> Any:
    return _clamp_max(self, max) if isinstance(max, int | float) else clamp(self, None, max)


@composite("clamp_min_")
def clamp_min_(self: Tensor, min: Any) -> Any:
    return _clamp_min.inplace(self, min) if isinstance(min, int | float) else clamp_(self, min)


@composite("clamp_max_")
def clamp_max_(self: Tensor, max: Any) -> Any:
    return _clamp_max.inplace(self, max) if isinstance(max, int | float) else clamp_(self, None, max)


composite("clip_")(clamp_)


@op(
    "where",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    function=False,
    wraps=True,
    tensor_params=("condition", "self", "other"),
    self=lambda grad, condition: where(condition, grad, 0.0),
    other=lambda grad, condition: where(condition, 0.0, grad),
)
def _where(condition: Any, self: Any, other: Any) -> Array:
    if type(self) is type(other) is type(condition) is np.ndarray and self.dtype is other.dtype:
        try:
            chosen: Array = choose(condition, self, other)
            return chosen
        except ValueError:
            pass  # below it is said what is wrong
    common = result_type(self, other)
    try:
        return np.where(condition, cast(self, common), cast(other, common))
    except ValueError:
        shape = dtypes.broadcast_shapes(np.shape(condition), np.shape(self))
        dtypes.broadcast_shapes(shape, np.shape(other))
        raise


@composite(
    "where",
    method=False,
    out=OutRule(same_dtype("Expected out type to be {want.scalar_name} but got {got.scalar_name}")),
)
def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """Elements of `input` where the condition holds, else of `other`."""
    if not isinstance(condition, Tensor):
        raise invalid_combination("where", tuple(a for a in (condition, input, other) if a is not None))
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if condition._array.dtype.kind != "b" and condition._array.dtype != np.uint8:
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{condition.dtype.scalar_name}"
        )
    return _where(condition, input, other)


def _where_method(self: Tensor, condition: Tensor, other: Any) -> Any:
    return where(condition, self, other)


attach("where", _where_method)
