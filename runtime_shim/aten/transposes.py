"""Views that reorder dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.dtypes import Array, sizes, wrap_dim
from ..core.function_table import FUNCTIONS
from ..core.reordered_array import ReorderedArray
from ..core.tensor import Tensor, attach
from ..dispatch.registration import composite
from ..dispatch.view_layers import view_op
from .views import some_ints


@view_op("t", self=lambda grad: grad.t())
def t(self: Any) -> Array:
    array: Array = self
    if array.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {array.ndim}D")
    return array.T.view(ReorderedArray)


@view_op("transpose", self=lambda grad, dim0, dim1: grad.transpose(dim0, dim1))
def transpose(self: Any, dim0: int, dim1: int) -> Array:
    array: Array = self
    if array.ndim == 0:
        wrap_dim(dim0, 0), wrap_dim(dim1, 0)
        return array.view()
    return array.swapaxes(wrap_dim(dim0, array.ndim), wrap_dim(dim1, array.ndim)).view(ReorderedArray)


def _permute_back(grad: Tensor, dims: Sequence[int]) -> Tensor:
    n = len(dims)
    back = [0] * n
    for i, d in enumerate(dims):
        back[d % n] = i
    return _permute(grad, tuple(back))


@view_op("permute", method=False, function=False, self=_permute_back)
def _permute(self: Any, dims: tuple[int, ...]) -> Array:
    array: Array = self
    if len(dims) != array.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of "
            "the desired "
            f"ordering of dimensions i.e. input.dim() = {array.ndim} is not equal to len(dims) = {len(dims)}"
        )
    wrapped = [wrap_dim(d, array.ndim) for d in dims]
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return array.transpose(wrapped).view(ReorderedArray)


@composite("permute")
def permute(self: Tensor, *order: Any, dims: Any = None) -> Tensor:
    return _permute(self, some_ints(order, "dims", dims))


@composite("movedim")
def movedim(self: Tensor, source: Any, destination: Any) -> Tensor:
    n = self._array.ndim
    src = [wrap_dim(d, n) for d in ([source] if isinstance(source, int) else source)]
    dst = [wrap_dim(d, n) for d in ([destination] if isinstance(destination, int) else destination)]
    if len(src) != len(dst):
        raise RuntimeError(
            "movedim: Invalid source or destination dims: source "
            f"({sizes(src)} dims) should contain the same number of dims as destination ({sizes(dst)} dims)"
        )
    for name, dims in (("source", src), ("destination", dst)):
        if len(set(dims)) != len(dims):
            given = source if name == "source" else destination
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({sizes(given)})")
    if n == 0:
        return FUNCTIONS["alias"](self)
    order = [d for d in range(n) if d not in src]
    for place, d in sorted(zip(dst, src, strict=True)):
        order.insert(place, d)
    return _permute(self, tuple(order))


FUNCTIONS["moveaxis"] = movedim
attach("moveaxis", movedim)
FUNCTIONS["swapdims"] = FUNCTIONS["transpose"]
setattr(Tensor, "swapdims", vars(Tensor)["transpose"])  # noqa: B010  Tensor's methods are unknown to the type checker


@composite("swapaxes")
def swapaxes(self: Tensor, axis0: int, axis1: int) -> Tensor:
    return transpose(self, axis0, axis1)


def _numpy_t(self: Tensor) -> Tensor:
    return _permute(self, tuple(range(self._array.ndim - 1, -1, -1)))


def _matrix_t(self: Tensor, name: str) -> Tensor:
    if self._array.ndim == 1:
        raise RuntimeError(f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return transpose(self, -2, -1) if self._array.ndim else self


def _h(self: Tensor) -> Tensor:
    ndim = self._array.ndim
    if ndim not in (0, 2):
        batched = " For batches of matrices, consider using tensor.mH" if ndim > 2 else ""
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor.{batched}")
    return _matrix_t(self, "H").conj()


attach("T", property(_numpy_t))
attach("mT", property(lambda self: _matrix_t(self, "mT")))
attach("mH", property(lambda self: _matrix_t(self, "mH").conj()))
attach("H", property(_h))


@composite("adjoint")
def adjoint(self: Tensor) -> Tensor:
    return _matrix_t(self, "adjoint()").conj()
