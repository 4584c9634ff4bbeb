"""Variance, standard deviation and norms. Derivatives as in derivatives.yaml and FunctionsManual.cpp."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array
from ..core.function_table import FUNCTIONS
from ..core.reordered_array import packed
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, EXPECTED_OUT, RESIZED, OutRule
from ..dispatch.registration import composite, op
from .extremes import over_one
from .reductions import contiguous, dims_of, elements_reduced, restore

# numpy's stubs do not know `axis` as a tuple.
_add: Any = np.add
_maximum: Any = np.maximum
_minimum: Any = np.minimum


def _var(self: Any, dim: Any, correction: float, keepdim: bool, name: str = "var") -> Array:
    if self.dtype.kind not in "fc":
        raise RuntimeError("std and var only support floating point and complex dtypes")
    axes = dims_of(dim, self.ndim)
    n = int(np.prod([self.shape[a] for a in axes], dtype=np.int64))
    centred = self - _add.reduce(self, axis=axes, keepdims=True) / self.dtype.type(max(n, 1))
    total = _add.reduce((centred * np.conjugate(centred)).real, axis=axes, keepdims=keepdim)
    if n <= correction:
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            "(input numel divided by output numel).",
            UserWarning,
            stacklevel=2,
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        return contiguous(np.true_divide(total, total.dtype.type(max(n - correction, 0))))


def _var_back(grad: Tensor, self: Tensor, dim: Any, correction: float, keepdim: bool) -> Tensor:
    shape = self._array.shape
    freedom = elements_reduced(shape, dim) - correction
    if freedom <= 0 and (dim is None or not shape):
        return grad * FUNCTIONS["where"](self == self.mean(), math.nan, math.inf).to(grad.dtype)
    grad = restore(grad, shape, dim, keepdim)
    centred = self - self.mean(dims_of(dim, len(shape)), True)
    return (2.0 / freedom if freedom else math.inf) * grad * centred


def _std_back(grad: Tensor, self: Tensor, result: Tensor, dim: Any, correction: float, keepdim: bool) -> Tensor:
    scaled = (grad / (result * 2)).masked_fill_(result == 0, 0)
    return _var_back(scaled, self, dim, correction, keepdim)


def _has_own_loop(self: Tensor, dim: Any) -> bool:
    """Whether PyTorch computes the single result by a loop of its own, which starts from the mean."""
    shape = self._array.shape
    reduced = dims_of(dim, len(shape))
    alone = all(n == 1 for d, n in enumerate(shape) if d not in reduced)
    return alone and self._array.dtype.char in "fd" and self._array.size > 0


def _var_leak(self: Tensor, dim: Any = None, correction: float = 1, keepdim: bool = False) -> int:
    return int(self._array.dtype.kind == "c" or not self._array.size or _has_own_loop(self, dim))


def _std_leak(self: Tensor, *args: Any) -> int:
    return 2 if self._array.dtype.kind == "c" else _var_leak(self, *args)


def _refuses_mean(self: Tensor, dim: Any = None, *args: Any) -> str | None:
    return "sum" if _has_own_loop(self, dim) else None


@op(
    "var",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    function=False,
    leak=_var_leak,
    refuses=_refuses_mean,
    self=_var_back,
)
def _var_op(self: Any, dim: Any = None, correction: float = 1, keepdim: bool = False) -> Array:
    return _var(self, dim, correction, keepdim)


@op(
    "std",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    function=False,
    leak=_std_leak,
    refuses=_refuses_mean,
    self=_std_back,
)
def _std_op(self: Any, dim: Any = None, correction: float = 1, keepdim: bool = False) -> Array:
    return np.sqrt(_var(self, dim, correction, keepdim, "std"))


def _correction(unbiased: Any, correction: Any) -> tuple[Any, float]:
    return None, (1 if correction is None else correction) if unbiased is None else float(bool(unbiased))


@composite("std", out=RESIZED)
def std(self: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None) -> Any:
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return _std_op(self, dim, _correction(unbiased, correction)[1], keepdim)


@composite("var", out=RESIZED)
def var(self: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None) -> Any:
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return _var_op(self, dim, _correction(unbiased, correction)[1], keepdim)


def _var_mean_back(
    grads: list[Any], self: Tensor, dim: Any, correction: float, keepdim: bool, self_shape: tuple[int, ...]
) -> Tensor:
    total = None
    if grads[0] is not None:
        total = _var_back(grads[0], self, dim, correction, keepdim)
    if grads[1] is not None:
        count = 1
        for d in dims_of(dim, len(self_shape)):
            count *= self_shape[d]
        share = restore(grads[1], self_shape, dim, keepdim).expand(self_shape) / count
        total = share if total is None else total + share
    assert total is not None
    return total


def _mean_of(self: Any, dim: Any, keepdim: bool) -> Array:
    return np.asarray(np.mean(self, axis=dims_of(dim, self.ndim), keepdims=keepdim))


@op("var_mean", computes=ANY_DTYPE, out=RESIZED, method=False, function=False, outputs=tuple, self=_var_mean_back)
def _var_mean_op(self: Any, dim: Any = None, correction: float = 1, keepdim: bool = False) -> Any:
    return np.asarray(_var(self, dim, correction, keepdim, "var_mean")), _mean_of(self, dim, keepdim)


@composite("var_mean", method=False)
def var_mean(
    self: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """The variance and the mean."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return _var_mean_op(self, dim, _correction(unbiased, correction)[1], keepdim)


def _norm_back(grad: Tensor, self: Tensor, result: Tensor, ord: float, dim: Any, keepdim: bool) -> Tensor:
    shape = self._array.shape
    grad, norm = restore(grad, shape, dim, keepdim), restore(result, shape, dim, keepdim)
    if ord == 0:
        return FUNCTIONS["zeros_like"](self)
    if ord == 1:
        return self.sgn() * grad
    if ord == 2:
        return grad * (self / norm).masked_fill_(norm == 0, 0)
    if ord in (float("inf"), -float("inf")):
        size = self.abs()
        mask = (size == norm).to(grad.dtype)
        return self.sgn() * (grad * mask / mask.sum(dims_of(dim, len(shape)), keepdim=True))
    scale = self.abs() ** (ord - 2) / norm ** (ord - 1)
    return grad * (self * scale).masked_fill_(norm == 0, 0)


@op(
    "linalg_vector_norm",
    computes=ANY_DTYPE,
    out=RESIZED,
    leak=lambda self, ord=2, dim=None, keepdim=False: over_one(self, dim) or int(dim is None and self.numel() == 1),
    self=_norm_back,
)
def vector_norm(self: Any, ord: float = 2, dim: Any = None, keepdim: bool = False) -> Array:
    if self.dtype.kind not in "fc":
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{dtypes.of(self).scalar_name}"
        )
    axes = dims_of(dim, self.ndim)
    size = np.abs(self)
    if ord and all(self.shape[d] == 1 for d in axes):  # also where the power would overflow
        found = size.squeeze(axes) if not keepdim else size
    elif ord == 2:
        found = np.sqrt(_add.reduce(size * size, axis=axes, keepdims=keepdim))
    elif ord == float("inf"):
        found = _maximum.reduce(size, axis=axes, keepdims=keepdim)
    elif ord == -float("inf"):
        found = _minimum.reduce(size, axis=axes, keepdims=keepdim)
    elif ord == 0:
        found = _add.reduce((size != 0).astype(size.dtype), axis=axes, keepdims=keepdim)
    else:
        found = _add.reduce(size**ord, axis=axes, keepdims=keepdim) ** size.dtype.type(1 / ord)
    return packed(found)


@composite("norm", out=OutRule(EXPECTED_OUT))
def norm(self: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    if p is None or p == "fro":
        p = 2
    return vector_norm(self, float(p), dim, keepdim)
