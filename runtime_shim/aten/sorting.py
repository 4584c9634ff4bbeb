"""Sorting, and elements by their rank.

Derivatives as in derivatives.yaml.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..core.array_kinds import packed
from ..core.dtypes import Array, sizes, wrap_dim
from ..core.error_texts import MISSING, not_an_int, wrong_type
from ..core.function_table import FUNCTIONS
from ..core.memory_layout import laid_out_like
from ..core.tensor import Tensor, new_tensor
from ..dispatch.op_description import EXPECTED_OUT, OPS, RESIZED, Computes, DtypeRefusal, OutRule, same_dtype
from ..dispatch.registration import composite, inner_op, op
from ..dispatch.writing_layers import with_out
from .extremes import _evenly, pair, value_selecting_backward


def _order(self: Any, dim: int, descending: bool) -> Array:
    """Indices that sort along a dimension; equal elements keep their order, NaN counts as the greatest."""
    d = wrap_dim(dim, self.ndim)
    if not descending:
        return np.argsort(self, axis=d, kind="stable")
    backwards = np.argsort(np.flip(self, d), axis=d, kind="stable")
    return self.shape[d] - 1 - np.flip(backwards, d)


@op(
    "argsort",
    computes=Computes(
        "bif", refusals=(DtypeRefusal("c", RuntimeError, " Sort does not support complex dtypes on CPU"),)
    ),
    out=RESIZED,
    leak=1,
)
def argsort(self: Array, dim: int = -1, descending: bool = False, stable: bool = False) -> Array:
    if self.ndim == 0:
        wrap_dim(dim, 0)
        return np.zeros((), np.int64)
    return laid_out_like(_order(self, dim, descending).astype(np.int64), self)


def _sort_back(grads: list[Any], self_shape: tuple[int, ...], dim: int, result: list[Tensor]) -> Tensor:
    return value_selecting_backward(grads[0], result[1], self_shape, dim, True)


def _sort_below(self: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    # PyTorch copies into a fresh tensor and sorts that, so the copy is what shows.
    values, indices = OPS["sort"].kernel(self._array, dim, descending, stable)
    made = FUNCTIONS["empty_like"](self).copy_(self)
    np.copyto(made._array, values)
    positions = new_tensor(indices)
    if positions._version_counter is not None:
        positions._version_counter[0] += 1
    return pair("sort")([made, positions])


@op(
    "sort",
    computes=Computes(
        "bif", refusals=(DtypeRefusal("c", RuntimeError, " Sort does not support complex dtypes on CPU"),)
    ),
    out=RESIZED,
    below=_sort_below,
    outputs=pair("sort"),
    nondifferentiable=(1,),
    self=_sort_back,
)
def sort(self: Array, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    if self.ndim == 0:
        wrap_dim(dim, 0)
        return self.copy(), np.zeros((), np.int64)
    order = _order(self, dim, descending)
    values = np.take_along_axis(self, order, wrap_dim(dim, self.ndim))
    return laid_out_like(values, self), laid_out_like(order.astype(np.int64), self)


@op(
    "topk",
    computes=Computes(
        "if",
        refusals=(
            DtypeRefusal("c", RuntimeError, " topk does not support complex dtypes on CPU", shapes_first=True),
            DtypeRefusal("b", RuntimeError, "topk does not support bool dtypes on CPU", shapes_first=True),
        ),
    ),
    out=RESIZED,
    leak=lambda self, *options: int(not self._array.ndim),
    outputs=pair("topk"),
    nondifferentiable=(1,),
    self=_sort_back,
)
def topk(self: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    if not isinstance(k, (int, np.integer)):
        raise not_an_int(k, "k")
    d = wrap_dim(dim, self.ndim)
    if not 0 <= k <= (self.shape[d] if self.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if self.ndim == 0:
        return self.copy(), np.zeros((), np.int64)
    order = np.take(_order(self, d, largest), range(k), axis=d)
    return np.take_along_axis(self, order, d), order.astype(np.int64)


def _middle(self: Array, ignores_nan: bool) -> Array:
    """The index of the lower median along the last dimension; of a NaN, if there is one and it isn't ignored."""
    order = np.argsort(self, axis=-1, kind="stable")  # NaN counts as the greatest
    if self.dtype.kind != "f":
        return order[..., (self.shape[-1] - 1) // 2]
    missing = np.isnan(self)
    count = self.shape[-1] - missing.sum(-1)
    if ignores_nan:
        place = np.maximum(count - 1, 0) // 2
    else:
        place = np.where(count < self.shape[-1], count, (self.shape[-1] - 1) // 2)
    return np.take_along_axis(order, np.asarray(place)[..., None], -1)[..., 0]


def _median_back(
    grads: list[Any], self_shape: tuple[int, ...], dim: int, keepdim: bool, result: list[Tensor]
) -> Tensor:
    return value_selecting_backward(grads[0], result[1], self_shape, dim, keepdim)


_MEDIAN = "(while checking arguments for median)"
_MEDIAN_OUT = (
    OutRule(
        same_dtype(
            "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type "
            "torch.{got.scalar_name}Tensor does not equal torch.{want.scalar_name}Tensor " + _MEDIAN
        ),
        resized_first=True,
    ),
    OutRule(
        same_dtype(
            "Expected tensor for argument #1 'indices' to have scalar type Long; but got torch.{got.scalar_name}Tensor "
            "instead " + _MEDIAN
        ),
        resized_first=True,
    ),
)


def _register(name: str, ignores_nan: bool) -> None:
    def of_all(self: Any) -> Array:
        if not self.size:
            return np.asarray(np.nan, self.dtype)
        flat = self.reshape(-1)
        return np.asarray(flat[_middle(flat, ignores_nan)])

    node = name.capitalize()
    whole = inner_op(f"{name}_all", computes=Computes("if", "median_cpu"), node=f"{node}Backward0", self=_evenly)(
        of_all
    )

    def of_dim(self: Any, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
        if self.ndim == 0:
            wrap_dim(dim, 0)
            return self.copy(), np.zeros((), np.int64)
        d = wrap_dim(dim, self.ndim)
        if not self.shape[d]:
            raise IndexError(f"median(): Expected reduction dim {d} to have non-zero size.")
        indices = np.expand_dims(_middle(np.moveaxis(self, d, -1), ignores_nan), d)
        values = np.take_along_axis(self, indices, d)
        if not keepdim:
            indices, values = indices.squeeze(d), values.squeeze(d)
        return packed(values), packed(indices.astype(np.int64))

    along = inner_op(
        f"{name}_dim",
        computes=Computes("if", "median_out"),
        node=f"{node}Backward1",
        leak=1,
        refuses=name,
        outputs=pair(name),
        nondifferentiable=(1,),
        self=_median_back,
    )(of_dim)

    def call(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
        return whole(self) if dim is None else along(self, dim, keepdim)

    call.__doc__ = "The lower median of all elements, or with `dim` a pair of values and indices; " + (
        "NaN is left out." if ignores_nan else "NaN where there is one."
    )
    composite(name)(call)
    with_dim = with_out(FUNCTIONS[name], name, _MEDIAN_OUT)

    @functools.wraps(FUNCTIONS[name])
    def function(*args: object, out: object = None, **kwargs: object) -> Any:
        if out is None:
            return plain(*args, **kwargs)
        if len(args) < 2 and kwargs.get("dim") is None:
            raise wrong_type(name, "dim", 2, MISSING)
        return with_dim(*args, out=out, **kwargs)

    plain = FUNCTIONS[name]
    FUNCTIONS[name] = function


_register("median", False)
_register("nanmedian", True)


@op(
    "isin",
    computes=Computes("bif", "isin"),
    out=OutRule(EXPECTED_OUT, resized_first=True),
    method=False,
    tensor_params=("elements", "test_elements"),
    numbers=("elements", "test_elements"),
)
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Array:
    return np.isin(elements, test_elements, invert=invert)


def _places(sorted_sequence: Array, values: Array, right: bool) -> Array:
    side: Any = "right" if right else "left"
    if sorted_sequence.ndim == 1:
        return np.asarray(np.searchsorted(sorted_sequence, values, side))
    rows = sorted_sequence.reshape(-1, sorted_sequence.shape[-1])
    wanted = values.reshape(len(rows), -1)
    found = [np.searchsorted(row, value, side) for row, value in zip(rows, wanted, strict=True)]
    return np.asarray(found, np.int64).reshape(values.shape)


@op(
    "searchsorted",
    computes=Computes("bif", "searchsorted_out_cpu"),
    out=OutRule(EXPECTED_OUT, resized_first=True),
    method=False,
    tensor_params=("sorted_sequence", "self", "sorter"),
    numbers=("self",),
)
def searchsorted(
    sorted_sequence: Array,
    self: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Array:
    """Where each value belongs in a sorted sequence, whose leading dimensions are those of the values."""
    if side is not None and side not in ("left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    values = np.asarray(self)
    if sorted_sequence.ndim != 1 and values.ndim == 0:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
            f"boundaries tensor dim({sorted_sequence.ndim}) and input value's dim(0) numel(1)"
        )
    if sorted_sequence.ndim != 1 and sorted_sequence.shape[:-1] != values.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            f"tensor and input value tensor must match, but we got boundaries tensor {sizes(sorted_sequence.shape)} "
            f"and input value tensor {sizes(values.shape)}"
        )
    if sorter is not None:
        sorted_sequence = np.take_along_axis(sorted_sequence, sorter, -1)
    found = _places(sorted_sequence, values, right or side == "right")
    return found.astype(np.int32 if out_int32 else np.int64, copy=False)


@composite("bucketize", method=False)
def bucketize(
    input: object, boundaries: Tensor, *, out_int32: bool = False, right: bool = False, out: Tensor | None = None
) -> Tensor:
    """The number of the bucket of each value; `boundaries` is sorted and has one dimension."""
    if boundaries._array.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries._array.ndim})")
    found: Tensor = FUNCTIONS["searchsorted"](boundaries, input, out_int32=out_int32, right=right, out=out)
    return found
