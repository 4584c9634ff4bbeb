"""Products of matrices that are added to a tensor: addmv, baddbmm, addbmm, addr. Derivatives as in derivatives.yaml."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array, sizes
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.op_description import RESIZED, Computes
from ..dispatch.registration import composite, op
from .elementwise import conj
from .linalg import check_addmv_dtypes


def _scaled(grad: Tensor, factor: Any) -> Tensor:
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
    tensor_params=("self", "mat", "vec"),
    self=lambda grad, beta: _scaled(grad, beta),
    mat=lambda grad, vec, alpha: _scaled(grad.outer(conj(vec)), alpha),
    vec=lambda grad, mat, alpha: _scaled(conj(mat.t()).mv(grad), alpha),
)
def addmv(self: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Array:
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
    tensor_params=("self", "batch1", "batch2"),
    self=lambda grad, beta: _scaled(grad, beta),
    batch1=lambda grad, batch2, alpha: _scaled(grad.bmm(conj(batch2.transpose(1, 2))), alpha),
    batch2=lambda grad, batch1, alpha: _scaled(conj(batch1.transpose(1, 2)).bmm(grad), alpha),
)
def baddbmm(self: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Array:
    _check_batches(batch1, batch2)
    return _sum(self, np.matmul(batch1, batch2), beta, alpha)


@op(
    "addbmm",
    computes=Computes("ifc", "addbmm"),
    out=RESIZED,
    inplace=True,
    tensor_params=("self", "batch1", "batch2"),
    self=lambda grad, beta: _scaled(grad, beta),
    batch1=lambda grad, batch2, alpha: _scaled(grad.unsqueeze(0).matmul(conj(batch2.transpose(1, 2))), alpha),
    batch2=lambda grad, batch1, alpha: _scaled(conj(batch1.transpose(1, 2)).matmul(grad.unsqueeze(0)), alpha),
)
def addbmm(self: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Array:
    """The sum over the batch is added."""
    _check_batches(batch1, batch2)
    return _sum(self, np.matmul(batch1, batch2).sum(axis=0, dtype=batch1.dtype), beta, alpha)


@op(
    "addr",
    computes=Computes("bifc"),
    out=RESIZED,
    inplace=True,
    tensor_params=("self", "vec1", "vec2"),
    self=lambda grad, beta: _scaled(grad, beta),
    vec1=lambda grad, vec2, alpha: _scaled(grad.mv(conj(vec2)), alpha),
    vec2=lambda grad, vec1, alpha: _scaled(grad.t().mv(conj(vec1)), alpha),
)
def addr(self: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Array:
    """The outer product is added."""
    if vec1.ndim != 1 or vec2.ndim != 1:
        raise RuntimeError(f"addr: Expected 1-D argument vec1, but got {vec1.ndim}-D")
    return _sum(self, np.multiply.outer(vec1, vec2), beta, alpha)


@op(
    "_cdist_forward",
    computes=Computes("f", "cdist"),
    out=RESIZED,
    node="CdistBackward0",
    method=False,
    function=False,
    tensor_params=("x1", "x2"),
    x1=lambda grad, x1, x2, p, result: _pairs_back(grad, x1, x2, p, result, -2),
    x2=lambda grad, x1, x2, p, result: _pairs_back(grad, x1, x2, p, result, -3),
)
def _cdist(x1: Any, x2: Any, p: float) -> Array:
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
