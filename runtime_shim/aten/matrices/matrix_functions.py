"""Functions of matrices, in batches (…, m, n): determinants, inverses, equations, decompositions.

Their kernels are LAPACK's, by numpy. Where a decomposition is unique only up to signs, these may differ from PyTorch's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import Array
from ...core.function_table import FUNCTIONS, return_type
from ...core.memory_layout import by_columns
from ...core.tensor import Tensor
from ...dispatch.op_description import RESIZED, Computes
from ...dispatch.registration import composite, op


class LinAlgError(RuntimeError):
    """`torch.linalg.LinAlgError`: a matrix that is singular, or not positive definite."""


LinAlgError.__module__, LinAlgError.__name__ = "torch._C", "_LinAlgError"

_FLOATING = Computes("fc")


def check_matrix(name: str, a: Any, *, square: bool = True, what: str = "A") -> None:
    """RuntimeError unless `a` is a matrix, or a batch of them, of the dtypes that LAPACK has."""
    if a.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {what} must have at least 2 dimensions.")
    if a.dtype.kind not in "fc" or a.dtype.itemsize < 4:
        found = dtypes.BY_CHAR[a.dtype.char].scalar_name
        if a.dtype.kind in "fc":
            raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {found}")
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {found}")
    if square and a.shape[-1] != a.shape[-2]:
        raise RuntimeError(
            f"{name}: {what} must be batches of square matrices, but they are {a.shape[-2]} by {a.shape[-1]} matrices"
        )


def _singular(name: str, a: Any) -> LinAlgError:
    """The error for the first matrix of the batch that is singular, with the first pivot that is 0."""
    for place, one in enumerate(a.reshape(-1, *a.shape[-2:])):
        for column in range(1, one.shape[-1] + 1):
            if np.linalg.matrix_rank(one[:, :column]) < column:
                where = f"(Batch element {place}): " if a.ndim > 2 else ""
                if "solve" in name:
                    return LinAlgError(f"{name}: {where}The solver failed because the input matrix is singular.")
                return LinAlgError(
                    f"{name}: {where}The diagonal element {column} is zero, the inversion could not be completed "
                    "because the input matrix is singular."
                )
    return LinAlgError(f"{name}: the input matrix is singular.")


# -- determinants and inverses


def _inverse_conj(a: Tensor) -> Tensor:
    """The inverse, transposed and conjugated; NotImplementedError for a singular matrix, whose gradient needs more."""
    try:
        return FUNCTIONS["linalg_inv"](a).mH
    except LinAlgError:
        raise NotImplementedError(
            "the shim has no gradient of the determinant of singular matrices; supported: regular ones"
        ) from None


def _of_matrices(t: Tensor) -> Tensor:
    return t.unsqueeze(-1).unsqueeze(-1)


@op(
    "linalg_det",
    computes=_FLOATING,
    out=RESIZED,
    method=False,
    A=lambda grad, A, result: _of_matrices(grad * result.conj()) * _inverse_conj(A),
)
def linalg_det(A: Array) -> Array:
    check_matrix("linalg.det", A)
    return np.asarray(np.linalg.det(A), A.dtype)


@op("_log_abs_det", node="LinalgSlogdetBackward0", computes=Computes("f"), function=False, method=False,
    A=lambda grad, A: _of_matrices(grad) * _inverse_conj(A))  # fmt: skip
def _log_abs_det(A: Array) -> Array:
    check_matrix("linalg.slogdet", A)
    return np.asarray(np.linalg.slogdet(A)[1], A.dtype)


@op("_sign_of_det", node="LinalgSlogdetBackward0", computes=Computes("f"), function=False, method=False,
    A=lambda grad, A: None)  # fmt: skip
def _sign_of_det(A: Array) -> Array:
    return np.asarray(np.linalg.slogdet(A)[0], A.dtype)


_SignAndLog = return_type("linalg_slogdet", "sign logabsdet")


@composite("linalg_slogdet", method=False, out=RESIZED)
def linalg_slogdet(A: Tensor) -> Any:
    """The sign and the logarithm of the absolute value of the determinant, of real matrices."""
    logarithm = _log_abs_det(A)
    return _SignAndLog(_sign_of_det(A), logarithm)


@op("linalg_inv", node="LinalgInvExBackward0", computes=_FLOATING, out=RESIZED, method=False,
    A=lambda grad, result: -(result.mH @ grad @ result.mH))  # fmt: skip
def linalg_inv(A: Array) -> Array:
    check_matrix("linalg.inv", A)
    try:
        return by_columns(np.linalg.inv(A))
    except np.linalg.LinAlgError:
        raise _singular("linalg.inv", A) from None


def _is_vector(a_shape: Any, b_shape: Any) -> bool:
    """Whether the right side is a (batch of) vectors, as PyTorch tells them from matrices."""
    return len(b_shape) == 1 or (len(b_shape) == len(a_shape) - 1 and tuple(b_shape) == tuple(a_shape[:-1]))


def _solve_b(grad: Tensor, A: Tensor, left: bool) -> Tensor:
    found: Tensor = FUNCTIONS["linalg_solve"](A.mH, grad, left=left)
    return found


def _solve_a(grad: Tensor, A: Tensor, result: Tensor, B_shape: object, left: bool) -> Tensor:
    right = _solve_b(grad, A, left)
    if left and _is_vector(A.shape, B_shape):
        return -(right.unsqueeze(-1) @ result.unsqueeze(-1).mH)
    return -(right @ result.mH if left else result.mH @ right)


@op("linalg_solve", node="LinalgSolveExBackward0", computes=_FLOATING, out=RESIZED, method=False, A=_solve_a,
    B=_solve_b)  # fmt: skip
def _linalg_solve(A: Array, B: Array, left: bool = True) -> Array:
    check_matrix("linalg.solve", A)
    if A.dtype != B.dtype:
        raise RuntimeError(
            "linalg.solve: Expected A and B to have the same dtype, but found A of type "
            f"{dtypes.of(A).scalar_name} and B of type {dtypes.of(B).scalar_name} instead"
        )
    vector = _is_vector(A.shape, B.shape)
    right = B[..., None] if vector else B
    if (vector and not left) or right.shape[-2 if left else -1] != A.shape[-1]:
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation {'AX' if left else 'XA'} = B "
            f"({A.shape[-2]}x{A.shape[-1]} and {right.shape[-2]}x{right.shape[-1]})"
        )
    try:
        found = np.linalg.solve(A, right) if left else np.linalg.solve(A.swapaxes(-1, -2), right.swapaxes(-1, -2))
    except np.linalg.LinAlgError:
        raise _singular("torch.linalg.solve", A) from None
    if not left:
        return np.ascontiguousarray(found.swapaxes(-1, -2))
    return found[..., 0] if vector else by_columns(found)


# -- decompositions


def _cholesky_gradient(grad: Tensor, result: Tensor, upper: bool) -> Tensor:
    factor, grad = (result.mH, grad.mH) if upper else (result, grad)
    inverse = FUNCTIONS["linalg_inv"](factor)
    inner = (factor.mH @ grad).tril()
    inner = inner - 0.5 * FUNCTIONS["diag_embed"](inner.diagonal(0, -2, -1))
    found = inverse.mH @ inner @ inverse
    return 0.5 * (found + found.mH)


def _register_cholesky(name: str, node: str, title: str) -> Any:
    @op(name, computes=_FLOATING, function=False, method=False, node=node, A=_cholesky_gradient)
    def factor(A: Array, upper: bool) -> Array:
        """The lower triangular L with L L^H = A, or its conjugate transpose."""
        check_matrix(title, A)
        try:
            found = np.linalg.cholesky(A)
        except np.linalg.LinAlgError:
            raise LinAlgError(_not_positive(A, title)) from None
        return by_columns(found.conj().swapaxes(-2, -1) if upper else found)

    return factor


_cholesky_factor = _register_cholesky("_cholesky_factor", "LinalgCholeskyExBackward0", "linalg.cholesky")
_old_cholesky = _register_cholesky("_old_cholesky", "CholeskyBackward0", "cholesky")


def _not_positive(a: Any, title: str) -> str:
    """Which leading minor of which matrix is not positive."""
    for place, one in enumerate(a.reshape(-1, *a.shape[-2:])):
        for order in range(1, one.shape[0] + 1):
            try:
                np.linalg.cholesky(one[:order, :order])
            except np.linalg.LinAlgError:
                where = f"(Batch element {place}): " if a.ndim > 2 else ""
                return (
                    f"{title}: {where}The factorization could not be completed because the input is not "
                    f"positive-definite (the leading minor of order {order} is not positive-definite)."
                )
    return f"{title}: The factorization could not be completed."


@composite("linalg_cholesky", method=False, out=RESIZED)
def linalg_cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower triangular L with L L^H = A, or its conjugate transpose."""
    made: Tensor = _cholesky_factor(A, upper)
    return made


@composite("cholesky", out=RESIZED)
def cholesky(self: Tensor, upper: bool = False) -> Tensor:
    made: Tensor = _old_cholesky(self, upper)
    return made


_OfHermitian = return_type("linalg_eigh", "eigenvalues eigenvectors")


def _lower(A: Any) -> Any:
    """The Hermitian matrix whose lower triangle that is."""
    below = np.tril(A, -1)
    return below + below.conj().swapaxes(-1, -2) + np.real(np.einsum("...ii->...i", A))[..., None] * np.eye(A.shape[-1])


def _eigen_gradients(grads: Any, result: Tensor) -> Tensor:
    grad_values, grad_vectors = grads
    values, vectors = result
    inner = None
    if grad_vectors is not None:
        gaps = values.unsqueeze(-2) - values.unsqueeze(-1)
        gaps = gaps.masked_fill(FUNCTIONS["eye"](values.size(-1), dtype=dtypes.bool_), float("inf"))
        turned = vectors.mH @ grad_vectors
        inner = (turned - turned.mH) / (2 * gaps)
    if grad_values is not None:
        own = FUNCTIONS["diag_embed"](grad_values)
        inner = own if inner is None else inner + own
    if inner is None:
        return FUNCTIONS["zeros_like"](vectors)
    return vectors @ inner @ vectors.mH


@op("_eigh", computes=_FLOATING, function=False, method=False, node="LinalgEighBackward0", outputs=_OfHermitian._make,
    A=lambda grads, result: _eigen_gradients(grads, result))  # fmt: skip
def _eigh(A: Array) -> tuple[Array, Array]:
    check_matrix("linalg.eigh", A)
    values, vectors = np.linalg.eigh(_lower(A))
    return values.astype(A.real.dtype), vectors.astype(A.dtype)


def _triangle_of(A: Tensor, UPLO: str) -> Tensor:
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return A if UPLO.upper() == "L" else A.mH


@composite("linalg_eigh", method=False, out=RESIZED)
def linalg_eigh(A: Tensor, UPLO: str = "L") -> Any:
    """Eigenvalues in ascending order and eigenvectors, as columns, of Hermitian matrices."""
    return _eigh(_triangle_of(A, UPLO))


@composite("linalg_eigvalsh", method=False, out=RESIZED)
def linalg_eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    return _eigh(_triangle_of(A, UPLO))[0]


_Singular = return_type("linalg_svd", "U S Vh")


def _svd_gradient(grads: Any, result: Tensor) -> Tensor:
    grad_u, grad_s, grad_vh = grads
    u, s, vh = result
    k = s.size(-1)
    if u.size(-1) != k or vh.size(-2) != k:
        raise NotImplementedError("the shim has no gradient of svd(full_matrices=True); supported: full_matrices=False")
    if u.is_complex():
        raise NotImplementedError("the shim has no gradient of svd of complex matrices; supported: real ones")
    inner = FUNCTIONS["diag_embed"](FUNCTIONS["zeros_like"](s) if grad_s is None else grad_s)
    squares = s * s
    gaps = squares.unsqueeze(-2) - squares.unsqueeze(-1)
    gaps = gaps.masked_fill(FUNCTIONS["eye"](k, dtype=dtypes.bool_), float("inf"))
    rest = None
    if grad_u is not None:
        turned = u.mT @ grad_u
        inner = inner + ((turned - turned.mT) / gaps) * s.unsqueeze(-2)
        if u.size(-2) > k:
            rest = ((grad_u - u @ turned) / s.unsqueeze(-2)) @ vh
    if grad_vh is not None:
        turned = vh @ grad_vh.mT
        inner = inner + s.unsqueeze(-1) * ((turned - turned.mT) / gaps)
        if vh.size(-1) > k:
            other = (u / s.unsqueeze(-2)) @ (grad_vh - turned.mT @ vh)
            rest = other if rest is None else rest + other
    found = u @ inner @ vh
    return found if rest is None else found + rest


@op(
    "linalg_svd",
    computes=_FLOATING,
    method=False,
    outputs=_Singular._make,
    A=lambda grads, result: _svd_gradient(grads, result),
)
def linalg_svd(A: Array, full_matrices: bool = True, driver: str | None = None) -> tuple[Array, Array, Array]:
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )
    check_matrix("linalg.svd", A, square=False)
    u, s, vh = np.linalg.svd(A, full_matrices=full_matrices)
    return by_columns(u), s.astype(A.real.dtype), by_columns(vh)


@composite("linalg_svdvals", method=False, out=RESIZED)
def linalg_svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    return FUNCTIONS["linalg_svd"](A, False, driver)[1]


_OldSvd = return_type("svd", "U S V")


@composite("svd", out=RESIZED)
def svd(self: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """The old form of linalg.svd, which gives V and not its conjugate transpose."""
    if not compute_uv:
        raise NotImplementedError("the shim has no svd(compute_uv=False); supported: linalg.svdvals")
    u, s, vh = FUNCTIONS["linalg_svd"](self, not some)
    return _OldSvd(u, s, vh.mH)


_QR = return_type("linalg_qr", "Q R")
_OldQR = return_type("qr", "Q R")


def _qr_gradient(grads: Any, result: Tensor, complete: bool) -> Tensor:
    """As linalg_qr_backward in FunctionsManual.cpp."""
    grad_q, grad_r = grads
    q, r = result
    rows, columns = q.size(-2), r.size(-1)
    if complete and rows > columns:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")
    if grad_q is None:
        inner = grad_r @ r.mH
    else:
        inner = -(q.mH @ grad_q) if grad_r is None else grad_r @ r.mH - q.mH @ grad_q
    if rows >= columns:
        found = q @ _hermitian(inner.triu())
        if grad_q is not None:
            found = found + grad_q
        return FUNCTIONS["linalg_solve"](r, found.mH).mH
    turned = (inner.mH - inner).tril()
    if turned.is_complex():
        half = FUNCTIONS["diag_embed"](turned.diagonal(0, -2, -1))
        turned = turned - 0.5 * half
    square = r.narrow(-1, 0, rows)
    found = FUNCTIONS["linalg_solve"](square, (q @ turned).mH).mH
    found = FUNCTIONS["cat"]([found, found.new_zeros((*r.shape[:-1], columns - rows))], -1)
    return found if grad_r is None else found + q @ grad_r


def _hermitian(triangle: Tensor) -> Tensor:
    """Both triangles of what the upper one says, with the real part of its diagonal."""
    diagonal = triangle.diagonal(0, -2, -1)
    half = 0.5 * (diagonal + diagonal.conj())
    return triangle + triangle.mH - FUNCTIONS["diag_embed"](half)


@op("_qr", computes=Computes("fc"), function=False, method=False, node="LinalgQrBackward0", outputs=_QR._make,
    A=lambda grads, result, complete: _qr_gradient(grads, result, complete))  # fmt: skip
def _qr(A: Array, complete: bool) -> tuple[Array, Array]:
    check_matrix("linalg.qr", A, square=False)
    q, r = np.linalg.qr(A, "complete" if complete else "reduced")
    return by_columns(q), by_columns(r)


@composite("linalg_qr", method=False, out=RESIZED)
def linalg_qr(A: Tensor, mode: str = "reduced") -> Any:
    """Orthogonal columns and an upper triangle whose product is A."""
    if mode not in ("reduced", "complete"):
        raise NotImplementedError(f"the shim has no linalg.qr(mode={mode!r}); supported: reduced, complete")
    return _qr(A, mode == "complete")


@composite("qr", out=RESIZED)
def qr(self: Tensor, some: bool = True) -> Any:
    return _OldQR(*linalg_qr(self, "reduced" if some else "complete"))
