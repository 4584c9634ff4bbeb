"""Pseudoinverses of matrices, and equations solved by Cholesky's factor. Gradients as in FunctionsManual.cpp."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array
from ..core.memory_layout import by_columns
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED, Computes
from ..dispatch.registration import composite, op

# -- the pseudoinverse
# ----------------------------------------------------------------------------------------------------


def _pinv_back(grad: Tensor, result: Tensor, A: Tensor) -> Tensor:
    inverse, adjoint, gradient = result, result.mH, grad.mH
    if A.size(-2) <= A.size(-1):
        k = gradient @ inverse
        turned = k @ adjoint
        rest = gradient - k @ A
        return -(inverse @ k).mH + turned - (A @ inverse) @ turned + (adjoint @ inverse) @ rest
    k = inverse @ gradient
    turned = adjoint @ k
    rest = gradient - A @ k
    return -(k @ inverse).mH + (rest @ inverse) @ adjoint + turned - (turned @ inverse) @ A


@op(
    "_pinv",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="LinalgPinvBackward0",
    method=False,
    function=False,
    A=lambda grad, result, A: _pinv_back(grad, result, A),
)
def _pinv(A: Any, absolute: Any, relative: Any) -> Array:
    if A.ndim < 2 or A.dtype.kind not in "fc" or A.dtype == np.float16:
        name = dtypes.of(A).scalar_name
        raise RuntimeError(
            f"linalg.pinv({name}{{[{', '.join(map(str, A.shape))}]}}): expected a tensor with 2 or more dimensions of "
            "float, double, cfloat or cdouble types"
        )
    u, s, vh = np.linalg.svd(A, False)
    if relative is None:
        relative = max(A.shape[-2:]) * float(np.finfo(s.dtype).eps) if absolute is None else 0.0
    least, share = (b[..., None] if isinstance(b, np.ndarray) else b for b in (absolute or 0.0, relative))
    held = (s > share * s.max(-1, keepdims=True, initial=0)) & (s > least)
    inverse = np.where(held, 1 / np.where(held, s, 1), 0)
    found = vh.conj().swapaxes(-1, -2) @ (inverse[..., None] * u.conj().swapaxes(-1, -2))
    return np.ascontiguousarray(found.astype(A.dtype, copy=False))


@composite("linalg_pinv", method=False)
def linalg_pinv(A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """The pseudoinverse; singular values up to `atol`, or `rtol` (`rcond`) times the largest, count as 0."""
    made: Tensor = _pinv(A, atol, rcond if rtol is None else rtol)
    return made


# -- by Cholesky's factor
# -----------------------------------------------------------------------------------------------------


def _lower(factor: Array, upper: bool) -> Array:
    """The factor as a lower triangle; the other triangle of what is given doesn't count."""
    return np.triu(factor).conj().swapaxes(-1, -2) if upper else np.tril(factor)


def _solved(lower: Array, right: Array) -> Array:
    half = np.linalg.solve(lower, right)
    return np.linalg.solve(lower.conj().swapaxes(-1, -2), half)


def _check_square(name: str, array: Array) -> None:
    if array.shape[-1] != array.shape[-2]:
        raise RuntimeError(
            f"{name} must be batches of square matrices, but they are {array.shape[-2]} by {array.shape[-1]} matrices"
        )


def _solve_back(grad: Tensor, input2: Tensor, upper: bool, self_shape: tuple[int, ...]) -> Tensor:
    return cholesky_solve(grad, input2, upper).sum_to_size(self_shape)


def _factor_back(grad: Tensor, input2: Tensor, upper: bool, result: Tensor) -> Tensor:
    common = cholesky_solve(grad, input2, upper) @ result.mH
    common = common + common.mH
    found = -(input2 @ common) if upper else -(common @ input2)
    return found.sum_to_size(tuple(input2.shape))


@op(
    "_cholesky_solve",
    computes=Computes("fc", "cholesky_solve_cpu"),
    out=RESIZED,
    node="CholeskySolveBackward0",
    method=False,
    function=False,
    self=_solve_back,
    input2=_factor_back,
)
def _cholesky_solve(self: Any, input2: Any, upper: bool) -> Array:
    return by_columns(_solved(_lower(input2, upper), self))


@composite("cholesky_solve")
def cholesky_solve(self: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """X with L L^H X = self, of L = input2, or U^H U X = self with `upper`."""
    for name, t in (("b", self), ("u", input2)):
        if t.dim() < 2:
            raise RuntimeError(f"{name} should have at least 2 dimensions, but has {t.dim()} dimensions instead")
    if self.dtype is not input2.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {self.dtype.scalar_name} and A of type "
            f"{input2.dtype.scalar_name} instead."
        )
    _check_square("A", input2._array)
    if self.size(-2) != input2.size(-1):
        raise RuntimeError(
            f"Incompatible matrix sizes for cholesky_solve: each A matrix is {input2.size(-1)} by {input2.size(-1)} "
            f"but each b matrix is {self.size(-2)} by {self.size(-1)}"
        )
    dtypes.broadcast_shapes(tuple(self.shape[:-2]), tuple(input2.shape[:-2]))
    made: Tensor = _cholesky_solve(self, input2, upper)
    return made
