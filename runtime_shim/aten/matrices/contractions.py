"""Products of tensors, most of them summed over dimensions: tensordot, inner, vdot, Kronecker's, cross, chains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import Array, wrap_dim
from ...core.error_texts import require_tensors
from ...core.tensor import Tensor
from ...dispatch.op_description import ANY_DTYPE, RESIZED, Computes
from ...dispatch.registration import composite, op
from .linalg import DOT_OUT, check_dot

# -- tensordot


def _summed(dims: Any, a: Tensor, b: Tensor) -> list[list[int]]:
    """The dimensions of each tensor that are summed over, as they were given."""
    if isinstance(dims, Tensor):
        dims = int(dims) if dims.numel() == 1 else dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        dims = (list(range(-dims, 0)), list(range(dims)))
    return [[d] if isinstance(d, int) else list(d) for d in dims]


def _wrapped_once(dims: Sequence[int], ndim: int) -> list[int]:
    found: list[int] = []
    for d in (wrap_dim(d, ndim) for d in dims):
        if d in found:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        found.append(d)
    return found


@composite("tensordot", method=False, out=RESIZED)
def tensordot(a: Tensor, b: Tensor, dims: object = 2) -> Tensor:
    """The product summed over pairs of dimensions: the last `dims` of `a` with the first of `b`, or two lists.

    As in ATen/native/Linear.cpp: a dimension of size 1 is summed over in the other tensor at once.
    """
    given = _summed(dims, a, b)
    if len(given[0]) != len(given[1]):
        raise RuntimeError("both dimension lists should have same length")
    if a.dtype is not b.dtype:
        raise RuntimeError("both inputs should have same dtype")
    one, other, count = a, b, 1
    for i, j in zip(*given, strict=True):
        if b.size(j) == 1:
            one = one.sum(i, True, dtype=one.dtype)
        elif a.size(i) == 1:
            other = other.sum(j, True, dtype=other.dtype)
        elif a.size(i) != b.size(j):
            raise RuntimeError(
                "contracted dimensions need to match, but first has size "
                f"{a.size(i)} in dim {i} and second has size {b.size(j)} in dim {j}"
            )
        else:
            count *= a.size(i)
    left, right = _wrapped_once(given[0], a.dim()), _wrapped_once(given[1], b.dim())
    rows = [d for d in range(a.dim()) if d not in left]
    columns = [d for d in range(b.dim()) if d not in right]
    shape = [one.size(d) for d in rows] + [other.size(d) for d in columns]
    one, other = one.permute(rows + left), other.permute(right + columns)
    if not shape:
        return _number(one, other).reshape(())
    height, width = (int(np.prod([t.size(d) for d in ds])) for t, ds in ((a, rows), (b, columns)))
    return one.reshape(height, count).mm(other.reshape(count, width)).reshape(shape)


def _number(one: Tensor, other: Tensor) -> Tensor:
    """The sum over all dimensions, without copying what isn't contiguous."""
    if one.is_contiguous() and other.is_contiguous():
        return one.flatten().dot(other.flatten())
    return (one.squeeze() * other.squeeze()).sum(dtype=one.dtype)


@composite("inner", out=RESIZED)
def inner(self: Tensor, other: Tensor) -> Tensor:
    """The product summed over the last dimensions."""
    if self.dim() == 0 or other.dim() == 0:
        return self * other
    if self.size(-1) != other.size(-1):
        raise RuntimeError(
            f"inner() the last dimension must match on both input tensors but got shapes {list(self.shape)} and "
            f"{list(other.shape)}"
        )
    return tensordot(self, other, ([-1], [-1]))


@op(
    "vdot",
    computes=Computes("ifc", "dot"),
    out=DOT_OUT,
    leak=1,
    self=lambda grad, other: grad.conj() * other,
    other=lambda grad, self: grad * self,
)
def vdot(self: Array, other: Array) -> Array:
    """The dot product, with `self` conjugated."""
    check_dot(self, other)
    return np.asarray(np.vdot(self, other), self.dtype)


# -- Kronecker's and the cross product


def _cross_back(grad: Tensor, other: Tensor, dim: int) -> Tensor:
    return linalg_cross(other.conj(), grad, dim=dim)


@op(
    "linalg_cross",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    self=_cross_back,
    other=lambda grad, self, dim: linalg_cross(grad, self.conj(), dim=dim),
)
def linalg_cross(self: Array, other: Array, *, dim: int = -1) -> Array:
    """The cross product along a dimension of size 3."""
    if self.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    d = wrap_dim(dim, self.ndim)
    if self.ndim == 0 or self.shape[d] != 3 or other.shape[d] != 3:
        lengths = [a.shape[d] if a.ndim else 1 for a in (self, other)]
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {lengths[0]} and {lengths[1]}"
        )
    dtypes.broadcast_shapes(self.shape, other.shape)
    if self.dtype.kind == "b":
        raise NotImplementedError("\"cross\" not implemented for 'Bool'")
    if self.dtype != other.dtype:
        names = [dtypes.of(array).scalar_name for array in (self, other)]
        raise RuntimeError(f"expected scalar type {names[0]} but found {names[1]}")
    one, two = np.broadcast_arrays(self, other)
    a, b = (np.moveaxis(x, d, 0) for x in (one, two))
    found = np.empty(one.shape, one.dtype)
    parts = np.moveaxis(found, d, 0)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        parts[i] = a[j] * b[k] - a[k] * b[j]
    return found


@composite("cross", out=RESIZED)
def cross(self: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """The cross product along a dimension of size 3, by default the first of that size."""
    require_tensors("cross", self=self, other=other)
    if dim is None:
        found = [i for i, n in enumerate(self.shape) if n == 3]
        if not found:
            raise RuntimeError("no dimension of size 3 in input")
        dim = found[0]
    made: Tensor = linalg_cross(self, other, dim=dim)
    return made
