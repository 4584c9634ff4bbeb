"""Activations that are zero around zero: hardshrink and softshrink, and their gradients, which are ops themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array
from ..core.function_table import FUNCTIONS
from ..core.reordered_array import elementwise
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED
from ..dispatch.registration import op
from .activations import require_floating


def _zero_between(grad_output: Any, self: Any, lambd: float) -> Array:
    number = self.dtype.type
    between = (self >= number(-lambd)) & (self <= number(lambd))
    return elementwise(np.where(between, grad_output.dtype.type(0), grad_output), grad_output, self)


def _gradient(name: str) -> Any:
    def again(grad: Tensor, self: Tensor, lambd: float) -> Tensor:
        found: Tensor = made(grad, self, lambd)
        return found

    made = op(
        f"{name}_backward",
        computes=ANY_DTYPE,
        out=RESIZED,
        method=False,
        function=False,
        grad_output=again,
        self=lambda grad: FUNCTIONS["zeros_like"](grad),
    )(_zero_between)
    return made


hardshrink_backward, softshrink_backward = _gradient("hardshrink"), _gradient("softshrink")


@op(
    "hardshrink",
    computes=ANY_DTYPE,
    out=RESIZED,
    self=lambda grad, self, lambd: hardshrink_backward(grad, self, lambd),
)
def hardshrink(self: Any, lambd: float = 0.5) -> Array:
    """Zero between -lambd and lambd."""
    require_floating(self, "hardshrink_cpu")
    return _zero_between(self, self, lambd)


@op(
    "softshrink",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    function=False,
    self=lambda grad, self, lambd: softshrink_backward(grad, self, lambd),
)
def softshrink(self: Any, lambd: float = 0.5) -> Array:
    """Moved by lambd towards zero. RuntimeError for a lambd that is negative or that the dtype doesn't have."""
    require_floating(self, "softshrink_check")
    largest = float(np.finfo(self.dtype).max)
    if not 0 <= lambd <= largest:
        raise RuntimeError(
            f"lambda must be in range [0, {largest:g}] for input dtype {dtypes.of(self).scalar_name}, "
            f"but found {lambd:g}"
        )
    number = self.dtype.type(lambd)
    below = np.where(self < -number, self + number, self * self.dtype.type(0))
    return elementwise(np.where(self > number, self - number, below), self)
