"""The ops that PyTorch has for its own tests of dispatch to autograd.

Each is a copy or a view; their gradients are made up, so that a test sees which was taken.
Source: ATen/native/TestOps.cpp, tools/autograd/derivatives.yaml.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..core.dtypes import Array
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE
from ..dispatch.registration import composite, op
from ..dispatch.view_layers import view_op
from .copies import clone


def _warned(grad: Any) -> Any:
    warnings.warn("Warn from backward", UserWarning, stacklevel=2)
    return grad


@op("_test_warn_in_autograd", method=False, function=False, computes=ANY_DTYPE, self=_warned)
def _test_warn_in_autograd(self: Array) -> Array:
    return self.copy()


@op(
    "_test_autograd_multiple_dispatch",
    method=False,
    function=False,
    computes=ANY_DTYPE,
    self=lambda grad, self_shape: grad.expand(self_shape) + 1,
)
def _full_coverage(self: Array) -> Array:
    return self.copy()


@composite("_test_autograd_multiple_dispatch", method=False)
def _multiple_dispatch(self: Tensor, b: bool | None = None) -> Any:
    """With a second argument, the overload that is a composite, and so has the gradient of a copy."""
    return _full_coverage(self) if b is None else clone(self)


@view_op("_test_autograd_multiple_dispatch_view", method=False, self=lambda grad, self_shape: grad.reshape(self_shape))
def _multiple_dispatch_view(self: Any) -> Any:
    return self.view() if self.ndim == 1 else _flat(self)


def _flat(array: Array) -> Array:
    found = array.reshape(-1)
    if not np.may_share_memory(found, array):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return found


@op(
    "_test_autograd_multiple_dispatch_view_copy",
    node="TestAutogradMultipleDispatchViewBackward0_copy",
    method=False,
    computes=ANY_DTYPE,
    self=lambda grad, self_shape: grad.reshape(self_shape),
)
def _multiple_dispatch_view_copy(self: Array) -> Array:
    return self.reshape(-1).copy()


@op("_nested_test", method=False, function=False, computes=ANY_DTYPE, self=lambda grad: grad.mul(grad))
def nested_formula(self: Array) -> Array:
    """What `_test_autograd_multiple_dispatch` is of the tensors in a nested one, and with a second argument."""
    return self.copy()


@op("_nested_test_alone", method=False, function=False, computes=ANY_DTYPE, self=lambda grad: grad.mul(grad).add(grad))
def nested_formula_alone(self: Array) -> Array:
    return self.copy()
