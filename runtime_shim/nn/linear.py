"""Linear and Identity."""

from __future__ import annotations

import math
from typing import Any

from ..aten import FUNCTIONS
from ..core.device import check_device
from ..core.gradient_modes import no_grad
from ..core.tensor import Tensor
from . import functional as F
from .module import Module
from .parameter import Parameter


class Linear(Module):
    """`x @ weight.T + bias`, weight of shape (out_features, in_features)."""

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        check_device(device)
        self.in_features = in_features
        self.out_features = out_features
        empty = FUNCTIONS["empty"]
        self.weight = Parameter(empty(out_features, in_features, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = 1 / math.sqrt(self.in_features) if self.in_features else 0.0
        with no_grad():
            self.weight.uniform_(-bound, bound)
            if self.bias is not None:
                self.bias.uniform_(-bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Identity(Module):
    """Returns its input."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Bilinear(Module):
    """`x1 @ weight[k] @ x2 + bias[k]`, weight of shape (out_features, in1_features, in2_features)."""

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        check_device(device)
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        empty = FUNCTIONS["empty"]
        self.weight = Parameter(empty(out_features, in1_features, in2_features, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_features, dtype=dtype)) if bias else None)
        bound = 1 / math.sqrt(in1_features)
        with no_grad():
            self.weight.uniform_(-bound, bound)
            if self.bias is not None:
                self.bias.uniform_(-bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )
