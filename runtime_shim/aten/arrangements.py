"""Dimensions and elements in another order: transposes, rotations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.device import check_device
from ..core.dtypes import Array, sizes, wrap_dim
from ..core.function_table import FUNCTIONS
from ..core.reordered_array import ReorderedArray, marked
from ..core.tensor import Tensor, attach, new_tensor
from ..dispatch.op_description import ANY_DTYPE, OPS, RESIZED
from ..dispatch.registration import composite, op
from ..dispatch.view_layers import view_op
from .joining import check_tensors
from .ranges import filled
from .views import some_ints


def _rot90_below(self: Tensor, k: int, dims: Any) -> Tensor:
    first, second = _rotated(self._array, dims)
    if k % 4 == 0:
        return self.clone(memory_format="contiguous")
    if k % 4 == 2:
        return self.flip((first, second))
    return self.flip((second if k % 4 == 1 else first,)).transpose_(first, second)


@op(
    "rot90",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="Rot90Backward0",
    below=_rot90_below,
    self=lambda grad, k, dims: grad.rot90(-k, dims),
)
def rot90(self: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    """Rotated by `k` quarter turns, from the first of the two dimensions to the second."""
    flip, turns = OPS["flip"].kernel, k % 4
    first, second = _rotated(self, dims)
    if turns == 0:
        return self.copy(order="C")
    if turns == 2:
        return flip(self, (first, second))
    return marked(flip(self, (second if turns == 1 else first,)).swapaxes(first, second))


def _rotated(array: Any, dims: Any) -> tuple[int, int]:
    """The two dimensions; RuntimeError as PyTorch checks them."""
    found = tuple(dims)
    if len(found) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(found)}")
    if array.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {array.ndim}")
    first, second = (wrap_dim(d, array.ndim) for d in found)
    if first == second:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {found[0]} and dim1 = {found[1]}")
    return first, second


@composite("fliplr")
def fliplr(self: Tensor) -> Tensor:
    if self.dim() < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return self.flip(1)


@composite("flipud")
def flipud(self: Tensor) -> Tensor:
    if self.dim() < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return self.flip(0)


@composite("column_stack", method=False)
def column_stack(tensors: Any) -> Tensor:
    """Side by side, vectors as columns."""
    check_tensors("column_stack", tensors)
    return FUNCTIONS["hstack"]([t.reshape(t.numel(), 1) if t.dim() <= 1 else t for t in tensors])


@composite("dstack", method=False)
def dstack(tensors: Any) -> Tensor:
    """One behind the other, along the third dimension."""
    check_tensors("dstack", tensors)
    return FUNCTIONS["cat"]([FUNCTIONS["atleast_3d"](t) for t in tensors], 2)


@composite("row_stack", method=False)
def row_stack(tensors: Any) -> Tensor:
    return FUNCTIONS["vstack"](tensors)


@composite("msort", out=RESIZED)
def msort(self: Tensor) -> Tensor:
    return self.sort(0)[0]


@composite("argwhere")
def argwhere(self: Tensor) -> Tensor:
    return self.nonzero()


@composite("is_nonzero")
def is_nonzero(self: Tensor) -> bool:
    """Whether the one element is not 0."""
    if self.numel() != 1:
        raise RuntimeError(
            "Boolean value of Tensor with "
            + ("no values is ambiguous" if not self.numel() else "more than one value is ambiguous")
        )
    return bool(self)


@composite("is_same_size")
def is_same_size(self: Tensor, other: Tensor) -> bool:
    return self.shape == other.shape


@composite("range", method=False)
def range_(start: float, end: float | None = None, step: float = 1, **options: Any) -> Tensor:
    """Numbers from `start` to `end`, which is among them; deprecated, with a warning."""
    import warnings

    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).",
        UserWarning,
        stacklevel=3,
    )
    if end is None:
        start, end = 0, start
    if step == 0:
        raise RuntimeError("step must be nonzero")
    count = math.floor((end - start) / step) + 1
    out = options.pop("out", None)
    options.setdefault("dtype", dtypes.get_default_dtype() if out is None else out.dtype)
    found = FUNCTIONS["arange"](count, **options) * step + start
    return found if out is None else filled(out, found._array)


# -- windows of signals
# -------------------------------------------------------------------------------------------------


def _window(name: str, shape: Any) -> None:
    @composite(name, method=False)
    def window(window_length: int, periodic: bool = True, *args: Any, dtype: Any = None, **options: Any) -> Tensor:
        """The window as a vector; periodic ones are one longer, without the last."""
        check_device(options.get("device"))
        target = dtype or dtypes.get_default_dtype()
        if window_length <= 1:
            return FUNCTIONS["ones"](max(window_length, 0), dtype=target, **options)
        n = np.arange(window_length, dtype=np.float64)
        found = shape(n / (window_length if periodic else window_length - 1), *args)
        made = new_tensor(np.asarray(found, target.numpy))
        return made.requires_grad_() if options.get("requires_grad") else made


_window("hann_window", lambda x: 0.5 - 0.5 * np.cos(2 * np.pi * x))
_window("hamming_window", lambda x, alpha=0.54, beta=0.46: alpha - beta * np.cos(2 * np.pi * x))
_window("blackman_window", lambda x: 0.42 - 0.5 * np.cos(2 * np.pi * x) + 0.08 * np.cos(4 * np.pi * x))
_window("bartlett_window", lambda x: 1 - np.abs(2 * x - 1))


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
