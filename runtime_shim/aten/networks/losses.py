"""Losses. Reductions are numbered as in ATen: 0 none, 1 mean, 2 sum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import Array, NumpyDtype, sizes
from ...core.function_table import FUNCTIONS
from ...core.tensor import Tensor, new_tensor, requires_grad
from ...core.thread_state import AUTOGRAD, tls
from ...dispatch.op_description import OPS
from ...dispatch.op_node import arrays
from ...dispatch.registration import composite, inner_op
from ..elementwise import div_scalar, mul_scalar
from .backward_kernels import (
    MEAN,
    NONE,
    SUM,
    huber_loss_backward,
    mse_loss_backward,
    smooth_l1_loss_backward,
    spread_over,
)

REDUCTIONS = {"none": NONE, "mean": MEAN, "sum": SUM}


def reduced(values: Array, reduction: int) -> Array:
    """The loss of all elements as one number, or as it is."""
    if reduction == NONE:
        return values
    return np.asarray(values.mean() if reduction == MEAN else values.sum(), values.dtype)


def _leaving(kernel: Callable[..., Array], position: int) -> Callable[..., Tensor]:
    """Where no autograd kernel wraps the loss, its reduction leaves two writes on the result."""

    def below(*args: object) -> Tensor:
        made = new_tensor(kernel(*arrays(args)))
        if made._version_counter is not None and args[position] != NONE:
            made._version_counter[0] += 2
        return made

    return below


def refuse_gradient(function: str, **arguments: Tensor | None) -> None:
    """RuntimeError if one of the arguments, in which the function has no derivative, requires grad."""
    state = tls.state
    for name, t in arguments.items():
        if t is not None and state.grad_mode and not state.excluded & AUTOGRAD and requires_grad(t):
            raise RuntimeError(
                f"The function '{function}' is not differentiable with respect to argument '{name}'. This "
                "input cannot have requires_grad True."
            )


def require_real(label: str, *operands: object) -> None:
    """NotImplementedError, in the words of the kernel called `label`, unless the operands' common dtype is real."""
    common = dtypes.result_type(*operands)
    if common.kind not in "fV":
        raise NotImplementedError(f"\"{label}\" not implemented for '{dtypes.BY_CHAR[common.char].scalar_name}'")


def into(values: Array, ufunc: Any, operand: Array) -> Array:
    """`ufunc` of both, written to the first: its shape and dtype must do."""
    shape = dtypes.broadcast_shapes(values.shape, operand.shape)
    if shape != values.shape:
        raise RuntimeError(f"output with shape {sizes(values.shape)} doesn't match the broadcast shape {sizes(shape)}")
    check_cast(dtypes.result_type(values, operand), values.dtype)
    found: Array = ufunc(values, operand).astype(values.dtype, copy=False)
    return found


def check_cast(common: NumpyDtype, to: NumpyDtype) -> None:
    if not dtypes.can_cast(common, to):
        raise dtypes.cast_error(common, to)


def _difference(self: Any, target: Any, label: str) -> Array:
    dtypes.broadcast_shapes(self.shape, target.shape)
    require_real(label, self, target)
    common = dtypes.result_type(self, target)
    return np.subtract(self, target, dtype=common)


def _mse(self: object, target: object, reduction: int) -> Array:
    difference = _difference(self, target, "mse_cpu")
    return reduced(difference * difference, reduction)


mse_loss = inner_op(
    "mse_loss",
    below=_leaving(_mse, 2),
    self=lambda grad, self, target, reduction: mse_loss_backward(grad, self, target, reduction),
    target=lambda grad, self, target, reduction: mse_loss_backward(grad, target, self, reduction),
)(_mse)


def _huber_values(difference: Array, delta: float) -> Array:
    size = np.abs(difference)
    return np.where(size <= delta, 0.5 * size * size, delta * (size - 0.5 * delta)).astype(difference.dtype)


def _huber(self: Tensor, target: Tensor, reduction: int, delta: float) -> Array:
    dtypes.broadcast_shapes(self.shape, target.shape)
    check_cast(dtypes.result_type(self, target), self.dtype)
    found = _huber_values(_difference(self, target, "huber_cpu"), delta)
    return reduced(found.astype(self.dtype, copy=False), reduction)


huber_loss = inner_op(
    "huber_loss",
    self=lambda grad, self, target, reduction, delta: huber_loss_backward(grad, self, target, reduction, delta),
    target=lambda grad, self, target, reduction, delta: huber_loss_backward(grad, target, self, reduction, delta),
)(_huber)


def _smooth_l1(self: object, target: object, reduction: int, beta: float) -> Array:
    difference = _difference(self, target, "smooth_l1_cpu")
    size = np.abs(difference)
    values = np.where(size < beta, 0.5 * size * size / beta, size - 0.5 * beta) if beta else size
    return reduced(values.astype(difference.dtype), reduction)


smooth_l1_loss = inner_op(
    "smooth_l1_loss",
    below=_leaving(_smooth_l1, 2),
    self=lambda grad, self, target, reduction, beta: smooth_l1_loss_backward(grad, self, target, reduction, beta),
    target=lambda grad, self, target, reduction, beta: smooth_l1_loss_backward(grad, target, self, reduction, beta),
)(_smooth_l1)


def _classes_first(array: Array, target: Array) -> tuple[Array, Array]:
    """Scores as (elements, classes) and targets as (elements,)."""
    if array.ndim == 1:
        return array[None], target.reshape(1)
    return np.moveaxis(array, 1, -1).reshape(-1, array.shape[1]), target.reshape(-1)


def _nll_weights(array: Array, target: Array, weight: Any, ignore_index: int) -> Array:
    """What each target counts: its class's weight, or nothing if it is to be ignored."""
    flat = target.reshape(-1)
    kept = flat != ignore_index
    if weight is None:
        return kept.astype(array.dtype)
    return np.where(kept, weight[np.where(kept, flat, 0)], 0).astype(array.dtype)


def _nll(self: Any, target: Any, weight: Any, reduction: int, ignore_index: int, total_weight: Any) -> Array:
    scores, flat = _classes_first(self, target)
    counts = _nll_weights(self, target, weight, ignore_index)
    picked = -counts * scores[np.arange(flat.size), np.where(flat == ignore_index, 0, flat)]
    if reduction == NONE:
        return picked.reshape(target.shape).astype(self.dtype, copy=False)
    total = picked.sum()
    return np.asarray(total / total_weight if reduction == MEAN else total, self.dtype)


def _nll_back(
    grad: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
) -> Tensor:
    return _nll_backward(grad, target, weight, self._array.shape, reduction, ignore_index, total_weight)


def _nll_pick(
    grad: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
) -> Tensor:
    """The loss is linear in the scores, so the derivative of its gradient is the loss of that derivative."""
    chosen = nll_loss2d if grad._array.ndim > 2 else nll_loss
    return chosen(grad, target, weight, reduction, ignore_index, total_weight)


@inner_op("nll_loss_backward", tensor_params=("grad_output", "target", "weight"), grad_output=_nll_pick)
def _nll_backward(
    grad_output: Array,
    target: Array,
    weight: Array,
    shape: tuple[int, ...],
    reduction: int,
    ignore_index: int,
    total_weight: Array,
) -> Array:
    counts = _nll_weights(grad_output, target, weight, ignore_index)
    flat = target.reshape(-1)
    g = -counts * (grad_output.reshape(-1) if reduction == NONE else grad_output)
    if reduction == MEAN:
        g = np.where(counts == 0, 0, g / total_weight)
    classes = shape[0] if len(shape) == 1 else shape[1]
    found = np.zeros((flat.size, classes), grad_output.dtype)
    found[np.arange(flat.size), np.where(flat == ignore_index, 0, flat)] = g
    if len(shape) == 1:
        return found.reshape(shape)
    return np.ascontiguousarray(np.moveaxis(found.reshape(shape[0], *shape[2:], classes), -1, 1))


def _register_nll(name: str, node: str) -> Any:
    return inner_op(name, node=node, tensor_params=("self", "target", "weight"), self=_nll_back)(_nll)


nll_loss = _register_nll("nll_loss", "NllLossBackward0")
nll_loss2d = _register_nll("nll_loss2d", "NllLoss2DBackward0")


@composite("nll_loss", method=False, function=False)
def nll_loss_nd(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Tensor:
    """Minus the score that each target names; (batch, classes, ...) and (batch, ...)."""
    x, t = self._array, target._array
    if x.ndim == 0:
        raise ValueError(f"Expected 1 or more dimensions (got {x.ndim})")
    if (x.ndim not in (1, 2) and x.shape[:1] + x.shape[2:] != t.shape) or (x.ndim == 2 and t.ndim != 1):
        if x.ndim == 2:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if x.ndim - 1 != t.ndim:
            raise RuntimeError(
                f"only batches of spatial targets supported ({x.ndim - 1}D tensors) but got targets of "
                f"dimension: {t.ndim}"
                if x.ndim == 4
                else f"Expected target size {sizes(x.shape[:1] + x.shape[2:])}, got {sizes(t.shape)}"
            )
        raise RuntimeError(
            f"size mismatch (got input: {sizes(x.shape)} , target: {sizes(t.shape)}"
            if x.ndim == 4
            else f"Expected target size {sizes(x.shape[:1] + x.shape[2:])}, got {sizes(t.shape)}"
        )
    if x.ndim == 2 and x.shape[0] != t.shape[0]:
        raise ValueError(f"Expected input batch_size ({x.shape[0]}) to match target batch_size ({t.shape[0]}).")
    if x.ndim == 1 and t.ndim == 1 and t.size != 1:
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {t.size}")
    if t.dtype not in (np.int64, np.uint8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.scalar_name}")
    classes = x.shape[0] if x.ndim == 1 else x.shape[1]
    refuse_gradient("nll_loss2d_forward" if x.ndim > 2 else "nll_loss_forward", weight=weight)
    if weight is not None and weight._array.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight "
            f"tensor of shape: {sizes(weight._array.shape)}"
        )
    if x.dtype.kind not in "fV":
        raise NotImplementedError(f"\"nll_loss_out_frame\" not implemented for '{self.dtype.scalar_name}'")
    bad = (t != ignore_index) & ((t < 0) | (t >= classes))
    if bad.any():
        raise IndexError(f"Target {t[bad].flat[0]} is out of bounds.")
    counts = _nll_weights(x, t, None if weight is None else weight._array, ignore_index)
    total = new_tensor(np.asarray(counts.sum(dtype=np.float64) if reduction != NONE else 0, x.dtype))
    chosen = nll_loss2d if x.ndim > 2 else nll_loss
    return chosen(self, target, weight, reduction, ignore_index, total)


@composite("cross_entropy_loss", method=False, function=False)
def cross_entropy_loss(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> Tensor:
    """Cross entropy of scores (batch, classes, ...) with class indices (batch, ...) or probabilities."""
    x, t = self._array, target._array
    if x.ndim == 0:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    class_dim = 0 if x.ndim == 1 else 1
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    log_softmax = FUNCTIONS["log_softmax"]
    if x.shape == t.shape and target.is_floating_point():
        scores = log_softmax(self, class_dim)
        return _cross_entropy_of_probabilities(scores, target, weight, reduction, label_smoothing, class_dim)
    if x.shape == t.shape:
        raise RuntimeError(
            f"Expected floating point type for target with class probabilities, got {target.dtype.scalar_name}"
        )
    if x.ndim != 1 and t.ndim == x.ndim - 1 and x.ndim == 2 and x.shape[0] != t.shape[0]:
        raise ValueError(f"Expected input batch_size ({x.shape[0]}) to match target batch_size ({t.shape[0]}).")
    scores = log_softmax(self, class_dim)
    loss = nll_loss_nd(scores, target, weight, reduction, ignore_index)
    if label_smoothing == 0:
        return loss
    return _smoothed(scores, target, weight, reduction, ignore_index, label_smoothing, class_dim, loss)


def _cross_entropy_of_probabilities(
    scores: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    label_smoothing: float,
    class_dim: int,
) -> Tensor:
    classes = scores._array.shape[class_dim]
    if weight is not None and weight._array.shape != (classes,):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {classes} classes or no classes "
            f"but got weight tensor of shape: {sizes(weight._array.shape)}"
        )
    if label_smoothing > 0:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    terms = scores * target
    if weight is not None:
        shape = [1] * scores._array.ndim
        shape[class_dim] = classes
        terms = terms * weight.view(shape)
    if reduction == SUM:
        return -terms.sum()
    if reduction == NONE:
        return -terms.sum(class_dim)
    batch = scores.numel() // classes if classes else 0
    return div_scalar(-terms.sum(), batch)


def _smoothed(
    scores: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
    class_dim: int,
    loss: Tensor,
) -> Tensor:
    classes = scores._array.shape[class_dim]
    if weight is None:
        smooth = -scores.sum(class_dim)
    else:
        shape = [1] * scores._array.ndim
        shape[class_dim] = classes
        smooth = -(scores * weight.view(shape)).sum(class_dim)
    ignored = target == ignore_index
    smooth = smooth.masked_fill(ignored, 0.0)
    if reduction == MEAN:
        if weight is None:
            smooth = div_scalar(smooth.sum(), int((~ignored._array).sum()))
        else:
            counts = _nll_weights(scores._array, target._array, weight._array, ignore_index)
            smooth = div_scalar(smooth.sum(), float(counts.sum()))
    elif reduction == SUM:
        smooth = smooth.sum()
    return mul_scalar(loss, 1 - label_smoothing) + mul_scalar(smooth, label_smoothing / classes)


def _bce_back(grad: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int) -> Tensor:
    slope = (self - target) / (self * (1 - self)).clamp(min=1e-12)
    if weight is not None:
        slope = slope * weight
    return slope * spread_over(grad, self.numel(), reduction)


def _bce_target(grad: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int) -> Tensor:
    slope = ((1 - self).log() - self.log()).clamp(-100, 100)
    if weight is not None:
        slope = slope * weight
    return slope * spread_over(grad, self.numel(), reduction)


@inner_op("binary_cross_entropy", tensor_params=("self", "target", "weight"), self=_bce_back, target=_bce_target)
def binary_cross_entropy(self: Array, target: Array, weight: Array | None, reduction: int) -> Array:
    if self.dtype != target.dtype:
        found, wanted = (dtypes.of(array).scalar_name for array in (target, self))
        raise RuntimeError(f"Found dtype {found} but expected {wanted}")
    require_real("binary_cross_entropy", self)
    for what, array in (("input", self), ("target", target)):
        if not ((array >= 0) & (array <= 1)).all():
            raise RuntimeError(f"all elements of {what} should be between 0 and 1")
    logs = np.maximum(np.log(self), -100), np.maximum(np.log1p(-self), -100)
    values = -(target * logs[0] + (1 - target) * logs[1]).astype(self.dtype, copy=False)
    return reduced(values if weight is None else into(values, np.multiply, weight), reduction)


def _with_logits_back(
    grad: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    pos_weight: Tensor | None,
    reduction: int,
) -> Tensor:
    if pos_weight is None:
        slope = self.sigmoid() - target
    else:
        weighted = pos_weight * target
        slope = (weighted + 1 - target) * self.sigmoid() - weighted
    if weight is not None:
        slope = slope * weight
    return slope * spread_over(grad, self.numel(), reduction)


def _with_logits_target(
    grad: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    pos_weight: Tensor | None,
    reduction: int,
) -> Tensor:
    slope = -self if pos_weight is None else logsigmoid(-self) - pos_weight * logsigmoid(self)
    if weight is not None:
        slope = slope * weight
    return slope * spread_over(grad, self.numel(), reduction)


def logsigmoid(t: Tensor) -> Tensor:
    return FUNCTIONS["minimum"](t, FUNCTIONS["zeros_like"](t)) - (-t.abs()).exp().log1p()


@inner_op(
    "binary_cross_entropy_with_logits",
    tensor_params=("self", "target", "weight", "pos_weight"),
    self=_with_logits_back,
    target=_with_logits_target,
)
def binary_cross_entropy_with_logits(
    self: Array, target: Array, weight: Array | None, pos_weight: Array | None, reduction: int
) -> Array:
    """The loss has the dtype of `target`, since PyTorch computes it in place of `1 - target`."""
    require_real("log_sigmoid_cpu", self)
    logs = (np.minimum(self, 0) - np.log1p(np.exp(-np.abs(self)))).astype(self.dtype, copy=False)
    if pos_weight is not None:
        logs = into(logs, np.multiply, np.asarray((pos_weight - 1) * target + 1))
    values = np.asarray(OPS["sub"].kernel(np.ones((), target.dtype), target, 1), target.dtype)
    values = into(into(values, np.multiply, self), np.subtract, logs)
    return reduced(values if weight is None else into(values, np.multiply, weight), reduction)
