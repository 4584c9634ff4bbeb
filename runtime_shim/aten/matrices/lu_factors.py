"""LU factors of matrices, with row pivots: P L U = A."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import Array
from ...core.function_table import FUNCTIONS, return_type
from ...core.memory_layout import by_columns
from ...core.tensor import Tensor, new_tensor
from ...dispatch.op_description import RESIZED, Computes
from ...dispatch.registration import composite, op
from .matrix_functions import check_matrix

_Factored = return_type("linalg_lu_factor", "LU pivots")
_FactoredEx = return_type("linalg_lu_factor_ex", "LU pivots info")
_WithInfo = return_type("_lu_with_info", "LU pivots info")
_Factors = return_type("linalg_lu", "P L U")
_Unpacked = return_type("lu_unpack", "P L U")


def _gradient(grads: Any, result: Tensor) -> Tensor:
    grad, (packed, pivots) = grads[0], result
    solve = FUNCTIONS["linalg_solve_triangular"]
    least = min(packed.shape[-2:])
    square = packed[..., :least, :least]
    lower, upper = _lower(square), square.triu()
    inner = grad[..., :least, :least]
    left, right = lower.mH @ inner.tril(-1), inner.triu() @ upper.mH
    if packed.size(-1) > least:  # columns beside the square: L^-1 P^T A
        left = left - grad[..., least:] @ packed[..., least:].mH
    if packed.size(-2) > least:  # rows below it: P^T A U^-1
        right = right - packed[..., least:, :].mH @ grad[..., least:, :]
    found = solve(lower.mH, left.tril(-1) + right.triu(), upper=True)
    found = solve(upper.mH, found, upper=False, left=False)
    if packed.size(-1) > least:
        found = FUNCTIONS["cat"]([found, solve(lower.mH, grad[..., least:], upper=True)], -1)
    if packed.size(-2) > least:
        below = solve(upper.mH, grad[..., least:, :], upper=False, left=False)
        found = FUNCTIONS["cat"]([found, below], -2)
    return _permutation(pivots, packed) @ found


@op("_lu", computes=Computes("fc"), function=False, method=False, node="LinalgLuFactorExBackward0",
    outputs=_Factored._make, A=_gradient)  # fmt: skip
def _lu(A: Array, title: str) -> tuple[Array, Array]:
    """Both factors in one matrix, as L has ones along its diagonal; of each step the row that is exchanged, from 1."""
    if A.ndim < 2:
        raise RuntimeError(f"{title}: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead")
    check_matrix(title, A, square=False)
    packed, least = A.copy(), min(A.shape[-2:])
    pivots = np.zeros((*A.shape[:-2], least), np.int32)
    for one, rows in zip(packed.reshape(-1, *A.shape[-2:]), pivots.reshape(-1, least), strict=True):
        for k in range(least):
            row = k + int(np.argmax(abs(one[k:, k])))
            rows[k] = row + 1
            one[[k, row]] = one[[row, k]]
            if one[k, k] != 0:
                one[k + 1 :, k] /= one[k, k]
                one[k + 1 :, k + 1 :] -= np.outer(one[k + 1 :, k], one[k, k + 1 :])
    return by_columns(packed), pivots


def _lower(packed: Tensor) -> Tensor:
    least = min(packed.shape[-2:])
    one = FUNCTIONS["eye"](packed.size(-2), least, dtype=packed.dtype)
    found: Tensor = packed[..., :least].tril(-1) + one
    return found


def _permutation(pivots: Tensor, packed: Tensor) -> Tensor:
    """P, whose rows are exchanged back."""
    size = packed.size(-2)
    given = np.asarray(pivots.tolist(), np.int64).reshape(-1, pivots.size(-1))
    found = np.zeros((len(given), size, size))
    for one, rows in zip(found, given, strict=True):
        order = np.arange(size)
        for k, row in enumerate(rows - 1):
            order[[k, row]] = order[[row, k]]
        one[order, np.arange(size)] = 1
    made: Tensor = new_tensor(found.reshape(*pivots.shape[:-1], size, size)).to(packed.dtype)
    return made


def _factored(A: Tensor, pivot: bool, title: str) -> Any:
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    return _lu(A, title)


def _info(packed: Tensor) -> Tensor:
    """For each matrix the first place, from 1, at which U has a zero on its diagonal; 0 where there is none."""
    zero = packed.detach().diagonal(0, -2, -1) == 0
    found: Tensor = FUNCTIONS["where"](zero.any(-1), zero.to(dtypes.int32).argmax(-1) + 1, 0).to(dtypes.int32)
    return found


@composite("linalg_lu_factor", method=False, out=RESIZED)
def linalg_lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """Both factors in one matrix, and the rows that are exchanged. RuntimeError for a singular matrix."""
    found = _factored(A, pivot, "torch.lu_factor")
    for place, at in enumerate(_info(found[0]).reshape(-1).tolist()):
        if at:
            where = f"(Batch element {place}): " if A.dim() > 2 else ""
            raise RuntimeError(
                f"torch.linalg.lu_factor: {where}U[{at},{at}] is zero and using it on lu_solve would result in a "
                "division by zero. If you still want to perform the factorization, consider calling linalg.lu(A, "
                "pivot) or linalg.lu_factor_ex(A, pivot)"
            )
    return found


@composite("linalg_lu_factor_ex", method=False, out=RESIZED)
def linalg_lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """As `linalg_lu_factor`, with a number for each matrix that says where U is zero."""
    packed, pivots = linalg_lu_factor(A, pivot=pivot) if check_errors else _factored(A, pivot, "torch.lu_factor")
    return _FactoredEx(packed, pivots, _info(packed))


@composite("lu")
def lu(self: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """The old name of `linalg_lu_factor` and, with `get_infos`, of `linalg_lu_factor_ex`."""
    packed, pivots = _factored(self, pivot, "torch.lu_factor")
    return _WithInfo(packed, pivots, _info(packed)) if get_infos else (packed, pivots)


@composite("lu_unpack", method=False)
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """P, L and U; what isn't to be unpacked is empty."""
    empty = LU_data.new_empty(0)
    least = min(LU_data.shape[-2:])
    parts = (_lower(LU_data), LU_data[..., :least, :].triu()) if unpack_data else (empty, empty)
    return _Unpacked(_permutation(LU_pivots, LU_data) if unpack_pivots else empty, *parts)


@composite("linalg_lu", method=False, out=RESIZED)
def linalg_lu(A: Tensor, *, pivot: bool = True) -> Any:
    """The factors P, L and U."""
    return _Factors._make(lu_unpack(*_factored(A, pivot, "linalg.lu")))


@composite("linalg_lu_solve", method=False, out=RESIZED)
def linalg_lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """The solution of `A @ X = B`, or of `X @ A = B`, by the factors of A."""
    if not left:
        return linalg_lu_solve(LU, pivots, B.mH, adjoint=not adjoint).mH
    solve, (permutation, lower, upper) = FUNCTIONS["linalg_solve_triangular"], lu_unpack(LU, pivots)
    if adjoint:
        return permutation @ solve(lower.mH, solve(upper.mH, B, upper=False), upper=True)
    found: Tensor = solve(upper, solve(lower, permutation.mH @ B, upper=False), upper=True)
    return found


composite("lu_solve")(lambda self, LU_data, LU_pivots: linalg_lu_solve(LU_data, LU_pivots, self))
