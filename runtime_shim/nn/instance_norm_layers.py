"""Instance normalization: each channel of each sample on its own."""

from __future__ import annotations

import warnings
from typing import Any

from ..core.tensor import Tensor
from . import functional as F
from .layers import _NormBase


class _InstanceNorm(_NormBase):
    """By default without parameters and running statistics. Takes one sample as well as a batch of them."""

    #: Dimensions of the input without a batch.
    _sample = 0

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _get_no_batch_dim(self) -> int:
        return self._sample

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (self._sample, self._sample + 1):
            raise ValueError(f"expected {self._sample}D or {self._sample + 1}D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        alone = input.dim() == self._sample
        dim = input.dim() - self._sample
        if input.size(dim) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: "
                    f"{input.size(dim)}."
                )
            warnings.warn(
                f"input's size at dim={dim} does not match num_features. You can silence this warning by not passing "
                "in num_features, which is not used because affine=False",
                stacklevel=2,
            )
        found = F.instance_norm(
            input.unsqueeze(0) if alone else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum if self.momentum is not None else 0.0,
            self.eps,
        )
        return found.squeeze(0) if alone else found


class InstanceNorm1d(_InstanceNorm):
    """Normalization of (batch, channels, length) or (channels, length)."""

    _sample = 2


class InstanceNorm2d(_InstanceNorm):
    """Normalization of (batch, channels, height, width), or without the batch."""

    _sample = 3


class InstanceNorm3d(_InstanceNorm):
    """Normalization of (batch, channels, depth, height, width), or without the batch."""

    _sample = 4
