"""Copies of a tensor with a part replaced: `slice_scatter` and the like, which take views' arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.argument_errors import require_tensors
from ..core.dtypes import Array, sizes
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor, requires_grad
from ..core.thread_state import AUTOGRAD, tls
from ..dispatch.op_description import ANY_DTYPE, RESIZED
from ..dispatch.registration import composite, op
from .parts import diagonal_of, selected, slice_, sliced
from .views import strided_array


def _overlaps(array: Array) -> bool:
    """Whether elements share memory; or there are none."""
    return not array.size or any(n > 1 and not stride for n, stride in zip(array.shape, array.strides, strict=True))


def _copy_of(array: Array) -> Array:
    """With the same strides, unless elements share memory."""
    if _overlaps(array):
        return array.copy(order="C")
    last = sum((n - 1) * stride for n, stride in zip(array.shape, array.strides, strict=True)) // array.itemsize
    found = strided_array(np.zeros(last + 1, array.dtype), array.shape, array.strides)
    found[...] = array
    return found


def _replaced(array: Array, src: Array, view: Callable[..., Array], *args: Any) -> Array:
    found = _copy_of(array)
    place = view(found, *args)
    if place.shape != src.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {sizes(src.shape)}, slice size = "
            f"{sizes(place.shape)}"
        )
    np.copyto(place, src, casting="unsafe")
    return found


def _below(view: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """What PyTorch's kernels do: a copy seen with the strides of the original, and a write to a view of it."""

    def made_of_views(self: Tensor, src: Tensor, *args: Any) -> Tensor:
        shape, strides = tuple(self.shape), self.stride()
        last = sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
        if _overlaps(self._array):
            made: Tensor = self.clone(memory_format="contiguous")
        else:
            made = self.as_strided((last + 1,), (1,)).clone().as_strided(shape, strides)
        view(made, *args).copy_(src)
        return made

    return made_of_views


def _zeros(grad: Tensor, shape: tuple[int, ...]) -> Tensor:
    made: Tensor = FUNCTIONS["zeros"](shape, dtype=grad.dtype)
    return made


def _refuse_complex_gradient(name: str, self: Tensor, src: Tensor) -> None:
    """PyTorch has no derivative of some of these ops for complex numbers."""
    require_tensors(name, self=self, src=src)
    state = tls.state
    recorded = state.grad_mode and not state.excluded & AUTOGRAD and (requires_grad(self) or requires_grad(src))
    if recorded and self.is_complex():
        raise RuntimeError(f"{name} does not support automatic differentiation for outputs with complex dtype.")


@op(
    "select_scatter",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    function=False,
    below=_below(lambda made, *args: made.select(*args)),
    self=lambda grad, src_shape, dim, index: _select_scatter(grad, _zeros(grad, src_shape), dim, index),
    src=lambda grad, dim, index: grad.select(dim, index),
)
def _select_scatter(self: Any, src: Any, dim: int, index: int) -> Array:
    return _replaced(self, src, selected, dim, index)


@composite("select_scatter")
def select_scatter(self: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy in which `src` stands at one index of a dimension."""
    _refuse_complex_gradient("select_scatter", self, src)
    made: Tensor = _select_scatter(self, src, dim, index)
    return made


@op(
    "slice_scatter",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    function=False,
    below=_below(lambda made, *args: slice_(made, *args)),
    self=lambda grad, src_shape, dim, start, end, step: _slice_scatter(
        grad, _zeros(grad, src_shape), dim, start, end, step
    ),
    src=lambda grad, dim, start, end, step: slice_(grad, dim, start, end, step),
)
def _slice_scatter(self: Any, src: Any, dim: int, start: Any, end: Any, step: int) -> Array:
    return _replaced(self, src, sliced, dim, start, end, step)


@composite("slice_scatter")
def slice_scatter(
    self: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """A copy in which `src` stands in a slice of a dimension."""
    _refuse_complex_gradient("slice_scatter", self, src)
    made: Tensor = _slice_scatter(self, src, dim, start, end, step)
    return made


@op(
    "diagonal_scatter",
    computes=ANY_DTYPE,
    out=RESIZED,
    below=_below(lambda made, *args: made.diagonal(*args)),
    self=lambda grad, src_shape, offset, dim1, dim2: diagonal_scatter(
        grad, _zeros(grad, src_shape), offset, dim1, dim2
    ),
    src=lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2),
)
def diagonal_scatter(self: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    """A copy in which `src` stands on the diagonal."""
    return _replaced(self, src, diagonal_of, offset, dim1, dim2)
