"""Layers with weights: normalization, embedding."""

from __future__ import annotations

import math
from typing import Any

from ..aten import FUNCTIONS
from ..core.device import check_device
from ..core.gradient_modes import no_grad
from ..core.tensor import Tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter


def _tuple(value: Any, count: int) -> tuple[int, ...]:
    return (value,) * count if isinstance(value, int) else tuple(value)


def _parameter(shape: tuple[int, ...], dtype: object) -> Parameter:
    return Parameter(FUNCTIONS["empty"](shape, dtype=dtype))


def _register_affine(module: Module, shape: tuple[int, ...], dtype: object, weight: bool, bias: bool) -> None:
    """What a normalized input is multiplied by and what is added: parameters, or None."""
    for name, wanted in (("weight", weight), ("bias", weight and bias)):
        module.register_parameter(name, _parameter(shape, dtype) if wanted else None)


def _reset_affine(module: Any) -> None:
    if module.weight is not None:
        init.ones_(module.weight)
    if module.bias is not None:
        init.zeros_(module.bias)


# -- normalization


class _NormBase(Module):
    """Running statistics are buffers: `running_mean`, `running_var`, `num_batches_tracked`."""

    _version = 2

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: object = None,
        dtype: object = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        check_device(device)
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        _register_affine(self, (num_features,), dtype, affine, bias)
        if track_running_stats:
            self.register_buffer("running_mean", FUNCTIONS["zeros"](num_features, dtype=dtype))
            self.register_buffer("running_var", FUNCTIONS["ones"](num_features, dtype=dtype))
            self.register_buffer("num_batches_tracked", FUNCTIONS["tensor"](0))
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        self.reset_running_stats()
        _reset_affine(self)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any) -> None:
        if self.track_running_stats and (local_metadata.get("version") or 0) < 2:  # older than the counter
            state_dict.setdefault(f"{prefix}num_batches_tracked", self.num_batches_tracked)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_NormBase):
    """Batch normalization of inputs with so many dimensions."""

    _allowed: tuple[int, ...] = ()

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in self._allowed:
            wanted = " or ".join(f"{n}D" for n in self._allowed)
            raise ValueError(f"expected {wanted} input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        running = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if running else None,
            self.running_var if running else None,
            self.weight,
            self.bias,
            by_batch,
            factor,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalization of (batch, channels) or (batch, channels, length)."""

    _allowed = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalization of (batch, channels, height, width)."""

    _allowed = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalization of (batch, channels, depth, height, width)."""

    _allowed = (5,)


class LayerNorm(Module):
    """Normalization over the last dimensions."""

    def __init__(
        self,
        normalized_shape: object,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: object = None,
        dtype: object = None,
    ) -> None:
        super().__init__()
        check_device(device)
        self.normalized_shape = _tuple(normalized_shape, 1)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        _register_affine(self, self.normalized_shape, dtype, elementwise_affine, bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        _reset_affine(self)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class GroupNorm(Module):
    """Normalization over groups of channels."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: object = None,
        dtype: object = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        check_device(device)
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels = num_groups, num_channels
        self.eps, self.affine = eps, affine
        _register_affine(self, (num_channels,), dtype, affine, bias)
        _reset_affine(self)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


# -- embedding


class _Table(Module):
    """Vectors, of which integers choose some."""

    def _make(
        self, size: tuple[int, int], padding: tuple[str, int | None], weight: Tensor | None, frozen: bool, dtype: object
    ) -> None:
        self.num_embeddings, self.embedding_dim = size
        name, index = padding
        if index is not None and not -size[0] <= index < size[0]:
            raise AssertionError(f"{name} must be within num_embeddings")
        self.padding_idx = index if index is None else index % size[0]
        if weight is not None and list(weight.shape) != [*size]:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        given = FUNCTIONS["empty"](*size, dtype=dtype) if weight is None else weight
        self.weight = Parameter(given, requires_grad=not frozen)
        if weight is None:
            self.reset_parameters()

    def reset_parameters(self) -> None:
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.data[self.padding_idx])

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **options: Any) -> Module:
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        return cls(*embeddings.shape, _weight=embeddings, **{"_freeze": True} if freeze else {}, **options)


class Embedding(_Table):
    """A table of vectors, looked up by integers; weight (num_embeddings, embedding_dim)."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: object = None,
        dtype: object = None,
    ) -> None:
        super().__init__()
        check_device(device)
        self._make((num_embeddings, embedding_dim), ("Padding_idx", padding_idx), _weight, _freeze, dtype)
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self.sparse = sparse

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        usual = {"padding_idx": None, "max_norm": None, "norm_type": 2, "scale_grad_by_freq": False, "sparse": False}
        parts = [f"{name}={value}" for name, normal in usual.items() if (value := getattr(self, name)) != normal]
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *parts])


class Linear(Module):
    """`x @ weight.T + bias`, weight of shape (out_features, in_features)."""

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: object = None, dtype: object = None
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

    def __init__(self, *args: object, **kwargs: object) -> None:
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
        device: object = None,
        dtype: object = None,
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


class EmbeddingBag(_Table):
    """Sums, means or maxima of bags of vectors of a table; weight (num_embeddings, embedding_dim)."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: object = None,
        dtype: object = None,
    ) -> None:
        super().__init__()
        check_device(device)
        self._make((num_embeddings, embedding_dim), ("padding_idx", padding_idx), _weight, False, dtype)
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self.mode, self.sparse, self.include_last_offset = mode, sparse, include_last_offset

    def extra_repr(self) -> str:
        given = {"max_norm": None, "norm_type": 2.0, "scale_grad_by_freq": False, "mode": None, "padding_idx": None}
        shown = [str(self.num_embeddings), str(self.embedding_dim)]
        shown += [f"{name}={value!r}" for name, usual in given.items() if (value := getattr(self, name)) != usual]
        return ", ".join(shown)

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **options: Any) -> Module:
        """The flag is set afterwards, as in PyTorch: a table from inference mode is refused here, and not above."""
        made = super().from_pretrained(embeddings, False, **options)
        made.weight.requires_grad = not freeze
        return made

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )
