"""The greatest and least: max, min, amax, amin, argmax, argmin. Derivatives as in derivatives.yaml."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import Array, wrap_dim
from ..core.function_table import FUNCTIONS, return_type
from ..core.tensor import Tensor
from ..dispatch.op_description import EXPECTED_OUT, Computes, DtypeRefusal, OutRule, same_dtype
from ..dispatch.registration import composite, inner_op, op
from .reductions import contiguous, dims_of, restore

_maximum: Any = np.maximum
_minimum: Any = np.minimum

EXTREME_OUT = OutRule(
    same_dtype(
        "Expected the dtype for input and out to match, but got {want.scalar_name} for input's dtype and "
        "{got.scalar_name} for out's dtype."
    ),
    resized_first=True,
)


def _evenly(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """The gradient shared evenly among the elements equal to the extreme."""
    mask = self.isnan() if bool(result.isnan()) else self == result
    return FUNCTIONS["zeros"](self._array.shape, dtype=self.dtype).masked_fill_(mask, grad / mask.sum())


def _check_nonempty(self: Any, name: str) -> None:
    if self.size == 0:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with "
            "the 'dim' argument."
        )


def _check_dims(self: Any, dim: Any, name: str) -> None:
    """Extremes of nothing: all dimensions that are reduced must have elements."""
    if self.size == 0 and self.ndim:
        if dim is None or (isinstance(dim, tuple | list) and not dim):
            _check_nonempty(self, name)
        for d in range(self.ndim) if dim is None else dim if isinstance(dim, tuple | list) else (dim,):
            wrapped = wrap_dim(d, self.ndim)
            if self.shape[wrapped] == 0:
                shown = d if name in ("amin", "amax") else wrapped
                raise IndexError(f"{name}(): Expected reduction dim {shown} to have non-zero size.")


def _at_index(grads: list[Any], self_shape: tuple[int, ...], dim: int, keepdim: bool, result: list[Tensor]) -> Tensor:
    return value_selecting_backward(grads[0], result[1], self_shape, dim, keepdim)


def value_selecting_backward(grad: Tensor, indices: Tensor, shape: tuple[int, ...], dim: int, keepdim: bool) -> Tensor:
    if not shape:
        return grad
    if not keepdim:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    # zero_() counts as a write, as filling does in PyTorch here
    return FUNCTIONS["zeros"](shape, dtype=grad.dtype).zero_().scatter_(dim, indices, grad)


def pair(name: str) -> Any:
    """Makes of (values, indices) what the op returns."""
    return return_type(name, "values indices")._make


def _extreme(self: Any, dim: int, keepdim: bool, name: str, arg: Any) -> tuple[Array, Array]:
    if self.ndim == 0:
        wrap_dim(dim, 0)
        return self.copy(), np.zeros((), np.int64)
    d = wrap_dim(dim, self.ndim)
    if self.shape[d] == 0:
        raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")
    indices = np.expand_dims(arg(self, axis=d), d)
    values = np.take_along_axis(self, indices, d)
    if not keepdim:
        indices, values = indices.squeeze(d), values.squeeze(d)
    return values, indices.astype(np.int64)


def _register_extremes(name: str, ufunc: Any, arg: Any) -> None:
    """max or min: of all elements, along a dimension with the indices they come from, and of two tensors."""

    def of_all(self: Array) -> Array:
        _check_nonempty(self, name)
        return ufunc.reduce(self, axis=None)

    all_name, node = f"{name}_all", name.capitalize()
    whole = inner_op(all_name, computes=Computes("bif", all_name), node=f"{node}Backward1", leak=1, self=_evenly)(
        of_all
    )

    def kernel(self: object, dim: int, keepdim: bool = False) -> Any:
        return _extreme(self, dim, keepdim, name, arg)

    refusal = DtypeRefusal("c", RuntimeError, f"{name}(): does not support complex input", shapes_first=True)
    along = inner_op(
        f"{name}_dim",
        computes=Computes("bif", refusals=(refusal,)),
        node=f"{node}Backward0",
        leak=lambda self, dim, keepdim=False, *rest: 1 if not self._array.ndim else 0 if keepdim else 2,
        outputs=pair(name),
        nondifferentiable=(1,),
        self=_at_index,
    )(kernel)

    def call(self: Tensor, *args: Any, dim: object = None, keepdim: bool = False, other: object = None) -> Any:
        if args and isinstance(args[0], Tensor):
            other, args = args[0], args[1:]
        if other is not None:
            return FUNCTIONS[f"{name}imum"](self, other)
        if args:
            dim, keepdim = args[0], (args[1] if len(args) > 1 else keepdim)
        return whole(self) if dim is None else along(self, dim, keepdim)

    composite(name, out=OutRule(EXPECTED_OUT))(call)


_register_extremes("max", _maximum, np.argmax)
_register_extremes("min", _minimum, np.argmin)


def _scaled_evenly(grad: Tensor, self: Tensor, result: Tensor, dim: object, keepdim: bool) -> Tensor:
    shape = self._array.shape
    grad, result = restore(grad, shape, dim, keepdim), restore(result, shape, dim, keepdim)
    mask = self == result
    count = mask.sum(dims_of(dim, len(shape)), keepdim=True) if shape else 1
    return mask * (grad / count)


@op("amax", computes=Computes("bif", "max_values_cpu"), out=EXTREME_OUT, leak=1, self=_scaled_evenly)
def amax(self: Array, dim: Any = (), keepdim: bool = False) -> Array:
    _check_dims(self, dim, "amax")
    return contiguous(_maximum.reduce(self, axis=dims_of(dim, self.ndim), keepdims=keepdim))


def _leak_of_amin(self: Tensor, dim: object = (), keepdim: bool = False) -> int:
    return int(self._array.dtype != np.int64)  # for which PyTorch has its own loop


@op("amin", computes=Computes("bif", "min_values_cpu"), out=EXTREME_OUT, leak=_leak_of_amin, self=_scaled_evenly)
def amin(self: Array, dim: Any = (), keepdim: bool = False) -> Array:
    _check_dims(self, dim, "amin")
    return contiguous(_minimum.reduce(self, axis=dims_of(dim, self.ndim), keepdims=keepdim))


def _arg(self: Any, dim: Any, keepdim: bool, function: Any) -> Array:
    if dim is None:
        if self.size == 0:
            raise IndexError(f"{function.__name__}(): Expected reduction dim to be specified for input.numel() == 0.")
        found = np.asarray(function(self))
        return found.reshape((1,) * self.ndim) if keepdim else found
    if self.ndim == 0:
        wrap_dim(dim, 0)
        return np.zeros((), np.int64)
    _check_dims(self, dim, function.__name__)
    return function(self, axis=wrap_dim(dim, self.ndim), keepdims=keepdim)


def over_one(self: Tensor, dim: object = None, keepdim: bool = False) -> int:
    """1 where the reduced dimensions have one element each: PyTorch then copies or fills."""
    shape = self._array.shape
    return 1 if dim is not None and shape and all(shape[d] == 1 for d in dims_of(dim, len(shape))) else 0


def _register_arg(name: str, function: Any) -> None:
    refusals = (
        DtypeRefusal("b", RuntimeError, f"{name}(): does not support bool input"),
        DtypeRefusal("c", RuntimeError, f"{name}(): does not support complex input"),
    )

    @op(
        name,
        computes=Computes("if", refusals=refusals),
        out=OutRule(EXPECTED_OUT, resized_first=True),
        leak=lambda self, dim=None, keepdim=False: over_one(self, dim),
    )
    def kernel(self: Array, dim: int | None = None, keepdim: bool = False) -> Array:
        return _arg(self, dim, keepdim, function)


_register_arg("argmax", np.argmax)
_register_arg("argmin", np.argmin)
