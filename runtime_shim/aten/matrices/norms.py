"""Norms. Derivatives as in derivatives.yaml and FunctionsManual.cpp."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.array_kinds import packed
from ...core.dtypes import Array, wrap_dim
from ...core.error_texts import warn_once, wrong_type
from ...core.function_table import ATEN_ALONE, FUNCTIONS
from ...core.tensor import Tensor
from ...dispatch.op_description import ANY_DTYPE, EXPECTED_OUT, OPS, RESIZED, Computes, OutRule
from ...dispatch.registration import composite, inner_op, op
from ..extremes import over_one
from ..reductions import dims_of, restore

# numpy's stubs do not know `axis` as a tuple.
_add: Any = np.add
_maximum: Any = np.maximum
_minimum: Any = np.minimum


def _norm_back(grad: Tensor, self: Tensor, result: Tensor, ord: float, dim: object, keepdim: bool) -> Tensor | None:
    shape = self._array.shape
    norm = result
    if dim is not None and not (isinstance(dim, tuple | list) and not dim):  # the norm of all stays without dimensions
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


def _check_dtype(self: Any, dtype: dtypes.dtype | None) -> None:
    """Source: check_linalg_norm_dtype in ATen/native/LinearAlgebraUtils.h."""
    if self.dtype.kind not in "fc":
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{dtypes.of(self).scalar_name}"
        )
    if dtype is None:
        return
    given, wanted = dtypes.of(self), dtype.scalar_name
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"linalg.vector_norm: dtype should be floating point or complex, but got {wanted}")
    if dtype.is_complex != given.is_complex:
        kind = "complex for complex" if given.is_complex else "real for real"
        raise RuntimeError(f"linalg.vector_norm: dtype should be {kind} inputs, but got {wanted}")
    if dtypes.result_type(np.empty(1, dtype.numpy), np.empty(1, self.dtype)) != dtype.numpy:
        raise RuntimeError(
            f"linalg.vector_norm: the dtype of the input ({given.scalar_name}) should be convertible without narrowing "
            f"to the specified dtype ({wanted})"
        )


def _check_order(self: Any, ord: Any, dim: Any) -> None:
    if isinstance(ord, complex):
        raise RuntimeError("linalg.vector_norm: Expected a non-complex scalar as the order of norm.")
    if not isinstance(ord, int | float | np.number):
        raise wrong_type("linalg_vector_norm", "ord", 2, ord, "Number")
    if self.size or not (ord < 0 or ord == math.inf):
        return
    subject = f"linalg.vector_norm cannot compute the {ord} norm on"
    reason = "the operation does not have an identity"
    if dim is None or (isinstance(dim, tuple | list) and not dim):
        raise RuntimeError(f"{subject} an empty tensor because {reason}")
    for d in dims_of(dim, self.ndim):
        if not self.shape[d]:
            raise RuntimeError(f"{subject} the dimension {d}because this dimension is empty and {reason}")


@op(
    "linalg_vector_norm",
    computes=ANY_DTYPE,
    out=OutRule(EXPECTED_OUT, resized_first=True),
    leak=lambda self, ord=2, dim=None, keepdim=False, dtype=None: (
        over_one(self, dim) or int(dim is None and self.numel() == 1)
    ),
    self=_norm_back,
)
def vector_norm(
    self: Array, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: dtypes.dtype | None = None
) -> Array:
    """The norm of the elements along dimensions, computed in `dtype`."""
    _check_dtype(self, dtype)
    _check_order(self, ord, dim)
    axes = dims_of(dim, self.ndim)
    size = np.abs(self if dtype is None else self.astype(dtype.numpy))
    if ord and all(self.shape[d] == 1 for d in axes):  # also where the power would overflow
        found = size.squeeze(axes) if not keepdim else size
    elif ord == 2:
        found = np.sqrt(_add.reduce(size * size, axis=axes, keepdims=keepdim))
    elif ord == math.inf:
        found = _maximum.reduce(size, axis=axes, keepdims=keepdim)
    elif ord == -math.inf:
        found = _minimum.reduce(size, axis=axes, keepdims=keepdim)
    elif ord == 0:
        found = _add.reduce((size != 0).astype(size.dtype), axis=axes, keepdims=keepdim)
    else:
        found = _add.reduce(size**ord, axis=axes, keepdims=keepdim) ** size.dtype.type(1 / ord)
    return packed(found)


@composite("norm")
def norm(
    self: Tensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    dtype: dtypes.dtype | None = None,
    *,
    out: Tensor | None = None,
) -> Any:
    """Source: torch/functional.py, where a name is that of a norm of matrices."""
    options: dict[str, Any] = {"dtype": dtype} if out is None else {"dtype": dtype, "out": out}
    if isinstance(p, str) and not (p == "fro" and (dim is None or isinstance(dim, int) or len(dim) <= 2)):
        dims = list(range(self.dim())) if dim is None else [dim] if isinstance(dim, int) else dim
        return FUNCTIONS["linalg_matrix_norm"](self, p, dims, keepdim, **options)
    return vector_norm(self, 2.0 if p is None or p == "fro" else p, dim, keepdim, **options)


# -- the norms that PyTorch's C++ code calls


def _check_norm(self: Any) -> None:
    if self.dtype.kind not in "fc":
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. Got "
            f"{dtypes.of(self).scalar_name} instead."
        )


def _kernel_of_all(self: object, p: float = 2, *, dtype: dtypes.dtype | None = None) -> Array:
    _check_norm(self)
    found: Array = OPS["linalg_vector_norm"].kernel(self, p, None, False, dtype)
    return found


def _kernel_along(
    self: object, p: float, dim: object, keepdim: bool = False, *, dtype: dtypes.dtype | None = None
) -> Array:
    _check_norm(self)
    found: Array = OPS["linalg_vector_norm"].kernel(self, p, dim, keepdim, dtype)
    return found


def _overload(number: int, kernel: Any, gradient: Any) -> Any:
    return inner_op("norm", node=f"NormBackward{number}", title="norm", leak=1, self=gradient)(kernel)


def _computed_in(grad: Tensor, self: Tensor) -> Tensor:
    """In the dtype that the norm was computed in, that of its gradient; the norm of complex numbers is real."""
    return self if self.is_complex() else self.to(grad.dtype)


def _back_of_all(grad: Tensor, self: Tensor, result: Tensor, p: float) -> Tensor | None:
    return _norm_back(grad, _computed_in(grad, self), result, p, None, True)


def _back_along(grad: Tensor, self: Tensor, result: Tensor, p: float, dim: object, keepdim: bool) -> Tensor | None:
    return _norm_back(grad, _computed_in(grad, self), result, p, dim, keepdim)


norm_of_all, norm_along = _overload(0, _kernel_of_all, _back_of_all), _overload(1, _kernel_along, _back_along)
_norm_of_all_in_dtype = _overload(2, _kernel_of_all, _back_of_all)
_norm_along_in_dtype = _overload(3, _kernel_along, _back_along)


def _norm_of_aten(
    self: Tensor, p: object = 2, dim: object = None, keepdim: bool = False, *, dtype: dtypes.dtype | None = None
) -> Any:
    order = 2 if p is None else p
    if dim is None:
        return norm_of_all(self, order) if dtype is None else _norm_of_all_in_dtype(self, order, dtype=dtype)
    if dtype is None:
        return norm_along(self, order, dim, keepdim)
    return _norm_along_in_dtype(self, order, dim, keepdim, dtype=dtype)


ATEN_ALONE["norm"] = _norm_of_aten


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
def dist(self: Array, other: Array, p: float = 2) -> Array:
    """The norm of the difference."""
    if not isinstance(p, int | float):
        raise wrong_type("dist", "p", 3, p, "Number")
    found: Array = _kernel_of_all(OPS["sub"].kernel(self, other), p)
    return found


@composite("frobenius_norm", method=False)
def frobenius_norm(input: Tensor, dim: object, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The norm along dimensions, which PyTorch keeps for old archives, and warns of."""
    warn_once(
        "at::frobenius_norm is deprecated and it is just left for JIT compatibility. It will be removed in a future "
        "PyTorch release. Please use `linalg.vector_norm(A, 2., dim, keepdim)` instead"
    )
    found: Tensor = norm_along(input, 2, dim, keepdim) if out is None else vector_norm(input, 2, dim, keepdim, out=out)
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
def renorm(self: Array, p: float, dim: int, maxnorm: float) -> Array:
    """Slices along a dimension, scaled down to a norm of `maxnorm` where theirs is larger."""
    if self.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions")
    others = tuple([d for d in range(self.ndim) if d != wrap_dim(dim, self.ndim)])
    norm = OPS["linalg_vector_norm"].kernel(self, p, others, True, None)
    scale = np.where(norm > maxnorm, maxnorm / (norm + 1e-7), 1.0)
    return packed(self * scale.astype(norm.dtype))
