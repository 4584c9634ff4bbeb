"""Functions of matrices made of other ops, pseudoinverses, and products that are added up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import Array, sizes
from ...core.error_texts import UnsupportedError
from ...core.function_table import FUNCTIONS, return_type
from ...core.tensor import Tensor
from ...dispatch.op_description import RESIZED, Computes
from ...dispatch.registration import composite, inner_op, op
from ..elementwise import conj
from .linalg import check_addmv_dtypes
from .matrix_functions import LinAlgError


@composite("linalg_solve_triangular", method=False, out=RESIZED)
def linalg_solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """X with A X = B, or X A = B with `left=False`; only one triangle of A counts."""
    triangle = A.triu() if upper else A.tril()
    if unitriangular:
        strict = A.triu(1) if upper else A.tril(-1)
        triangle = strict + FUNCTIONS["eye"](A.size(-1), dtype=A.dtype)
    if left:
        return _equation(triangle, B)
    return _equation(triangle.mT, B.mT).mT


@composite("triangular_solve", out=RESIZED)
def triangular_solve(
    self: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """The old name, which also returns A."""
    triangle = A.mT if transpose else A
    solution = linalg_solve_triangular(triangle, self, upper=upper is not transpose, unitriangular=unitriangular)
    return return_type("triangular_solve", "solution cloned_coefficient")(solution, A.clone())


def _equation(A: Tensor, B: Tensor) -> Tensor:
    """The solution for a batch of matrices B, the batches broadcast."""
    batch = dtypes.broadcast_shapes(tuple(A.shape[:-2]), tuple(B.shape[:-2]))
    return FUNCTIONS["linalg_solve"](A.expand(*batch, *A.shape[-2:]), B.expand(*batch, *B.shape[-2:]))


@composite("linalg_matrix_norm", method=False, out=RESIZED)
def linalg_matrix_norm(A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False,
                       *, dtype: Any = None) -> Tensor:  # fmt: skip
    """Frobenius' or the nuclear norm, or by singular values (2, -2), column sums (1, -1) or row sums (inf, -inf)."""
    if ord == "fro":
        return FUNCTIONS["linalg_vector_norm"](A, 2, tuple(dim), keepdim, dtype=dtype)
    if not isinstance(ord, str) or ord == "nuc":
        if A.dim() < 2:
            raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
        if len(dim) != 2:
            raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    else:
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    A = A if dtype is None else A.to(dtype)
    first, second = (d % A.dim() for d in dim)
    moved = A.movedim((first, second), (-2, -1))
    if ord in ("nuc", 2, -2):
        s = FUNCTIONS["linalg_svdvals"](moved)
        found = s.sum(-1) if ord == "nuc" else s.amax(-1) if ord == 2 else s.amin(-1)
    elif ord in (1, -1, float("inf"), -float("inf")):
        sums = moved.abs().sum(-2 if abs(ord) == 1 else -1)
        found = sums.amax(-1) if ord > 0 else sums.amin(-1)
    else:
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    if keepdim:
        for d in sorted((first, second)):
            found = found.unsqueeze(d)
    return found


@composite("linalg_norm", method=False, out=RESIZED)
def linalg_norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The norm of a vector or of matrices, by `ord` and the number of dimensions."""
    dims = None if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if ord is None:
        return FUNCTIONS["linalg_vector_norm"](A, 2, dims, keepdim, dtype=dtype)
    if isinstance(ord, str) or len(dims if dims is not None else A.shape) == 2:
        return linalg_matrix_norm(A, ord, dims or (-2, -1), keepdim, dtype=dtype)
    if dims is None and A.dim() > 2:
        raise RuntimeError("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
                           f"{A.dim()}D.")  # fmt: skip
    return FUNCTIONS["linalg_vector_norm"](A, ord, dims, keepdim, dtype=dtype)


@composite("logdet")
def logdet(self: Tensor) -> Tensor:
    """The logarithm of the determinant: nan where that is negative."""
    sign, logarithm = FUNCTIONS["linalg_slogdet"](self)
    return FUNCTIONS["where"](sign < 0, float("nan"), logarithm)


def _by_old_name(name: str, new: str, results: Callable[[object], object] = lambda result: result) -> None:
    @composite(name)
    def call(self: Tensor, *args: object, **kwargs: object) -> Any:
        return results(FUNCTIONS[new](self, *args, **kwargs))


_by_old_name("det", "linalg_det")
_by_old_name("slogdet", "linalg_slogdet", return_type("slogdet", "sign logabsdet")._make)
_by_old_name("inverse", "linalg_inv")


def _with_info(name: str, plain: str, result: str) -> None:
    """`linalg.{name}_ex`, which says what failed instead of raising an error."""
    results = return_type(f"linalg_{name}_ex", f"{result} info")

    @composite(f"linalg_{name}_ex", method=False, out=RESIZED)
    def call(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
        options = {"upper": upper} if upper else {}
        try:
            found = FUNCTIONS[plain](A, **options)
        except LinAlgError as error:
            if check_errors:
                raise LinAlgError(str(error).replace(f"linalg.{name}", f"linalg.{name}_ex", 1)) from None
            raise UnsupportedError(
                f"the shim has no linalg.{name}_ex of matrices for which that fails ({error}); supported: others, and "
                "check_errors=True"
            ) from None
        return results(found, FUNCTIONS["zeros"](A.shape[:-2], dtype=dtypes.int32))


_with_info("inv", "linalg_inv", "inverse")
_with_info("cholesky", "linalg_cholesky", "L")


# -- the pseudoinverse


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


@inner_op("_pinv", node="LinalgPinvBackward0", A=lambda grad, result, A: _pinv_back(grad, result, A))
def _pinv(A: Array, absolute: Any, relative: Any) -> Array:
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


@composite("linalg_pinv", method=False, out=RESIZED)
def linalg_pinv(
    A: Tensor, rcond: object = None, hermitian: bool = False, *, atol: object = None, rtol: object = None
) -> Tensor:
    """The pseudoinverse; singular values up to `atol`, or `rtol` (`rcond`) times the largest, count as 0."""
    made: Tensor = _pinv(A, atol, rcond if rtol is None else rtol)
    return made


def _scaled(grad: Tensor, factor: object) -> Tensor:
    return grad if factor == 1 else grad * factor


def _sum(self: Any, product: Array, beta: Any, alpha: Any) -> Array:
    product = product if alpha == 1 else product * alpha
    try:
        base = np.broadcast_to(self, product.shape)
    except ValueError:
        raise RuntimeError(
            f"The expanded size of the tensor ({product.shape[-1]}) must match the existing size "
            f"({self.shape[-1] if self.ndim else 1}) at non-singleton dimension {product.ndim - 1}.  Target sizes: "
            f"{sizes(product.shape)}.  Tensor sizes: {sizes(self.shape)}"
        ) from None
    if beta == 0:  # then NaN in `self` doesn't count
        return product
    return (base if beta == 1 else base * beta) + product


@op(
    "addmv",
    computes=Computes("ifc", "addmv_impl_cpu"),
    out=RESIZED,
    inplace=True,
    self=lambda grad, beta: _scaled(grad, beta),
    mat=lambda grad, vec, alpha: _scaled(grad.outer(conj(vec)), alpha),
    vec=lambda grad, mat, alpha: _scaled(conj(mat.t()).mv(grad), alpha),
)
def addmv(self: Array, mat: Array, vec: Array, *, beta: Any = 1, alpha: Any = 1) -> Array:
    if mat.ndim != 2 or vec.ndim != 1 or self.ndim > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {self.ndim}, {mat.ndim}, {vec.ndim}")
    if mat.shape[1] != vec.shape[0] or (self.size != mat.shape[0] and self.size != 1):
        raise RuntimeError(
            f"size mismatch, got input ({self.size}), mat ({mat.shape[0]}x{mat.shape[1]}), vec ({vec.shape[0]})"
        )
    check_addmv_dtypes(self, mat, vec)
    return _sum(self, np.matmul(mat, vec), beta, alpha)


def _check_batches(batch1: Any, batch2: Any) -> None:
    if batch1.ndim != 3:
        raise RuntimeError("batch1 must be a 3D tensor")
    if batch2.ndim != 3:
        raise RuntimeError("batch2 must be a 3D tensor")
    if batch1.shape[0] != batch2.shape[0] or batch1.shape[2] != batch2.shape[1]:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"{sizes((batch1.shape[0], batch1.shape[2]))} but got: {sizes(batch2.shape[:2])}."
        )
    if batch1.dtype != batch2.dtype:
        raise RuntimeError(
            f"expected scalar type {dtypes.of(batch1).scalar_name} but found {dtypes.of(batch2).scalar_name}"
        )


@op(
    "baddbmm",
    computes=Computes("ifc", "baddbmm"),
    out=RESIZED,
    inplace=True,
    self=lambda grad, beta: _scaled(grad, beta),
    batch1=lambda grad, batch2, alpha: _scaled(grad.bmm(conj(batch2.transpose(1, 2))), alpha),
    batch2=lambda grad, batch1, alpha: _scaled(conj(batch1.transpose(1, 2)).bmm(grad), alpha),
)
def baddbmm(self: Array, batch1: Array, batch2: Array, *, beta: Any = 1, alpha: Any = 1) -> Array:
    _check_batches(batch1, batch2)
    return _sum(self, np.matmul(batch1, batch2), beta, alpha)


@inner_op(
    "_cdist_forward",
    computes=Computes("f", "cdist"),
    node="CdistBackward0",
    x1=lambda grad, x1, x2, p, result: _pairs_back(grad, x1, x2, p, result, -2),
    x2=lambda grad, x1, x2, p, result: _pairs_back(grad, x1, x2, p, result, -3),
)
def _cdist(x1: Array, x2: Array, p: float) -> Array:
    apart = np.abs(x1[..., :, None, :] - x2[..., None, :, :])
    if p == 0:
        return (apart != 0).sum(axis=-1).astype(x1.dtype)
    if np.isinf(p):
        return apart.max(axis=-1, initial=0)
    if p == 2:
        return np.sqrt((apart * apart).sum(axis=-1))
    return np.asarray((apart**p).sum(axis=-1) ** (1 / p), x1.dtype)


def _pairs_back(grad: Tensor, x1: Tensor, x2: Tensor, p: float, result: Tensor, dim: int) -> Tensor:
    """The gradient of the distances by the first points, or with dimension -3 by the second."""
    first, second = x1.unsqueeze(-2), x2.unsqueeze(-3)
    apart = first - second if dim == -2 else second - first
    grad, far = grad.unsqueeze(-1), result.unsqueeze(-1)
    if p == 0:
        back = FUNCTIONS["zeros_like"](apart)
    elif p == 1:
        back = grad * apart.sign()
    elif p == float("inf"):
        back = grad * apart.sign() * (apart.abs() == far)
    else:
        scale = (grad / far ** (p - 1)).masked_fill(far == 0, 0)
        back = scale * (apart if p == 2 else apart.sign() * apart.abs() ** (p - 1))
    found: Tensor = back.sum(dim)
    return found


@composite("cdist", method=False)
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = None) -> Tensor:
    """The distances between each row of `x1` and each row of `x2`, by the norm `p`; batches broadcast."""
    for name, x in (("X1", x1), ("X2", x2)):
        if x._array.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x._array.ndim}D")
    if x1._array.shape[-1] != x2._array.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1._array.shape[-1]} X2: {x2._array.shape[-1]}"
        )
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    found: Tensor = _cdist(x1, x2, float(p))
    return found
