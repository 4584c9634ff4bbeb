"""Margin losses that are ops of their own, with their gradients. Reductions are numbered as in ATen."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array, sizes
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, OPS, RESIZED
from ..dispatch.registration import op
from .absent_gradients import no_autograd_kernel
from .loss_gradients import MEAN, NONE, spread_over
from .losses import check_cast, into, reduced, refuse_gradient

# -- soft margin
# -------------------------------------------------------------------------------------------------------------


@op("soft_margin_loss", computes=ANY_DTYPE, out=RESIZED, method=False, function=False, leak=lambda *_: 4,
    self=lambda grad, self, target, reduction: _soft_margin_backward(grad, self, target, reduction))  # fmt: skip
def _soft_margin(self: Any, target: Any, reduction: int) -> Array:
    """log(1 + exp(-target * self)), computed in place in the dtype and shape of `self`."""
    values = OPS["neg"].kernel(self)
    values = into(values, np.multiply, target)
    if self.dtype.kind in "iu":
        check_cast(dtypes.get_default_dtype().numpy, self.dtype)
    return reduced(np.log1p(np.exp(values)), reduction)


def _soft_margin_twice(grad: Tensor, grad_output: Tensor, self: Tensor, target: Tensor, reduction: int) -> Tensor:
    z = (self * -target).exp()
    above = z + 1
    return spread_over(grad * grad_output * (target * target) * z / (above * above), self.numel(), reduction)


def _soft_margin_output(grad: Tensor, grad_output: Tensor, self: Tensor, target: Tensor, reduction: int) -> Tensor:
    if reduction == NONE:
        return _soft_margin_backward(grad, self, target, reduction)
    slope = _soft_margin_backward(FUNCTIONS["ones_like"](grad_output), self, target, reduction)
    return (slope * grad).sum()


@op(
    "soft_margin_loss_backward",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    function=False,
    grad_output=_soft_margin_output,
    self=_soft_margin_twice,
)
def _soft_margin_backward(grad_output: Any, self: Any, target: Any, reduction: int) -> Array:
    z = np.exp(OPS["neg"].kernel(target) * self)
    norm = self.dtype.type(-1 / self.size if reduction == MEAN else -1)
    return np.asarray(norm * target * z / (1 + z) * grad_output, self.dtype)


def soft_margin(self: Tensor, target: Tensor, reduction: int) -> Tensor:
    refuse_gradient("soft_margin_loss", target=target)
    made: Tensor = _soft_margin(self, target, reduction)
    return made


# -- several classes
# -----------------------------------------------------------------------------------------------------------


def _rows(self: Array) -> Array:
    """Scores as (batch, classes); RuntimeError if there is nothing, or too many dimensions."""
    if self.ndim > 2 or (self.ndim and self.shape[-1] == 0):
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {sizes(self.shape)}"
        )
    classes = self.shape[-1] if self.ndim else 1
    count = self.shape[0] if self.ndim == 2 else 1
    return self.reshape(count, classes)


def _scalar_type(found: Array, wanted: Any) -> None:
    if found.dtype != wanted:
        names = [dtypes.BY_CHAR[np.dtype(d).char].scalar_name for d in (wanted, found.dtype)]
        raise RuntimeError(f"expected scalar type {names[0]} but found {names[1]}")


def _takes_two_dtypes(self: Array, label: str) -> None:
    if self.dtype not in (np.float32, np.float64):
        raise NotImplementedError(f"\"{label}\" not implemented for '{dtypes.of(self).scalar_name}'")


def _of_rows(losses: Array, self: Array, is_number: bool, reduction: int) -> Array:
    """The losses of the rows as asked for; the only one of a vector as a number."""
    if reduction == NONE and not is_number:
        return losses.astype(self.dtype, copy=False)
    total = losses.sum() / (len(losses) if reduction == MEAN and len(losses) else 1)
    return np.asarray(total, self.dtype)


def _each_row(grad_output: Array, count: int, reduction: int) -> Array:
    share = grad_output / (count if reduction == MEAN and count else 1)
    return np.broadcast_to(share.reshape(-1), (count,))[:, None]


def _gaps(rows: Array, target: Array, margin: float) -> tuple[Array, Array]:
    """By how much each other class comes too near; and the class of each row."""
    labels = target.reshape(-1)
    if ((labels < 0) | (labels >= rows.shape[1])).any():
        raise RuntimeError("target out of range")
    each = np.arange(len(rows))
    found = rows.dtype.type(margin) - rows[each, labels][:, None] + rows
    found[each, labels] = 0
    return np.maximum(found, 0), labels


@op(
    "multi_margin_loss",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    function=False,
    self=lambda grad, self, target, p, margin, weight, reduction: _multi_margin_backward(
        grad, self, target, p, margin, weight, reduction
    ),
)
def _multi_margin(self: Any, target: Any, p: int, margin: float, weight: Any, reduction: int) -> Array:
    rows = _rows(self)
    if p not in (1, 2):
        raise RuntimeError("only p == 1 and p == 2 supported")
    if target.ndim > 1 or target.size != len(rows) or (self.ndim == 2 and not target.ndim):
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size). Expected target size [{len(rows)}], but got {sizes(target.shape)}. Input has shape "
            f"{sizes(self.shape)}."
        )
    if weight is not None and (weight.ndim > 1 or weight.size != rows.shape[1]):
        raise RuntimeError(f"inconsistent weight size, expected {rows.shape[1]} but got {sizes(weight.shape)}")
    if rows.size:
        _takes_two_dtypes(self, "multi_margin_loss_cpu_kernel")
        _scalar_type(target, np.int64)
        if weight is not None:
            _scalar_type(weight, self.dtype)
    gaps, labels = _gaps(rows, target, margin)
    gaps = gaps**p
    if weight is not None:
        gaps = gaps * weight.reshape(-1)[labels][:, None]
    return _of_rows(gaps.sum(1) / rows.shape[1], self, not target.ndim, reduction)


@op(
    "multi_margin_loss_backward",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="NotImplemented",
    method=False,
    function=False,
    tensor_params=("grad_output", "self"),
    grad_output=no_autograd_kernel("multi_margin_loss_backward"),
    self=no_autograd_kernel("multi_margin_loss_backward"),
)
def _multi_margin_backward(
    grad_output: Any, self: Any, target: Any, p: int, margin: float, weight: Any, reduction: int
) -> Array:
    rows = _rows(self)
    gaps, labels = _gaps(rows, target, margin)
    slope = (gaps > 0).astype(self.dtype) if p == 1 else 2 * gaps
    if weight is not None:
        slope = slope * weight.reshape(-1)[labels][:, None]
    slope[np.arange(len(rows)), labels] = -slope.sum(1)
    return np.asarray(slope / rows.shape[1] * _each_row(grad_output, len(rows), reduction), self.dtype).reshape(
        self.shape
    )


def multi_margin(self: Tensor, target: Tensor, p: int, margin: float, weight: Tensor | None, reduction: int) -> Tensor:
    refuse_gradient("multi_margin_loss", weight=weight)
    made: Tensor = _multi_margin(self, target, p, margin, weight, reduction)
    return made


def _pairs(rows: Array, target: Array) -> tuple[Array, Array]:
    """(batch, target, class): by how much each non-target class violates the margin of each target; and the targets.

    A row's targets end before its first negative number; the rest of it is -1.
    """
    wanted = np.where(np.cumsum(target < 0, 1) > 0, -1, target)
    if (wanted >= rows.shape[1]).any():
        raise RuntimeError("argument #2 'target' is out of range")
    counts = wanted >= 0
    is_target = np.zeros(rows.shape, bool)
    each = np.broadcast_to(np.arange(len(rows))[:, None], wanted.shape)
    is_target[each[counts], wanted[counts]] = True
    own = np.take_along_axis(rows, np.maximum(wanted, 0), 1)
    gaps = np.maximum(1 - own[:, :, None] + rows[:, None, :], 0)
    return np.where(counts[:, :, None] & ~is_target[:, None, :], gaps, 0), wanted


@op(
    "multilabel_margin_loss_forward",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="MultilabelMarginLossBackward0",
    method=False,
    function=False,
    self=lambda grad, self, target, reduction: _multilabel_backward(grad, self, target, reduction),
)
def multilabel_margin_loss(self: Any, target: Any, reduction: int) -> Array:
    """The margins between the classes of a row of `target`, up to its first negative number, and all others."""
    rows = _rows(self)
    fits = target.shape == self.shape if self.ndim == 2 else target.ndim <= 1 and target.size == rows.shape[1]
    if not fits:
        raise RuntimeError(f"inconsistent target size: {sizes(target.shape)} for input of size: {sizes(self.shape)}")
    if rows.size:
        _takes_two_dtypes(self, "multilabel_margin_loss_forward_out_frame")
        _scalar_type(target, np.int64)
    gaps, _ = _pairs(rows, target.reshape(rows.shape))
    return _of_rows(gaps.sum((1, 2)) / rows.shape[1], self, target.ndim <= 1, reduction)


@op(
    "multilabel_margin_loss_backward",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="NotImplemented",
    method=False,
    function=False,
    tensor_params=("grad_output", "self"),
    grad_output=no_autograd_kernel("multilabel_margin_loss_backward"),
    self=no_autograd_kernel("multilabel_margin_loss_backward"),
)
def _multilabel_backward(grad_output: Any, self: Any, target: Any, reduction: int) -> Array:
    rows = _rows(self)
    gaps, wanted = _pairs(rows, target.reshape(rows.shape))
    near = (gaps > 0).astype(self.dtype)
    slope = near.sum(1)
    each = np.broadcast_to(np.arange(len(rows))[:, None], wanted.shape)
    counts = wanted >= 0
    np.subtract.at(slope, (each[counts], wanted[counts]), near.sum(2)[counts])
    return np.asarray(slope / rows.shape[1] * _each_row(grad_output, len(rows), reduction), self.dtype).reshape(
        self.shape
    )
