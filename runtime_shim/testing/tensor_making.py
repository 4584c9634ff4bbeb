"""`make_tensor`: random tensors for tests."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..aten.random_numbers import engine_of, random_integers, uniform_numbers
from ..core import dtypes
from ..core.device import check_device
from ..core.tensor import Tensor, meta_of, new_tensor


def make_tensor(
    *shape: Any,
    dtype: dtypes.dtype,
    device: Any = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of that shape with uniformly drawn elements in `[low, high)`.

    Without bounds, floating elements lie in [-9, 9), signed integers in [-9, 10), unsigned ones in [0, 10).
    `noncontiguous` takes every second element of a larger tensor; `exclude_zero` replaces zeros by the smallest element
    that isn't. ValueError if the bounds exclude each other, RuntimeError if an integer tensor should require grad.
    """
    check_device(device)
    if len(shape) == 1 and isinstance(shape[0], list | tuple):
        shape = tuple(shape[0])
    if noncontiguous and memory_format is not None:
        raise ValueError(
            f"The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got {noncontiguous=} and "
            f"{memory_format=}"
        )
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}"
        )  # fmt: skip
    doubled = noncontiguous and math.prod(shape) > 1
    drawn = (*shape[:-1], 2 * shape[-1]) if doubled else tuple(shape)
    array = _drawn(drawn, dtype, low, high)
    if exclude_zero:
        array[array == 0] = 1 if not dtype.is_floating_point and not dtype.is_complex else _tiny(dtype)
    made = new_tensor(array)
    if doubled:
        made = made[..., 1::2]
    if requires_grad:
        made = made.detach()
        meta_of(made).requires_grad = True
    return made


def _tiny(dtype: dtypes.dtype) -> Any:
    real = np.float32 if dtype.name in ("complex64", "bfloat16") else np.float64 if dtype.is_complex else dtype.numpy
    return np.finfo(real).tiny


def _drawn(shape: tuple[int, ...], dtype: dtypes.dtype, low: float | None, high: float | None) -> Any:
    target = dtype.numpy
    for name, bound in (("low", low), ("high", high)):
        if bound is not None and math.isnan(bound):
            raise ValueError(f"`{name}` cannot be NaN, but got {low=} and {high=}")
    if dtype.name == "bool":
        lowest, highest = (0 if low is None else low), (2 if high is None else high)
    elif dtype.is_floating_point or dtype.is_complex:
        lowest, highest = (-9.0 if low is None else low), (9.0 if high is None else high)
    else:
        lowest = (-9 if dtype.is_signed else 0) if low is None else low
        highest = 10 if high is None else high
    if low is not None and high is not None and low > high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    engine, count = engine_of(), math.prod(shape)
    if dtype.is_floating_point or dtype.is_complex:
        greatest = float(dtypes.floating_limits(target).max)
        lowest, highest = (max(min(bound, greatest), -greatest) for bound in (lowest, highest))
        scale = 2 if highest - lowest > greatest else 1  # the range must be a number of the dtype
        drawn = uniform_numbers(engine, count, target, lowest / scale, highest / scale)
        return np.asarray(drawn * target.type(scale)).reshape(shape)
    if dtype.name != "bool":
        limits = np.iinfo(target)
        lowest = max(math.ceil(lowest), int(limits.min)) if lowest > -math.inf else int(limits.min)
        highest = min(math.ceil(highest), int(limits.max) + 1) if highest < math.inf else int(limits.max) + 1
    else:
        lowest, highest = max(math.ceil(max(lowest, 0)), 0), min(math.ceil(min(highest, 2)), 2)
    if lowest >= highest:
        return np.full(shape, lowest).astype(target)
    return random_integers(engine, int(lowest), int(highest), count, target).reshape(shape)
