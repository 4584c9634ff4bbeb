"""Binary cross entropy of probabilities, and of scores. Reductions are numbered as in ATen."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, OPS, RESIZED
from ..dispatch.registration import op
from .loss_gradients import spread_over
from .losses import into, reduced, require_real


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


@op(
    "binary_cross_entropy",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    function=False,
    tensor_params=("self", "target", "weight"),
    self=_bce_back,
    target=_bce_target,
)
def binary_cross_entropy(self: Any, target: Any, weight: Any, reduction: int) -> Array:
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


@op(
    "binary_cross_entropy_with_logits",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    function=False,
    tensor_params=("self", "target", "weight", "pos_weight"),
    self=_with_logits_back,
    target=_with_logits_target,
)
def binary_cross_entropy_with_logits(self: Any, target: Any, weight: Any, pos_weight: Any, reduction: int) -> Array:
    """The loss has the dtype of `target`, since PyTorch computes it in place of `1 - target`."""
    require_real("log_sigmoid_cpu", self)
    logs = (np.minimum(self, 0) - np.log1p(np.exp(-np.abs(self)))).astype(self.dtype, copy=False)
    if pos_weight is not None:
        logs = into(logs, np.multiply, np.asarray((pos_weight - 1) * target + 1))
    values = np.asarray(OPS["sub"].kernel(np.ones((), target.dtype), target, 1), target.dtype)
    values = into(into(values, np.multiply, self), np.subtract, logs)
    return reduced(values if weight is None else into(values, np.multiply, weight), reduction)
