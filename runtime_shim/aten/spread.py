"""Variance, standard deviation and norms. Derivatives as in derivatives.yaml and FunctionsManual.cpp."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.argument_errors import wrong_type
from ..core.dtypes import Array, wrap_dim
from ..core.function_table import FUNCTIONS
from ..core.reordered_array import packed
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, EXPECTED_OUT, OPS, RESIZED, Computes, OutRule
from ..dispatch.registration import composite, op
from .extremes import over_one
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


def _std_mean_back(
    grads: list[Any],
    self: Tensor,
    result: list[Tensor],
    dim: Any,
    correction: float,
    keepdim: bool,
    self_shape: tuple[int, ...],
) -> Tensor:
    if grads[0] is None:
        return _var_mean_back(grads, self, dim, correction, keepdim, self_shape)
    found = _std_back(grads[0], self, result[0], dim, correction, keepdim)
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


def _norm_back(grad: Tensor, self: Tensor, result: Tensor, ord: float, dim: Any, keepdim: bool) -> Tensor | None:
    shape = self._array.shape
    grad, norm = restore(grad, shape, dim, keepdim), restore(result, shape, dim, keepdim)
    if ord == 0:
        return None
    if ord == 1:
        return self.sgn() * grad
    if ord == 2:
        return grad * (self / norm).masked_fill_(norm == 0, 0)
    if math.isinf(ord):
        size = self.abs()
        mask = (size == norm).logical_or(size.isnan())
        return self.sgn() * ((grad / mask.sum(dims_of(dim, len(shape)), keepdim=True)) * mask)
    if ord < 1:
        scaled = self.sgn() * self.abs().pow_(ord - 1).masked_fill_(self == 0, 0)
        return scaled * grad * norm.pow(1 - ord)
    size = self.abs().pow_(ord - 1 if ord < 2 else ord - 2)
    scaled = (self.sgn() if ord < 2 else self) * size
    return scaled * (grad / norm.pow(ord - 1)).masked_fill_(norm == 0, 0)


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


# -- the norms that PyTorch's C++ code calls
# ----------------------------------------------------------------------------


def _check_norm(self: Any) -> None:
    if self.dtype.kind not in "fc":
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. Got "
            f"{dtypes.of(self).scalar_name} instead."
        )


@op(
    "norm_dim",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="NormBackward1",
    title="norm",
    method=False,
    function=False,
    leak=1,
    self=lambda grad, self, result, p, dim, keepdim: _norm_back(grad, self, result, p, dim, keepdim),
)
def norm_along(self: Any, p: float, dim: Any, keepdim: bool = False) -> Array:
    _check_norm(self)
    found: Array = OPS["linalg_vector_norm"].kernel(self, p, dim, keepdim)
    return found


@op(
    "norm_all",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="NormBackward0",
    title="norm",
    method=False,
    function=False,
    leak=1,
    self=lambda grad, self, result, p: _norm_back(grad, self, result, p, None, True),
)
def norm_of_all(self: Any, p: float = 2) -> Array:
    _check_norm(self)
    found: Array = OPS["linalg_vector_norm"].kernel(self, p, None, False)
    return found


def _dist_back(grad: Tensor, self: Tensor, other: Tensor, p: float, result: Tensor) -> Tensor | None:
    return _norm_back(grad, self - other, result, p, None, True)


def _dist_back_of_other(grad: Tensor, self: Tensor, other: Tensor, p: float, result: Tensor) -> Tensor:
    found = _dist_back(grad, self, other, p, result)
    if found is None:
        raise RuntimeError(
            "Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument #0 'self'"
        )
    return -found


@op("dist", computes=ANY_DTYPE, out=RESIZED, self=_dist_back, other=_dist_back_of_other)
def dist(self: Any, other: Any, p: float = 2) -> Array:
    """The norm of the difference."""
    if not isinstance(p, int | float):
        raise wrong_type("dist", "p", 3, p, "Number")
    found: Array = norm_of_all.op.kernel(OPS["sub"].kernel(self, other), p)  # type: ignore[attr-defined]
    return found


@composite("norm_except_dim", method=False)
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norms along all dimensions but one, in a shape that broadcasts; the norm of all for -1."""
    ndim = v.dim()
    if dim == -1:
        whole: Tensor = norm_of_all(v, pow)
        return whole
    if dim not in (0, ndim - 1):
        return norm_except_dim(v.transpose(0, dim), pow, 0).transpose(0, dim)
    shape = [1] * ndim
    shape[dim] = v.size(dim)
    rows = v.contiguous().view((-1, shape[dim]) if dim else (shape[dim], -1))
    found: Tensor = norm_along(rows, pow, 0 if dim else 1).view(shape)
    return found


def _renorm_back(grad: Tensor, self: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """The slices whose norm is too large are divided by it, so their norm's gradient counts as well."""
    others = [d for d in range(self.dim()) if d != dim % self.dim()]
    norm = vector_norm(self, p, others, True)
    product = self.conj() * grad
    along = (product.real if product.is_complex() else product).sum(others, keepdim=True)
    through = _norm_back(along, self, norm, p, others, True)
    inverse = (norm + 1e-7).reciprocal()
    scaled = maxnorm * inverse * (grad if through is None else grad - inverse * through)
    found: Tensor = FUNCTIONS["where"](norm > maxnorm, scaled.to(grad.dtype), grad)
    return found


@op("renorm", computes=Computes("fc"), out=RESIZED, inplace=True, leak=1, self=_renorm_back)
def renorm(self: Any, p: float, dim: int, maxnorm: float) -> Array:
    """Slices along a dimension, scaled down to a norm of `maxnorm` where theirs is larger."""
    if self.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions")
    others = tuple([d for d in range(self.ndim) if d != wrap_dim(dim, self.ndim)])
    norm = OPS["linalg_vector_norm"].kernel(self, p, others, True)
    scale = np.where(norm > maxnorm, maxnorm / (norm + 1e-7), 1.0)
    return packed(self * scale.astype(norm.dtype))
