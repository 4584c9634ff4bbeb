"""Inverses and exponentials of matrices, and products of Householder reflections.

Gradients as in FunctionsManual.cpp; reflections as in LAPACK's geqrf and orgqr."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array
from ..core.function_table import FUNCTIONS
from ..core.memory_layout import by_columns
from ..core.return_types import return_type
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED, Computes
from ..dispatch.registration import composite, op
from .absent_gradients import no_derivative
from .matrix_functions import LinAlgError, check_matrix

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


# -- the exponential
# ------------------------------------------------------------------------------------------------------


def _exp_back(grad: Tensor, self: Tensor) -> Tensor:
    """The corner of the exponential of a block triangle, which is the derivative along the gradient."""
    n, adjoint, cat = self.size(-1), self.mH, FUNCTIONS["cat"]
    upper = cat([adjoint, grad], -1)
    lower = cat([FUNCTIONS["zeros_like"](adjoint), adjoint], -1)
    return linalg_matrix_exp(cat([upper, lower], -2)).narrow(-2, 0, n).narrow(-1, n, n)


@op("linalg_matrix_exp", computes=ANY_DTYPE, out=RESIZED, self=_exp_back)
def linalg_matrix_exp(self: Any) -> Array:
    """The exponential series of matrices, scaled so that it is short, and squared again."""
    check_matrix("linalg.matrix_exp", self)
    size = float(np.abs(self).sum(-1).max(initial=0.0))
    halvings = max(0, int(np.ceil(np.log2(size))) + 3) if np.isfinite(size) and size > 0.125 else 0
    scaled = self / self.dtype.type(2.0**halvings)
    term: Array = np.broadcast_to(np.eye(self.shape[-1], dtype=self.dtype), self.shape)
    total: Array = term.copy()
    for order in range(1, 12):
        term = (term @ scaled) / self.dtype.type(order)
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return np.ascontiguousarray(total)


# -- by Cholesky's factor
# -----------------------------------------------------------------------------------------------------


def _lower(factor: Array, upper: bool) -> Array:
    """The factor as a lower triangle; the other triangle of what is given doesn't count."""
    return np.triu(factor).conj().swapaxes(-1, -2) if upper else np.tril(factor)


def _solved(lower: Array, right: Array) -> Array:
    half = np.linalg.solve(lower, right)
    return np.linalg.solve(lower.conj().swapaxes(-1, -2), half)


def _inverse_back(grad: Tensor, self: Tensor, upper: bool, result: Tensor) -> Tensor:
    common = grad + grad.mH
    common = result @ (common @ result)
    return -(self @ common) if upper else -(common @ self)


@op(
    "cholesky_inverse",
    computes=Computes("fc", "cholesky_inverse_out_cpu"),
    out=RESIZED,
    self=_inverse_back,
)
def cholesky_inverse(self: Any, upper: bool = False) -> Array:
    """The inverse of L L^H, of L = self, or of U^H U with `upper`."""
    if self.ndim < 2:
        raise RuntimeError("cholesky_inverse: The input tensor A must have at least 2 dimensions.")
    _check_square("cholesky_inverse: A", self)
    if self.dtype == np.float16:
        raise NotImplementedError("\"cholesky_inverse_out_cpu\" not implemented for 'Half'")
    zeros = np.argwhere(np.diagonal(self, axis1=-2, axis2=-1) == 0)
    if len(zeros):
        batch = f"(Batch element {zeros[0][0]}): " if self.ndim > 2 else ""
        raise LinAlgError(
            f"cholesky_inverse: {batch}The diagonal element {zeros[0][-1] + 1} is zero, the inversion could not be "
            "completed because the input matrix is singular."
        )
    lower = _lower(self, upper)
    return by_columns(_solved(lower, np.broadcast_to(np.eye(self.shape[-1], dtype=self.dtype), self.shape)))


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


_GEQRF = return_type("geqrf", "a tau")


@op("geqrf", computes=Computes("fc", "geqrf_cpu"), outputs=_GEQRF._make, self=no_derivative("geqrf"))
def geqrf(self: Any) -> tuple[Array, Array]:
    """The reflections whose product is the factor Q of each matrix, below the diagonal, and their factors."""
    if self.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    rows, columns = self.shape[-2:]
    reflections = np.empty_like(self)
    factors = np.empty((*self.shape[:-2], min(rows, columns)), self.dtype)
    for place in np.ndindex(*self.shape[:-2]):
        transposed, tau = np.linalg.qr(self[place], mode="raw")
        reflections[place], factors[place] = transposed.T, tau
    return by_columns(reflections), factors


@composite("linalg_householder_product", method=False)
def linalg_householder_product(A: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first columns of the product of the reflections below the diagonals of `A`, with their factors."""
    if A.ndim < 2:
        raise RuntimeError("torch.linalg.householder_product: input must have at least 2 dimensions.")
    rows, columns = A.shape[-2:]
    count = tau.size(-1)
    if rows < columns:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1]"
        )
    if columns < count:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-1] must be greater than or equal to tau.shape[-1]"
        )
    if A.ndim - tau.ndim != 1:
        raise RuntimeError(
            "torch.linalg.householder_product: Expected tau to have one dimension less than input, but got tau.ndim "
            f"equal to {tau.ndim} and input.ndim is equal to {A.ndim}"
        )
    if A.dtype != tau.dtype:
        raise RuntimeError(
            f"torch.linalg.householder_product: tau dtype {tau.dtype.scalar_name} does not match input dtype "
            f"{A.dtype.scalar_name}"
        )
    eye = FUNCTIONS["eye"](rows, columns, dtype=A.dtype)
    vectors = A.tril(-1) + eye
    found = eye.expand(A.shape)
    for i in reversed(range(count)):
        v = vectors[..., :, i : i + 1]
        found = found - tau[..., i, None, None] * (v @ (v.mH @ found))
    return found if out is None else out.resize_(found.shape).copy_(found)


@composite("orgqr")
def orgqr(self: Tensor, input2: Tensor) -> Tensor:
    return linalg_householder_product(self, input2)
