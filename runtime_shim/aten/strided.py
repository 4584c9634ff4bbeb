"""Windows of strides onto a storage: as_strided, and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtypes import Array, sizes
from ..core.function_table import INTERNAL
from ..core.memory_layout import Geometry, geometry
from ..core.tensor import Tensor, address
from ..core.thread_state import tls
from ..dispatch.op_description import ANY_DTYPE, OPS, RESIZED
from ..dispatch.op_node import describe_recording
from ..dispatch.registration import composite, op
from ..dispatch.view_layers import make_view
from .views import strided_array
from .views import window as any_window


def check_storage_bounds(self: Tensor, window: Geometry) -> None:
    shape, strides, offset = window
    if any(s < 0 for s in strides):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: {sizes(strides)}"
        )
    if 0 in shape:
        return
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    root = self._storage[1]
    itemsize = self._array.itemsize
    if (last + 1) * itemsize > root.nbytes or offset < 0:
        raise RuntimeError(
            f"setStorage: sizes {sizes(shape)}, strides {sizes(strides)}, storage offset {offset}, and "
            f"itemsize {itemsize} "
            f"requiring a storage size of {(last + 1) * itemsize} are out of bounds for storage of size "
            f"{root.nbytes}"
        )


def storage_window(self: Tensor, window: Geometry) -> Array:
    """The array that a geometry describes in the storage of `self`; strides and offset in elements."""
    shape, strides, offset = window
    array, root = self._array, self._storage[1]
    item = array.itemsize
    byte_strides = [s * item for s in strides]
    start = offset * item - (address(array) - address(root))
    if start == 0:
        return any_window(array, shape, byte_strides)
    flat = (
        strided_array(root, (root.size,), (root.itemsize,)) if root.ndim != 1 or not root.flags.c_contiguous else root
    )
    if flat.dtype != array.dtype:
        flat = flat.view(array.dtype)
    return any_window(flat[offset:], shape, byte_strides)


AS_STRIDED = OPS["as_strided"] = describe_recording(
    "as_strided",
    lambda self, window, base: self,
    {"self": lambda grad, window, base: as_strided_backward(grad, base, window)},
)


@composite("as_strided")
def as_strided(self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """A window onto the storage. Strides and offset in elements; the offset counts from the storage's
    start.
    """
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    offset = self.storage_offset() if storage_offset is None else storage_offset
    window = (tuple(size), tuple(stride), offset)
    check_storage_bounds(self, window)
    return make_view(AS_STRIDED, self, storage_window(self, window), (window, geometry(self)))


def as_strided_backward(grad: Tensor, base: Geometry, window: Geometry) -> Tensor:
    """Gradient of the base of a strided window: what several elements share is added up."""
    found: Tensor = _as_strided_backward(grad, base, window)
    # PyTorch adds up in a tensor as great as the storage, and returns a window onto it.
    if tls.state.grad_mode:
        return found
    if found._version_counter is not None:
        found._version_counter[0] += 1
    return found.as_strided(found._array.shape, found.stride())


INTERNAL["as_strided_backward"] = as_strided_backward


def _as_strided_again(grad: Tensor, base: Geometry, window: Geometry) -> Tensor:
    shape, strides, offset = window
    return grad.contiguous().as_strided(shape, strides, offset - base[2])


@op("as_strided_backward", computes=ANY_DTYPE, out=RESIZED, method=False, function=False, self=_as_strided_again)
def _as_strided_backward(self: Any, base: Geometry, window: Geometry) -> Array:
    array: Array = self
    low = min(base[2], window[2])
    extent = 1 + max(
        g[2] - low + sum((n - 1) * s for n, s in zip(g[0], g[1], strict=True)) if 0 not in g[0] else 0
        for g in (base, window)
    )
    positions = _positions(window, low)
    base_positions = _positions(base, low)
    flat = np.zeros(extent, array.dtype)
    np.add.at(flat, positions.ravel(), array.ravel())
    if 0 in base[1]:  # an expanded base: each element's gradient is spread over those that share its memory
        counts = np.zeros(extent, array.dtype)
        np.add.at(counts, base_positions.ravel(), 1)
        flat /= np.where(counts == 0, 1, counts)
    return flat[base_positions]


def _positions(g: Geometry, low: int) -> Array:
    shape, strides, offset = g
    found: Array = np.full(shape, offset - low, np.intp)
    for i, (n, s) in enumerate(zip(shape, strides, strict=True)):
        found += (np.arange(n) * s).reshape((n,) + (1,) * (len(shape) - i - 1))
    return found
