"""Variance and standard deviation. Derivatives as in derivatives.yaml and FunctionsManual.cpp."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ..core.dtypes import Array
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED
from ..dispatch.registration import composite, op
from .reductions import contiguous, dims_of, elements_reduced, restore

# numpy's stubs do not know `axis` as a tuple.
_add: Any = np.add
_maximum: Any = np.maximum
_minimum: Any = np.minimum


def _var(self: Any, dim: Any, correction: float, keepdim: bool, name: str = "var") -> Array:
    if self.dtype.kind not in "fc":
        title = "std and var" if name in ("std", "var") else name
        raise RuntimeError(f"{title} only support floating point and complex dtypes")
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
def std(
    self: Tensor,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: Any = None,
) -> Any:
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return _std_op(self, dim, _correction(unbiased, correction)[1], keepdim)


@composite("var", out=RESIZED)
def var(
    self: Tensor,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: Any = None,
) -> Any:
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


def _std_mean_back(
    grads: list[Any],
    self: Tensor,
    result0: Tensor,
    dim: Any,
    correction: float,
    keepdim: bool,
    self_shape: tuple[int, ...],
) -> Tensor:
    if grads[0] is None:
        return _var_mean_back(grads, self, dim, correction, keepdim, self_shape)
    found = _std_back(grads[0], self, result0, dim, correction, keepdim)
    if grads[1] is None:
        return found
    return found + _var_mean_back([None, grads[1]], self, dim, correction, keepdim, self_shape)


def _mean_of(self: Any, dim: Any, keepdim: bool) -> Array:
    return np.asarray(np.mean(self, axis=dims_of(dim, self.ndim), keepdims=keepdim))


@op("var_mean", computes=ANY_DTYPE, out=RESIZED, method=False, function=False, outputs=tuple, self=_var_mean_back)
def _var_mean_op(self: Any, dim: Any = None, correction: float = 1, keepdim: bool = False) -> Any:
    return np.asarray(_var(self, dim, correction, keepdim, "var_mean")), _mean_of(self, dim, keepdim)


@op("std_mean", computes=ANY_DTYPE, out=RESIZED, method=False, function=False, outputs=tuple, self=_std_mean_back)
def _std_mean_op(self: Any, dim: Any = None, correction: float = 1, keepdim: bool = False) -> Any:
    return np.asarray(np.sqrt(_var(self, dim, correction, keepdim, "std_mean"))), _mean_of(self, dim, keepdim)


@composite("std_mean", method=False)
def std_mean(
    self: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """The standard deviation and the mean."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return _std_mean_op(self, dim, _correction(unbiased, correction)[1], keepdim)


@composite("var_mean", method=False)
def var_mean(
    self: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """The variance and the mean."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return _var_mean_op(self, dim, _correction(unbiased, correction)[1], keepdim)
