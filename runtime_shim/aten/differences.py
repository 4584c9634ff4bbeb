"""Differences of neighbors, slopes, and integrals by the trapezoidal rule: made of the ops that PyTorch makes them of.

Sources: diff and gradient in ATen/native/ReduceOps.cpp, ATen/native/Integration.cpp.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ..core import dtypes
from ..core.argument_errors import invalid_combination, require_tensors
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.op_description import ELEMENTWISE
from ..dispatch.registration import composite, publish
from .elementwise import div_scalar, mul_scalar


def _part(t: Tensor, dim: int, start: int, stop: int | None = None) -> Tensor:
    """The slice of a dimension, counted as Python does."""
    first, last, _ = slice(start, stop).indices(t.size(dim))
    found: Tensor = t.narrow(dim, first, max(last - first, 0))
    return found


def _total(parts: Sequence[Tensor]) -> Tensor:
    return functools.reduce(lambda one, other: one + other, parts)


# -- differences
# -------------------------------------------------------------------------------------------------


@composite("diff", out=ELEMENTWISE)
def diff(
    self: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """The differences of neighbors, `n` times."""
    if self.dim() == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    parts = [part for part in (prepend, self, append) if part is not None]
    if any(part.dim() != self.dim() for part in parts):
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for part in parts:
        for d in range(self.dim()):
            if part.size(d) != self.size(d) and d != dim % self.dim():
                raise RuntimeError(
                    "diff expects the shape of tensor to prepend or append to match that of input except along the "
                    f"differencing dimension; input.size({d}) = {self.size(d)}, but got tensor.size({d}) = "
                    f"{part.size(d)}"
                )
    if not n:
        copied: Tensor = FUNCTIONS["zeros_like"](self).copy_(self)
        return copied
    found = FUNCTIONS["cat"](parts, dim) if len(parts) > 1 else self
    for _ in range(min(n, found.size(dim))):
        count = found.size(dim)
        later, sooner = found.narrow(dim, 1, count - 1), found.narrow(dim, 0, count - 1)
        found = later.logical_xor(sooner) if found.dtype is dtypes.bool_ else later - sooner
    return found


# -- slopes
# -------------------------------------------------------------------------------------------------


@composite("gradient", method=False)
def gradient(input: Tensor, *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """The slopes along dimensions: central differences, at the edges one-sided ones of order `edge_order`.

    `spacing` is a number for all dimensions, one for each, or the coordinates along each.
    """
    given = dim is not None
    dims = [dim] if isinstance(dim, int) else list(range(input.dim())) if dim is None else list(dim)
    listed = isinstance(spacing, (list, tuple))
    if isinstance(spacing, Tensor):
        raise invalid_combination("gradient", (input, spacing))
    if input.dtype is dtypes.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if listed and len(spacing) != len(dims):
        wanted = (
            "expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the same length, "
            f"but got a spacing argument of length {len(spacing)} and a dim argument of length {len(dims)}."
            if given
            else "expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = "
            f"{input.dim()}', since dim argument was not given, but got a list of length {len(spacing)}"
        )
        raise RuntimeError(f"torch.gradient {wanted}")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    wrapped = [dtypes.wrap_dim(d, input.dim()) for d in dims]
    for d in wrapped:
        if wrapped.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        if input.size(d) < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    steps = list(spacing) if listed else [1.0 if spacing is None else spacing] * len(dims)
    by_coordinates = any(isinstance(step, Tensor) for step in steps)
    for i, step in enumerate(steps):
        if by_coordinates and not isinstance(step, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 1, but got {type(step).__name__}")
    slope: Any = _slope_by_coordinates if by_coordinates else _slope
    return tuple(slope(input, d, step, edge_order) for d, step in zip(wrapped, steps, strict=True))


def _slope(x: Tensor, d: int, step: Any, order: int) -> Tensor:
    """Of points at one distance from each other."""
    center = div_scalar(_part(x, d, 2) - _part(x, d, 0, -2), step)
    if order == 1:
        first = div_scalar(_part(x, d, 1, 2) - _part(x, d, 0, 1), step)
        last = div_scalar(_part(x, d, -1) - _part(x, d, -2, -1), step)
    else:
        first = mul_scalar(_part(x, d, 0, 1), -1.5) + mul_scalar(_part(x, d, 1, 2), 2)
        first = div_scalar(first - mul_scalar(_part(x, d, 2, 3), 0.5), step)
        last = mul_scalar(_part(x, d, -3, -2), 0.5) - mul_scalar(_part(x, d, -2, -1), 2)
        last = div_scalar(last + mul_scalar(_part(x, d, -1), 1.5), step)
    found: Tensor = FUNCTIONS["cat"]([first, div_scalar(center, 2), last], d)
    return found


def _slope_by_coordinates(x: Tensor, d: int, coordinates: Tensor, order: int) -> Tensor:
    if coordinates.dim() != 1:
        raise RuntimeError(
            "torch.gradient expected each element of spacing to have one dimension, but got an element with "
            f"{coordinates.dim()} dimensions!"
        )
    shape = [-1 if k == d else 1 for k in range(x.dim())]
    widths = diff(coordinates, 1, 0)
    left, right = _part(widths, 0, 0, -1), _part(widths, 0, 1)
    center = _total(
        [
            (-right / (left * (left + right))).reshape(shape) * _part(x, d, 0, -2),
            ((right - left) / (left * right)).reshape(shape) * _part(x, d, 1, -1),
            (left / (right * (left + right))).reshape(shape) * _part(x, d, 2),
        ]
    )
    if order == 1:
        first = (_part(x, d, 1, 2) - _part(x, d, 0, 1)) / widths[0]
        last = (_part(x, d, -1) - _part(x, d, -2, -1)) / widths[-1]
    else:
        a, b = widths[0], widths[1]
        weights = (-(mul_scalar(a, 2.0) + b) / (a * (a + b)), (a + b) / (a * b), -a / (b * (a + b)))
        first = _total([w * _part(x, d, i, i + 1) for i, w in enumerate(weights)])
        a, b = widths[-2], widths[-1]
        weights = (b / (a * (b + a)), -(b + a) / (b * a), (mul_scalar(b, 2) + a) / (b * (b + a)))
        last = _total([w * _part(x, d, i, i + 1 or None) for i, w in enumerate(weights, -3)])
    found: Tensor = FUNCTIONS["cat"]([first, center, last], d)
    return found


# -- integrals
# -------------------------------------------------------------------------------------------------


@composite("trapezoid", method=False)
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = 1, dim: int = -1) -> Tensor:
    """The integral along a dimension by the trapezoidal rule."""
    require_tensors("trapezoid", y=y)
    _check_steps("trapezoid", y, x, dx)
    count = y.size(dim)
    dim = dtypes.wrap_dim(dim, y.dim())
    found: Tensor
    if not count:
        found = FUNCTIONS["zeros"]([n for d, n in enumerate(y.shape) if d != dim], dtype=y.dtype)
        return found
    _check_samples("trapezoid", y, x, dx, dim)
    if x is not None:
        widths = _widths(x, y, dim)
        found = div_scalar(((_part(y, dim, 0, -1) + _part(y, dim, 1)) * widths).sum(dim), 2.0)
        return found
    ends = y.select(dim, 0) + y.select(dim, -1)
    found = mul_scalar(y.sum(dim) - mul_scalar(ends, 0.5), float(dx))
    return found


publish("trapz", trapezoid, method=False)


@composite("cumulative_trapezoid", method=False)
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = 1, dim: int = -1) -> Tensor:
    """The integrals along a dimension up to each place, by the trapezoidal rule."""
    require_tensors("cumulative_trapezoid", y=y)
    _check_steps("cumulative_trapezoid", y, x, dx)
    dim = dtypes.wrap_dim(dim, y.dim())
    _check_samples("cumulative_trapezoid", y, x, dx, dim)
    widths = None if x is None else _widths(x, y, dim)
    both = _part(y, dim, 0, -1) + _part(y, dim, 1)
    found: Tensor
    if widths is None:
        found = mul_scalar(both, float(dx) / 2.0).cumsum(dim)
    else:
        found = div_scalar((both * widths).cumsum(dim), 2.0)
    return found


def _check_steps(name: str, y: Tensor, x: Any, dx: Any) -> None:
    if x is not None and not isinstance(x, Tensor):
        raise invalid_combination(name, (y, x))
    if not isinstance(dx, bool | int | float | complex):
        raise invalid_combination(name, (y, dx))


def _check_samples(name: str, y: Tensor, x: Tensor | None, dx: Any, dim: int) -> None:
    if x is not None:
        if dtypes.bool_ in (y.dtype, x.dtype):
            raise RuntimeError(f"{name}: received a bool input for `x` or `y`, but bool is not supported")
        if x.dim() == 1 and x.size(0) != y.size(dim):
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        return
    if y.dtype is dtypes.bool_:
        raise RuntimeError(f"{name}: received a bool input for `y`, but bool is not supported")
    if isinstance(dx, bool | complex):
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")


def _widths(x: Tensor, y: Tensor, dim: int) -> Tensor:
    """The distances of neighbors in `x`, which stands along `dim` of `y` or at its last dimensions."""
    if x.dim() == 1:
        x = x.view([x.size(0) if d == dim else 1 for d in range(y.dim())])
    elif x.dim() < y.dim():
        x = x.view([*[1] * (y.dim() - x.dim()), *x.shape])
    left, right = _part(x, dim, 0, -1), _part(x, dim, 1)
    return right - left
