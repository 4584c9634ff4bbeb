"""`assert_close`. Tolerances and messages as torch.testing documents them."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..aten.random_numbers import engine_of, random_integers, uniform_numbers
from ..core import dtypes
from ..core.device import check_device
from ..core.tensor import Tensor, meta_of, new_tensor

#: Relative and absolute tolerance by the name of the dtype; other dtypes must be equal.
TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}

Message = str | Callable[[str], str] | None


def assert_close(
    actual: object,
    expected: object,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Message = None,
) -> None:
    """Raise AssertionError unless tensors, numbers, or sequences and mappings of them, are close.

    Close means `|actual - expected| <= atol + rtol * |expected|`; the tolerances follow from the dtype unless both are
    given. ValueError if only one is given, TypeError for what can't be compared.
    """
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(f"rtol and atol must both be specified or both be unspecified, but got no {missing}.")
    comparison = _Comparison(rtol, atol, equal_nan, check_dtype, check_stride, allow_subclasses)
    try:
        comparison.compare(actual, expected, "")
    except AssertionError as error:
        text = str(error)
        if msg is not None:
            text = msg(text) if callable(msg) else msg
        raise AssertionError(text) from None


def assert_allclose(
    actual: object,
    expected: object,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The deprecated form of `assert_close`, which converts what it is given and checks no dtype."""
    actual, expected = (t if isinstance(t, Tensor) else new_tensor(np.asarray(t)) for t in (actual, expected))
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None
    )  # fmt: skip


class _Comparison:
    def __init__(
        self, rtol: float | None, atol: float | None, equal_nan: bool, dtype: bool, stride: bool, subclasses: bool
    ) -> None:
        self.given = rtol, atol
        self.equal_nan = equal_nan
        self.check_dtype = dtype
        self.check_stride = stride
        self.allow_subclasses = subclasses

    def compare(self, actual: object, expected: object, place: str) -> None:
        if (
            isinstance(actual, Sequence)
            and isinstance(expected, Sequence)
            and not isinstance(actual, str)
            and not isinstance(expected, str)
        ):
            if len(actual) != len(expected):
                raise AssertionError(
                    f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{_item(place)}"
                )
            for i, pair in enumerate(zip(actual, expected, strict=True)):
                self.compare(*pair, f"{place}[{i}]")
            return None
        if isinstance(actual, Mapping) and isinstance(expected, Mapping):
            if set(actual) != set(expected):
                more, fewer = sorted(set(actual) - set(expected), key=str), sorted(set(expected) - set(actual), key=str)
                raise AssertionError(
                    f"The keys of the mappings do not match:\nMissing keys in the actual mapping: {fewer}\n"
                    f"Additional keys in the actual mapping: {more}{_item(place)}"
                )
            for key in actual:
                self.compare(actual[key], expected[key], f"{place}[{key!r}]")
            return None
        if actual is None or expected is None:
            if actual is not expected:
                raise AssertionError(f"None mismatch: {actual} is not {expected}{_item(place)}")
            return None
        if isinstance(actual, Tensor) and isinstance(expected, Tensor):
            directly_related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
            if not (type(actual) is type(expected) or (self.allow_subclasses and directly_related)):
                raise _incomparable(actual, expected)
            return self._tensors(actual, expected, place)
        numbers = (bool, int, float, complex, np.generic)
        if isinstance(actual, numbers) and isinstance(expected, numbers):
            return self._numbers(actual, expected, place)
        if isinstance(actual, np.ndarray) and isinstance(expected, np.ndarray):
            return self._tensors(new_tensor(actual), new_tensor(expected), place)
        raise _incomparable(actual, expected)

    def _tolerances(self, *names: str) -> tuple[float, float]:
        rtol, atol = self.given
        if rtol is None or atol is None:
            found = [TOLERANCES.get(name, (0.0, 0.0)) for name in names]
            return max(pair[0] for pair in found), max(pair[1] for pair in found)
        return rtol, atol

    def _numbers(self, actual: Any, expected: Any, place: str) -> None:
        if self.check_dtype and type(actual) is not type(expected):
            raise AssertionError(
                f"The (d)types do not match: {type(actual)} != {type(expected)}{_item(place)}"
            )  # fmt: skip
        kinds = [
            complex if isinstance(v, complex) else float if isinstance(v, float) else int for v in (actual, expected)
        ]
        names = ["complex128" if k is complex else "float64" if k is float else "int64" for k in kinds]
        rtol, atol = self._tolerances(*names)
        if actual == expected or (self.equal_nan and cmath.isnan(actual) and cmath.isnan(expected)):
            return
        difference = abs(actual - expected)
        if math.isfinite(abs(expected)) and difference <= atol + rtol * abs(expected):
            return
        kind = "Booleans" if isinstance(actual, bool) and isinstance(expected, bool) else "Scalars"
        how = "equal" if not rtol and not atol else "close"
        if how == "equal":
            raise AssertionError(
                f"{kind} are not equal!\n\nExpected {expected} but got {actual}."
                f"{_difference(actual, expected)}{_item(place)}"
            )
        relative = difference / abs(expected) if expected else math.inf
        raise AssertionError(
            f"{kind} are not close!\n\nExpected {expected} but got {actual}.\nAbsolute difference: {difference} (up to "
            f"{atol} allowed)\nRelative difference: {relative} (up to {rtol} allowed){_item(place)}"
        )

    def _tensors(self, actual: Tensor, expected: Tensor, place: str) -> None:
        if actual.shape != expected.shape:
            raise AssertionError(
                f"The values for attribute 'shape' do not match: {actual.shape} != {expected.shape}.{_item(place)}"
            )
        if self.check_dtype and actual.dtype != expected.dtype:
            raise AssertionError(
                f"The values for attribute 'dtype' do not match: {actual.dtype} != {expected.dtype}.{_item(place)}"
            )
        if self.check_stride and actual.stride() != expected.stride():
            raise AssertionError(
                f"The values for attribute 'stride()' do not match: {actual.stride()} != {expected.stride()}."
                f"{_item(place)}"
            )
        rtol, atol = self._tolerances(actual.dtype.name, expected.dtype.name)
        common = dtypes.promote(actual._array.dtype, expected._array.dtype)
        wide = common if common.kind in "biu" else np.complex128 if common.kind == "c" else np.float64
        a, b = actual._array.astype(wide), expected._array.astype(wide)
        with np.errstate(all="ignore"):
            same = a == b
            if self.equal_nan and common.kind not in "biu":
                same = same | (np.isnan(a) & np.isnan(b))
            if common.kind not in "biu" or rtol or atol:
                signed = a if common.kind not in "bu" else a.astype(np.int64)
                other = b if common.kind not in "bu" else b.astype(np.int64)
                difference = np.abs(signed - other)
                same = same | (np.isfinite(other) & (difference <= atol + rtol * np.abs(other)))
        if np.all(same):
            return
        mine, theirs = (t._array.astype(common) for t in (actual, expected))
        raise AssertionError(_tensor_message(mine, theirs, np.asarray(same), rtol, atol) + _item(place))


def _tensor_message(a: Any, b: Any, same: Any, rtol: float, atol: float) -> str:
    how = "close" if rtol or atol else "equal"
    kind = "Scalars" if not a.ndim else "Tensor-likes"
    if not a.ndim:
        difference = abs(a.item() - b.item())
        if how == "equal":
            return f"{kind} are not equal!\n\nExpected {b.item()} but got {a.item()}.{_difference(a.item(), b.item())}"
        relative = difference / abs(b.item()) if b.item() else math.inf
        return (
            f"{kind} are not close!\n\nExpected {b.item()} but got {a.item()}.\nAbsolute difference: {difference} (up "
            f"to {atol} allowed)\nRelative difference: {relative} (up to {rtol} allowed)"
        )
    bad = ~same
    total, count = int(a.size), int(bad.sum())
    if a.dtype.kind in "bu":
        a, b = a.astype(np.int64), b.astype(np.int64)
    with np.errstate(all="ignore"):
        absolute = np.where(same, 0, np.abs(a - b))
        relative_all = np.where(same, 0, absolute / np.abs(b))
    lines = [f"{kind} are not {how}!\n", f"Mismatched elements: {count} / {total} ({count / total:.1%})"]
    for name, values, allowed in (("absolute", absolute, atol), ("relative", relative_all, rtol)):
        where = np.unravel_index(int(np.argmax(values)), values.shape)
        index = tuple(int(i) for i in where) if len(where) > 1 else (int(where[0]),)
        up_to = f" (up to {allowed} allowed)" if how == "close" else ""
        lines.append(f"Greatest {name} difference: {values[where].item()} at index {index}{up_to}")
    return "\n".join(lines)


def _difference(actual: Any, expected: Any) -> str:
    if isinstance(actual, bool) and isinstance(expected, bool):
        return ""
    difference = abs(actual - expected)
    relative = difference / abs(expected) if expected else math.inf
    return f"\nAbsolute difference: {difference}\nRelative difference: {relative}"


def _item(place: str) -> str:
    return f"\n\nThe failure occurred for item {place}" if place else ""


def _incomparable(actual: object, expected: object) -> TypeError:
    return TypeError(
        f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
    )  # fmt: skip


def make_tensor(
    *shape: Any,
    dtype: dtypes.dtype,
    device: object = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: object = None,
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
