"""Elements chosen by conditions and masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.array_kinds import elementwise, packed
from ..core.dtypes import Array, result_type
from ..core.error_texts import MISSING, invalid_combination, public_call
from ..core.function_table import FUNCTIONS
from ..core.function_table import where as choose
from ..core.tensor import Tensor, attach
from ..dispatch.op_description import (
    ANY_DTYPE,
    FOUND_DTYPE,
    RESIZED,
    SAME_SCALAR,
    Computes,
    OutRule,
    not_for_complex,
    same_dtype,
)
from ..dispatch.registration import composite, inner_op, op
from ..dispatch.writing_layers import store
from . import views
from .ufunc_makers import cast, is_operand

_NOT_FOR_COMPLEX = "clamp is not supported for complex types"


def _clamp_self(grad: Tensor, self: Tensor, min: object, max: object) -> Tensor:
    inside = None
    if min is not None:
        inside = self >= min
    if max is not None:
        inside = self <= max if inside is None else inside & (self <= max)
    return FUNCTIONS["where"](inside, grad, 0.0)


def _bounded(beyond: Any, either: Any, values: Any, bound: Any) -> Any:
    """Where a value is beyond the bound, the bound. A zero keeps its sign at a bound of zero that is a number."""
    if values.dtype.kind == "f" and np.ndim(bound) == 0 and bound == 0:
        return np.where(beyond(values, bound), bound, values)
    return either(values, bound)


def _clamp_kernel(self: Any, min: Any, max: Any) -> Array:
    bounds = [b for b in (min, max) if b is not None]
    if not bounds:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    common = result_type(self, *bounds)
    found = cast(self, common)
    try:
        if min is not None:
            found = _bounded(np.less, np.maximum, found, cast(min, common))
        if max is not None:
            found = _bounded(np.greater, np.minimum, found, cast(max, common))
    except ValueError:
        for bound in bounds:
            dtypes.broadcast_shapes(self.shape, np.shape(bound))
        raise
    return elementwise(found, self, *(b for b in bounds if isinstance(b, np.ndarray) and b.ndim))


def _clamp_in_place(self: object, min: object = None, max: object = None) -> None:
    _store_clamped(self, _clamp_scalar.op.kernel(self, min, max))  # type: ignore[attr-defined]


def _store_clamped(self: Any, found: Array) -> None:
    if not dtypes.can_cast(found.dtype, self.dtype):
        raise RuntimeError(
            f"result type {dtypes.of(found).scalar_name} can't be cast to the desired output type "
            f"{dtypes.of(self).short}"
        )
    store(self, found)


@inner_op(
    "clamp",
    computes=Computes("bif", refusals=(not_for_complex(_NOT_FOR_COMPLEX),)),
    out=OutRule(FOUND_DTYPE),
    inplace_kernel=_clamp_in_place,
    numbers=("self",),
    title="clamp",
    node="ClampBackward1",
    inplace=True,
    self=_clamp_self,
)
def _clamp_scalar(self: Any, min: Any = None, max: Any = None) -> Array:
    found = _clamp_kernel(self, min, max)
    _check_kind(found, "clamp" if min is not None and max is not None else "clamp_max" if min is None else "clamp_min")
    return found


def _check_kind(found: Array, name: str) -> None:
    """What PyTorch's kernels of bounds that are numbers refuse."""
    if found.dtype.kind == "b":
        raise NotImplementedError(f"\"{name}_scalar_cpu\" not implemented for 'Bool'")
    if found.dtype.kind == "c":
        raise NotImplementedError(_NOT_FOR_COMPLEX)


def _bound_below(grad: Tensor, self: Tensor, min: Any, max: Any) -> Tensor:
    """The gradient of `min`: none where it is above `max`, which then is the result."""
    below = self < min
    return FUNCTIONS["where"](below if max is None else below.logical_and_(min < max), grad, 0.0)


def _bound_above(grad: Tensor, self: Tensor, min: Any, max: Any) -> Tensor:
    above = self > max
    return FUNCTIONS["where"](above if min is None else above.logical_or_(max < min), grad, 0.0)


@op(
    "clamp_tensor",
    computes=Computes("bif", refusals=(not_for_complex(_NOT_FOR_COMPLEX),)),
    numbers=("self",),
    title="clamp",
    node="ClampBackward0",
    inplace=True,
    method=False,
    function=False,
    self=_clamp_self,
    min=_bound_below,
    max=_bound_above,
)
def _clamp_tensor(self: Any, min: Any = None, max: Any = None) -> Array:
    found = _clamp_kernel(self, min, max)
    if found.dtype.kind == "b" and min is not None and max is not None:
        raise NotImplementedError("\"clamp_cpu\" not implemented for 'Bool'")
    return found


_REAL_OR_NONE = frozenset({int, float, type(None)})


def _chosen_by_bounds(self: object, *bounds: object) -> tuple[Any, ...]:
    """The overload, and the bounds as it takes them; TypeError if they are neither all numbers nor all tensors."""
    if type(bounds[0]) in _REAL_OR_NONE and type(bounds[1]) in _REAL_OR_NONE and isinstance(self, Tensor):
        return _clamp_scalar, *bounds
    given = [b for b in bounds if b is not None]
    if given and all(isinstance(b, Tensor) for b in given) and isinstance(self, Tensor):
        return _clamp_tensor, *bounds
    numbers = [
        b.item() if isinstance(b, Tensor) and not b._array.ndim and not b.requires_grad else b for b in bounds
    ]  # a tensor without dimensions will do in the place of a number
    if not isinstance(self, Tensor) or any(isinstance(b, Tensor) or not (b is None or is_operand(b)) for b in numbers):
        name, _, values = public_call() or ("clamp", False, (self, *bounds))
        raise invalid_combination(name, tuple(a for a in values if a is not None))
    if any(isinstance(b, complex) for b in numbers):
        raise RuntimeError("value cannot be converted to type double without overflow")
    return _clamp_scalar, *numbers


@composite("clamp")
def clamp(self: Tensor, min: object = None, max: object = None, *, out: Tensor | None = None) -> Any:
    """Limit to [min, max]; numbers or tensors."""
    chosen, min, max = _chosen_by_bounds(self, min, max)
    return chosen(self, min, max, out=out) if out is not None else chosen(self, min, max)


@composite("clamp_")
def clamp_(self: Tensor, min: object = None, max: object = None) -> Tensor:
    chosen, min, max = _chosen_by_bounds(self, min, max)
    found: Tensor = chosen.inplace(self, min, max)
    return found


composite("clip")(clamp)


def _one_bound(name: str, node: str, bound: str, kernel: Any, label: str, inside: Any, outside: Any) -> Any:
    """`clamp` with one bound: its own op by a number, and another by a tensor. What is returned chooses one."""

    def of_number(self: Any, min: Any) -> Array:
        found: Array = kernel(self, min)
        _check_kind(found, name)
        return found

    def in_place(self: object, bound: object) -> None:
        _store_clamped(self, of_number(self, bound))

    options: dict[str, Any] = {"inplace": True, "method": False, "function": False, "title": name, "self": inside}
    by_number = op(
        name,
        computes=Computes("bif", refusals=(not_for_complex(_NOT_FOR_COMPLEX),)),
        out=OutRule(FOUND_DTYPE),
        inplace_kernel=in_place,
        tensor_params=("self",),
        node=f"{node}0",
        **options,
    )(of_number if bound == "min" else lambda self, max: of_number(self, max))
    by_tensor = op(name, computes=Computes("bif", label), node=f"{node}1", **options, **{bound: outside})(kernel)

    def chosen(self: object, bound: object) -> Any:
        if not isinstance(self, Tensor) or not is_operand(bound):
            called = public_call()
            raise invalid_combination(name, called[2] if called else ())
        return by_tensor if isinstance(bound, Tensor) else by_number

    return chosen


_clamp_min = _one_bound(
    "clamp_min",
    "ClampMinBackward",
    "min",
    lambda self, min: _clamp_kernel(self, min, None),
    "maximum_cpu",
    lambda grad, self, min: where(self >= min, grad, 0.0),
    lambda grad, self, min: where(self < min, grad, 0.0),
)
_clamp_max = _one_bound(
    "clamp_max",
    "ClampMaxBackward",
    "max",
    lambda self, max: _clamp_kernel(self, None, max),
    "minimum_cpu",
    lambda grad, self, max: where(self <= max, grad, 0.0),
    lambda grad, self, max: where(self > max, grad, 0.0),
)


@composite("clamp_min")
def clamp_min(self: Tensor, min: object = MISSING, *, out: Tensor | None = None) -> Any:
    found = _clamp_min(self, min)
    return found(self, min) if out is None else found(self, min, out=out)


@composite("clamp_max")
def clamp_max(self: Tensor, max: object = MISSING, *, out: Tensor | None = None) -> Any:
    found = _clamp_max(self, max)
    return found(self, max) if out is None else found(self, max, out=out)


@composite("clamp_min_")
def clamp_min_(self: Tensor, min: object = MISSING) -> Any:
    return _clamp_min(self, min).inplace(self, min)


@composite("clamp_max_")
def clamp_max_(self: Tensor, max: object = MISSING) -> Any:
    return _clamp_max(self, max).inplace(self, max)


composite("clip_")(clamp_)


@inner_op(
    "where",
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
            pass  # the error is raised below
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
def where(condition: Tensor, input: object = MISSING, other: object = MISSING) -> Any:
    """Elements of `input` where the condition holds, else of `other`."""
    if input is MISSING and other is MISSING and isinstance(condition, Tensor):
        return condition.nonzero(as_tuple=True)
    absent = input is MISSING or input is None or other is MISSING or other is None
    if absent or not isinstance(condition, Tensor):
        raise invalid_combination("where", tuple(a for a in (condition, input, other) if a is not MISSING))
    if condition._array.dtype.kind != "b" and condition._array.dtype != np.uint8:
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{condition.dtype.scalar_name}"
        )
    return _where(condition, input, other)


def _where_method(self: Tensor, condition: Tensor, other: object = MISSING) -> Any:
    return where(condition, self, other)


attach("where", _where_method)


def _masked_fill_kernel(self: Any, mask: Any, value: Any) -> Array:
    if mask.dtype.kind != "b":
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {dtypes.of(mask).short}")
    if isinstance(value, np.ndarray) and value.ndim:
        raise RuntimeError(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s)."
        )
    dtypes.broadcast_shapes(mask.shape, self.shape)
    if isinstance(value, complex) and self.dtype.kind != "c":
        raise RuntimeError(f"value cannot be converted to type {dtypes.of(self).short} without overflow")
    if isinstance(value, int | float):
        dtypes.check_number(value, self.dtype)
    found = np.where(mask, np.asarray(value).astype(self.dtype), self)
    return packed(found)


# PyTorch lets it write to an expanded tensor, with a warning.
_masked_fill_tensor = inner_op(
    "masked_fill",
    checks_overlap=False,
    node="MaskedFillBackward1",
    inplace=True,
    leak=2,
    tensor_params=("self", "mask", "value"),
    self=lambda grad, mask: grad.masked_fill(mask, 0),
    value=lambda grad, mask: FUNCTIONS["where"](mask, grad, 0.0).sum(),
)(_masked_fill_kernel)
_masked_fill_number = inner_op(
    "masked_fill",
    checks_overlap=False,
    inplace=True,
    leak=2,
    tensor_params=("self", "mask"),
    self=lambda grad, mask: grad.masked_fill(mask, 0),
)(_masked_fill_kernel)


@composite("masked_fill")
def masked_fill(self: Tensor, mask: Tensor, value: object) -> Tensor:
    """A copy with `value` (a number or 0-dim tensor) where the mask holds."""
    form = _masked_fill_tensor if isinstance(value, Tensor) else _masked_fill_number
    return form(self, mask, value)


@composite("masked_fill_", function=False)
def masked_fill_(self: Tensor, mask: Tensor, value: object) -> Tensor:
    form: Any = _masked_fill_tensor if isinstance(value, Tensor) else _masked_fill_number
    return form.inplace(self, mask, value)


def _masked_select_back(grad: Tensor, self: Tensor, mask: Tensor) -> Tensor:
    self_shape = self._array.shape
    shape = np.broadcast_shapes(self_shape, mask._array.shape)
    return views.sum_back_to(FUNCTIONS["zeros"](shape, dtype=grad.dtype).masked_scatter_(mask, grad), self_shape)


@op(
    "masked_select",
    computes=ANY_DTYPE,
    out=OutRule(SAME_SCALAR, resized_first=True, apart=True),
    tensor_params=("self", "mask"),
    self=_masked_select_back,
)
def masked_select(self: Array, mask: Array) -> Array:
    if mask.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = dtypes.broadcast_shapes(mask.shape, self.shape)
    return np.broadcast_to(self, shape)[np.broadcast_to(mask, shape)]


@op(
    "masked_scatter",
    computes=ANY_DTYPE,
    out=RESIZED,
    inplace=True,
    leak=2,
    tensor_params=("self", "mask", "source"),
    self=lambda grad, mask: grad.masked_fill(mask, 0),
    source=lambda grad, mask, source_shape: _masked_scatter_source(grad, mask, source_shape),
)
def masked_scatter(self: Array, mask: Array, source: Array) -> Array:
    shape = dtypes.broadcast_shapes(self.shape, mask.shape)
    found, where = np.broadcast_to(self, shape).copy(), np.broadcast_to(mask, shape)
    if source.size < where.sum():
        raise RuntimeError("Number of elements of source < number of ones in mask")
    found[where] = source.reshape(-1)[: int(where.sum())]
    return found


def _masked_scatter_source(grad: Tensor, mask: Tensor, shape: tuple[int, ...]) -> Tensor:
    picked = grad.masked_select(mask)
    missing = int(np.prod(shape, dtype=np.int64)) - picked.numel()
    if missing:
        picked = FUNCTIONS["cat"]([picked, FUNCTIONS["zeros"]((missing,), dtype=grad.dtype)])
    return picked.view(shape)


_LONG_ALONE = same_dtype("nonzero: Expected out tensor to have scalar type Long but got scalar type{got.scalar_name}")


@inner_op("nonzero", leak=1)
def _nonzero(self: Array) -> Array:
    return np.argwhere(self).astype(np.int64)


@composite("nonzero", out=OutRule(_LONG_ALONE, resized_first=True))
def nonzero(self: Tensor, *, as_tuple: bool = False) -> Any:
    found = _nonzero(self)
    if not as_tuple:
        return found
    return found.unbind(1) if self.dim() else (FUNCTIONS["arange"](found.size(0)),)
