"""Functions of matrices that are made of decompositions, inverses and products: powers, norms, equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import dtypes
from ..core.error_texts import UnsupportedError
from ..core.function_table import FUNCTIONS
from ..core.return_types import return_type
from ..core.tensor import Tensor
from ..dispatch.registration import composite
from .matrix_functions import LinAlgError, check_matrix


@composite("linalg_matrix_power", method=False)
def linalg_matrix_power(A: Tensor, n: int) -> Tensor:
    """A times itself, n times; its inverse, -n times."""
    check_matrix("linalg.matrix_power", A._array)
    if n < 0:
        return linalg_matrix_power(FUNCTIONS["linalg_inv"](A), -n)
    found, square = None, A
    while n:
        if n & 1:
            found = square if found is None else found @ square
        n >>= 1
        if n:
            square = square @ square
    if found is None:
        return FUNCTIONS["eye"](A.size(-1), dtype=A.dtype).expand(A.shape).clone()
    return found.clone() if found is A else found


@composite("linalg_solve_triangular", method=False)
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


def _equation(A: Tensor, B: Tensor) -> Tensor:
    """The solution for a batch of matrices B, the batches broadcast."""
    batch = dtypes.broadcast_shapes(tuple(A.shape[:-2]), tuple(B.shape[:-2]))
    return FUNCTIONS["linalg_solve"](A.expand(*batch, *A.shape[-2:]), B.expand(*batch, *B.shape[-2:]))


@composite("linalg_matrix_norm", method=False)
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


@composite("linalg_norm", method=False)
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


def _by_old_name(name: str, new: str, results: Callable[[Any], Any] = lambda result: result) -> None:
    @composite(name)
    def call(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return results(FUNCTIONS[new](self, *args, **kwargs))


_by_old_name("det", "linalg_det")
_by_old_name("slogdet", "linalg_slogdet", return_type("slogdet", "sign logabsdet")._make)
_by_old_name("inverse", "linalg_inv")
_by_old_name("matrix_power", "linalg_matrix_power")


@composite("pinverse")
def pinverse(self: Tensor, rcond: float = 1e-15) -> Tensor:
    made: Tensor = FUNCTIONS["linalg_pinv"](self, rtol=rcond)
    return made


def _with_info(name: str, plain: str, result: str) -> None:
    """`linalg.{name}_ex`, which says what failed instead of raising an error."""
    results = return_type(f"linalg_{name}_ex", f"{result} info")

    @composite(f"linalg_{name}_ex", method=False)
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
