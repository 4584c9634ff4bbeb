"""Padding and resampling. Resampling is a product with one matrix per dimension, and so is its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtypes import Array, Ints, sizes
from ..core.function_table import FUNCTIONS
from ..core.memory_layout import in_format_of
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED
from ..dispatch.registration import composite, op


def _pairs(pad: Sequence[int]) -> list[tuple[int, int]]:
    """(before, after) of the last dimensions, in the order of the dimensions."""
    return [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]


@op(
    "constant_pad_nd",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="ConstantPadNdBackward0",
    method=False,
    leak=2,
    self=lambda grad, pad: FUNCTIONS["constant_pad_nd"](grad, [-p for p in pad], 0),
)
def constant_pad_nd(self: Any, pad: Sequence[int], value: Any = 0) -> Array:
    """`self` with `pad` = (last before, last after, second to last before, ...); negative sizes crop."""
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    pairs = _pairs(pad)
    lead = self.ndim - len(pairs)
    if lead < 0:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding "
            f"length {len(pad)} and input of dimension {self.ndim}"
        )
    shape = [n + a + b for n, (a, b) in zip(self.shape[lead:], pairs, strict=True)]
    if any(wanted < 0 for wanted in shape):
        raise RuntimeError("narrow(): length must be non-negative.")
    found = np.full((*self.shape[:lead], *shape), value, self.dtype)
    source: list[slice] = []
    target: list[slice] = []
    for n, (a, b) in zip(self.shape[lead:], pairs, strict=True):
        source.append(slice(max(0, -a), n - max(0, -b)))
        target.append(slice(max(0, a), max(0, a) + n - max(0, -a) - max(0, -b)))
    into: Any = (..., *target)
    taken = (..., *source)
    found[into] = self[taken]
    return in_format_of(found, self)


# -- by copying the border
# --------------------------------------------------------------------------------------


def _sources(size: int, before: int, after: int, mode: str) -> Array:
    """For each position along a padded dimension, the position that it copies."""
    at = np.arange(-before, size + after)
    if mode == "replicate":
        return np.clip(at, 0, size - 1)
    if mode == "circular":
        return at % size
    at = np.abs(at)
    return np.where(at > size - 1, 2 * (size - 1) - at, at)


def _border_kernel(array: Array, padding: Sequence[int], mode: str) -> Array:
    pairs = _pairs(padding)
    lead = array.ndim - len(pairs)
    found = array
    for d, (before, after) in enumerate(pairs, lead):
        found = np.take(found, _sources(array.shape[d], before, after, mode), axis=d)
    return found


def _fold_border(grad: Array, shape: Ints, padding: Sequence[int], mode: str) -> Array:
    pairs = _pairs(padding)
    lead = len(shape) - len(pairs)
    for d, (before, after) in enumerate(pairs, lead):
        folded = np.zeros((*grad.shape[:d], shape[d], *grad.shape[d + 1 :]), grad.dtype)
        where: Any = (*(slice(None),) * d, _sources(shape[d], before, after, mode))
        np.add.at(folded, where, grad)
        grad = folded
    return grad


def _register_border(name: str, mode: str, node: str, leak: int) -> Any:
    def kernel(self: Any, padding: Ints) -> Array:
        return _border_kernel(self, padding, mode)

    def backward_kernel(grad_output: Any, self: Any, padding: Ints) -> Array:
        return _fold_border(grad_output, self.shape, padding, mode)

    def again(grad: Tensor, padding: Ints) -> Tensor:
        return forward(grad, padding)

    backward = op(
        f"{name}_backward",
        computes=ANY_DTYPE,
        out=RESIZED,
        method=False,
        function=False,
        node=node.replace("Backward0", "BackwardBackward0"),
        grad_output=again,
        self=lambda grad: FUNCTIONS["zeros_like"](grad),
    )(backward_kernel)
    forward: Any = op(
        name,
        computes=ANY_DTYPE,
        out=RESIZED,
        node=node,
        method=False,
        function=False,
        leak=leak,
        self=lambda grad, self, padding: backward(grad, self, padding),
    )(kernel)
    return forward


_BORDER = {
    ("reflect", d): _register_border(f"reflection_pad{d}d", "reflect", f"ReflectionPad{d}DBackward0", 1)
    for d in (1, 2, 3)
} | {
    ("replicate", d): _register_border(f"replication_pad{d}d", "replicate", f"ReplicationPad{d}DBackward0", 0)
    for d in (1, 2, 3)
}


def _circular(input: Tensor, pad: Sequence[int]) -> Tensor:
    """Made of slices and copies, as in PyTorch."""
    pairs = _pairs(pad)
    x = input._array
    lead = x.ndim - len(pairs)
    shape = [n + a + b for n, (a, b) in zip(x.shape[lead:], pairs, strict=True)]
    for n, (a, b) in zip(x.shape[lead:], pairs, strict=True):
        if a > n or b > n:
            raise RuntimeError("Padding value causes wrapping around more than once.")
    made: Tensor = FUNCTIONS["zeros"](*x.shape[:lead], *shape, dtype=input.dtype)
    window, source = made, input
    for d, (n, (a, b)) in enumerate(zip(x.shape[lead:], pairs, strict=True), lead):
        window = window.narrow(d, max(0, a), n + min(0, a) + min(0, b))
        source = source.narrow(d, max(0, -a), n + min(0, a) + min(0, b))
    window.copy_(source)
    for d, (n, (a, b)) in reversed(list(enumerate(zip(x.shape[lead:], pairs, strict=True), lead))):
        if a > 0:
            made.narrow(d, 0, a).copy_(made.narrow(d, n, a))
        if b > 0:
            made.narrow(d, a + n, b).copy_(made.narrow(d, a, b))
    return made


@composite("pad", method=False, function=False)
def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Tensor:
    """Widen the last dimensions: with a value, or by reflection, replication or wrapping around."""
    amounts = tuple(int(p) for p in pad)
    x = input._array
    if mode == "constant":
        return constant_pad_nd(input, amounts, 0 if value is None else value)
    if value:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    dims = len(amounts) // 2
    if len(amounts) % 2 or dims not in (1, 2, 3) or x.ndim not in (dims + 1, dims + 2):
        raise NotImplementedError(
            f"Padding size {len(amounts)} is not supported for {x.ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if mode == "circular":
        return _circular(input, amounts)
    if (mode, dims) not in _BORDER:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if 0 in x.shape[1 if x.ndim == dims + 2 else 0 :]:
        raise RuntimeError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {sizes(x.shape)}"
        )
    if mode == "reflect":
        for (a, b), d in zip(_pairs(amounts)[::-1], range(x.ndim - 1, -1, -1), strict=False):
            if a >= x.shape[d] or b >= x.shape[d]:
                raise RuntimeError(
                    "Argument #4: Padding size should be less than the corresponding input "
                    "dimension, but got: "
                    f"padding ({a}, {b}) at dimension {d} of input {sizes(x.shape)}"
                )
    return _BORDER[mode, dims](input, amounts)
