"""The logarithm of the multivariate gamma function. Source: mvlgamma in ATen/native/UnaryOps.cpp."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.argument_errors import wrong_type
from ..core.dtypes import Array
from ..core.function_table import FUNCTIONS
from ..core.reordered_array import packed
from ..core.tensor import Tensor
from ..dispatch.inplace_layers import store
from ..dispatch.op_description import ANY_DTYPE, OPS
from ..dispatch.registration import op
from .special_functions import floating


def _gradient(grad: Tensor, self: Tensor, p: int) -> Tensor:
    steps = FUNCTIONS["arange"](-p / 2 + 0.5, 0.5, 0.5, dtype=self.dtype)
    found: Tensor = grad * steps.add(self.unsqueeze(-1)).digamma_().sum(-1)
    return found


def _check_cast(self: Array, found: Array, target: Array) -> None:
    if not dtypes.can_cast(found.dtype, target.dtype):
        names = [dtypes.of(a).scalar_name for a in (self, found)]
        raise RuntimeError(f"mvlgamma: result type {names[0]} can't be cast to the desired output type {names[1]}")


def _in_place(self: Any, p: int) -> None:
    found = OPS["mvlgamma"].kernel(self, p)
    _check_cast(self, found, self)
    store(self, found)


@op("mvlgamma", computes=ANY_DTYPE, inplace=True, inplace_kernel=_in_place, self=_gradient)
def mvlgamma(self: Any, p: int) -> Array:
    """Of dimension `p`."""
    if not isinstance(p, int):
        raise wrong_type("mvlgamma", "p", 2, p, "int")
    if self.dtype.kind == "b":
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if self.dtype.kind == "c":
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{dtypes.of(self).scalar_name}'")
    self = floating(self)
    steps = np.arange(-p / 2 + 0.5, 0.5, 0.5).astype(self.dtype)
    total = np.add.reduce(OPS["lgamma"].kernel(np.asarray(self)[..., None] + steps), axis=-1)
    return packed(np.asarray(total + self.dtype.type(p * (p - 1) * math.log(math.pi) * 0.25)))


FUNCTIONS["special_multigammaln"] = FUNCTIONS["mvlgamma"]
