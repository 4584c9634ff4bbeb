"""Batch, group and instance normalization.

The statistics that PyTorch's kernels return beside the result (`result1`, `result2`) are computed before
the op and handed to it, so that they are saved for backward under the same names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import Array, Ints, sizes
from ...core.function_table import FUNCTIONS
from ...core.tensor import Tensor, new_tensor, requires_grad
from ...core.thread_state import AUTOGRAD, tls
from ...dispatch.registration import composite, inner_op
from ...tape.saved_tensors import Saved
from .losses import refuse_gradient


def check_mixed_dtypes(input: Tensor, *parameters: Tensor | None) -> None:
    """The parameters have the input's dtype, or are all float32 beside an input of half the width.

    Source of the behaviour: aten/src/ATen/native/cpu/mixed_data_type.h.
    """
    given = [t for t in parameters if t is not None]
    if not given:
        return
    dtype, expected = input._array.dtype, given[0]._array.dtype
    if expected != dtype:
        if any(t._array.dtype != np.float32 for t in given):
            raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
        if dtype.itemsize != 2:
            raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")
    for t in given:
        if t._array.dtype != expected:
            raise RuntimeError(f"expected scalar type {given[0].dtype.scalar_name} but found {t.dtype.scalar_name}")


_add: Any = np.add


def statistics_dtype(array: Array) -> Any:
    """The dtype that statistics are kept in: float16's sums overflow, bfloat16's are coarse."""
    return np.float32 if array.dtype.itemsize == 2 else array.dtype


def moments(x: Array, axes: Ints) -> tuple[Array, Array]:
    """Mean and biased variance over `axes`, which stay as 1; summed in double precision as PyTorch does."""
    count = math.prod([x.shape[a] for a in axes])
    if not count:
        mean = x.mean(axes, dtype=np.float64, keepdims=True)
        return mean, np.mean((x - mean) ** 2, axis=axes, keepdims=True)
    mean = _add.reduce(x, axes, np.float64, None, True)
    mean /= count
    centred = x - mean
    centred *= centred
    variance = _add.reduce(centred, axes, None, None, True)
    variance /= count
    return mean, variance


def _shaped(t: Any, ndim: int) -> Any:
    """A vector of channels (array or tensor) so that it broadcasts along dimension 1."""
    return t.reshape((1, -1, *[1] * (ndim - 2)))


# -- batch


def _batch_statistics(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    result1: Tensor,
    result2: Tensor,
    training: bool,
    eps: float,
) -> tuple[Tensor, Tensor]:
    """Mean and 1 / std that normalized the input, shaped to broadcast; differentiable if a graph is made."""
    ndim = input._array.ndim
    if not training:
        assert running_mean is not None
        assert running_var is not None
        return _shaped(running_mean, ndim), _shaped((running_var + eps).rsqrt(), ndim)
    if tls.state.grad_mode:
        axes = [d for d in range(ndim) if d != 1]
        mean = input.mean(axes, keepdim=True)
        centred = input - mean
        return mean, ((centred * centred).mean(axes, keepdim=True) + eps).rsqrt()
    return _shaped(result1, ndim), _shaped(result2, ndim)


def _batch_input(
    grad: Tensor,
    input: Tensor,
    weight: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    result1: Tensor,
    result2: Tensor,
    training: bool,
    eps: float,
) -> Tensor:
    ndim = input._array.ndim
    mean, invstd = _batch_statistics(input, running_mean, running_var, result1, result2, training, eps)
    scale = invstd if weight is None else invstd * _shaped(weight, ndim)
    if not training:
        return grad * scale
    axes = [d for d in range(ndim) if d != 1]
    normed = (input - mean) * invstd
    common = grad.mean(axes, keepdim=True) + normed * (grad * normed).mean(axes, keepdim=True)
    return (grad - common) * scale


def _batch_weight(
    grad: Tensor,
    input: Tensor,
    weight: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    result1: Tensor,
    result2: Tensor,
    training: bool,
    eps: float,
) -> Tensor:
    mean, invstd = _batch_statistics(input, running_mean, running_var, result1, result2, training, eps)
    return (grad * ((input - mean) * invstd)).sum([d for d in range(input._array.ndim) if d != 1])


@inner_op(
    "native_batch_norm",
    tensor_params=("input", "weight", "bias", "running_mean", "running_var"),
    input=_batch_input,
    weight=_batch_weight,
    bias=lambda grad: grad.sum([d for d in range(grad._array.ndim) if d != 1]),
)
def native_batch_norm(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    result1: Array,
    result2: Array,
    training: bool,
    momentum: float,
    eps: float,
) -> Array:
    mean, invstd = result1, result2
    if not training:
        mean, invstd = running_mean, 1 / np.sqrt(running_var + running_var.dtype.type(eps))
    scale = invstd if weight is None else invstd * weight
    shift = -mean * scale if bias is None else bias - mean * scale
    # PyTorch's kernel fuses the multiplication with the addition: only the sum is rounded.
    found = input * _shaped(scale, input.ndim).astype(np.float64)
    found += _shaped(shift, input.ndim)
    return found.astype(input.dtype)


@composite("batch_norm", method=False)
def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> Tensor:
    """Normalize over all dimensions but 1. In training the running statistics are updated, without a version
    bump, as PyTorch's kernel does.
    """
    x = input._array
    channels = x.shape[1] if x.ndim > 1 else 0
    for name, t in (
        ("running_mean", running_mean),
        ("running_var", running_var),
        ("weight", weight),
        ("bias", bias),
    ):
        if t is None:
            if not training and name.startswith("running"):
                raise RuntimeError(f"{name} must be defined in evaluation mode")
        elif t._array.size != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {t._array.size}")
    if x.dtype.kind not in "fV":
        raise NotImplementedError(f"\"batch_norm\" not implemented for '{input.dtype.scalar_name}'")
    refuse_gradient("native_batch_norm", running_mean=running_mean, running_var=running_var)
    if training:
        records = tls.state.grad_mode and not tls.state.excluded & AUTOGRAD
        if records and any(t is not None and requires_grad(t) for t in (input, weight, bias)):
            for t in (running_mean, running_var):  # a statistic that can't be saved isn't updated
                if t is not None:
                    Saved(t)
    check_mixed_dtypes(input, weight, bias, running_mean, running_var)
    if training:
        axes = tuple(d for d in range(x.ndim) if d != 1)
        mean, var = (m.reshape(-1) for m in moments(x, axes))
        count = x.size // channels if channels else 0
        for running, value in (
            (running_mean, mean),
            (running_var, var * (count / max(count - 1, 1))),
        ):
            if running is not None:
                running._array[...] = (1 - momentum) * running._array + momentum * value
                running._storage[0] += 1
        wide = statistics_dtype(x)
        result1 = new_tensor(mean.astype(wide))
        result2 = new_tensor((1 / np.sqrt(var + eps)).astype(wide))
    else:
        result1, result2 = new_tensor(np.empty(0, x.dtype)), new_tensor(np.empty(0, x.dtype))
    return native_batch_norm(input, weight, bias, running_mean, running_var, result1, result2, training, momentum, eps)


# -- group


def _group_size(shape: tuple[int, ...], num_groups: int) -> int:
    """The elements of one group of one sample, of which there may be none."""
    return math.prod(shape[1:]) // num_groups


def _group_statistics(
    input: Tensor, num_groups: int, result1: Tensor, result2: Tensor, eps: float
) -> tuple[Tensor, Tensor]:
    """The input in groups (batch, groups, rest), normalized, and 1 / std of the groups."""
    shape = input._array.shape
    grouped = input.reshape(shape[0], num_groups, _group_size(shape, num_groups))
    if tls.state.grad_mode:
        centred = grouped - grouped.mean(-1, keepdim=True)
        invstd = ((centred * centred).mean(-1, keepdim=True) + eps).rsqrt()
        return centred * invstd, invstd
    invstd = result2.unsqueeze(-1)
    return (grouped - result1.unsqueeze(-1)) * invstd, invstd


def _group_input(
    grad: Tensor,
    input: Tensor,
    weight: Tensor | None,
    num_groups: int,
    result1: Tensor,
    result2: Tensor,
    eps: float,
) -> Tensor:
    normed, invstd = _group_statistics(input, num_groups, result1, result2, eps)
    if weight is not None:
        grad = grad * _shaped(weight, input._array.ndim)
    g = grad.reshape(normed._array.shape)
    common = g.mean(-1, keepdim=True) + normed * (g * normed).mean(-1, keepdim=True)
    return ((g - common) * invstd).reshape(input._array.shape)


def _group_weight(
    grad: Tensor,
    input: Tensor,
    weight: Tensor | None,
    num_groups: int,
    result1: Tensor,
    result2: Tensor,
    eps: float,
) -> Tensor:
    normed, _ = _group_statistics(input, num_groups, result1, result2, eps)
    found = grad * normed.reshape(input._array.shape)
    return found.sum([d for d in range(input._array.ndim) if d != 1])


@inner_op(
    "native_group_norm",
    input=_group_input,
    weight=_group_weight,
    bias=lambda grad: grad.sum([d for d in range(grad._array.ndim) if d != 1]),
)
def native_group_norm(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    num_groups: int,
    result1: Array,
    result2: Array,
    eps: float,
) -> Array:
    grouped = input.reshape(input.shape[0], num_groups, _group_size(input.shape, num_groups))
    found = ((grouped - result1[..., None]) * result2[..., None]).reshape(input.shape)
    if weight is not None:
        found = found * _shaped(weight, input.ndim)
    if bias is not None:
        found = found + _shaped(bias, input.ndim)
    return found.astype(input.dtype, copy=False)


@composite("group_norm", method=False)
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enabled: bool = True,
) -> Tensor:
    """Normalize over groups of channels and all further dimensions."""
    x = input._array
    channels = x.shape[1]
    if num_groups <= 0:
        raise RuntimeError("num_groups must be greater than 0, got " + str(num_groups))
    if channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{sizes(x.shape)} and num_groups={num_groups}"
        )
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and t._array.shape != (channels,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got "
                f"{name} of shape {sizes(t._array.shape)} and input of shape {sizes(x.shape)}"
            )
    check_mixed_dtypes(input, weight, bias)
    mean, var = moments(x.reshape(x.shape[0], num_groups, _group_size(x.shape, num_groups)), (2,))
    wide = statistics_dtype(x)
    result1 = new_tensor(mean[..., 0].astype(wide))
    result2 = new_tensor((1 / np.sqrt(var[..., 0] + eps)).astype(wide))
    return native_group_norm(input, weight, bias, num_groups, result1, result2, eps)


@composite("instance_norm", method=False)
def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
) -> Tensor:
    """Batch normalization of each sample on its own: samples become channels."""
    shape = input._array.shape
    batch, channels = shape[:2]

    def repeated(t: Tensor | None) -> Tensor | None:
        return None if t is None else t.repeat(batch)

    means, variances = (None if t is None else repeated(t.to(input.dtype)) for t in (running_mean, running_var))
    found = batch_norm(
        input.contiguous().view(1, batch * channels, *shape[2:]),
        repeated(weight),
        repeated(bias),
        means,
        variances,
        use_input_stats,
        momentum,
        eps,
    )
    if use_input_stats:
        for running, values in ((running_mean, means), (running_var, variances)):
            if running is not None and values is not None:
                running.copy_(values.view(batch, channels).mean(0))
    return found.view(shape)


@composite("rms_norm", method=False)
def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Divide by the root of the mean square over the last dimensions."""
    shape, own = tuple(int(n) for n in normalized_shape), input._array.shape
    if len(own) < len(shape):
        raise ValueError(f"Input tensor must have at least {len(shape)} dimensions, but got {len(own)}")
    if own[len(own) - len(shape) :] != shape:
        raise RuntimeError(
            f"Given normalized_shape={sizes(shape)}, expected input with shape [*{', '.join(map(str, shape))}], but "
            f"got input of size{sizes(own)}"
        )
    axes = [d - len(shape) for d in range(len(shape))]
    small = float(dtypes.floating_limits(input._array.dtype).eps) if eps is None else eps
    found = input * ((input * input).mean(axes, keepdim=True) + small).rsqrt()
    return found if weight is None else found * weight


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """Divide by the p-norm along `dim`, or by `eps` where that is larger."""
    divisor = FUNCTIONS["norm"](input, p, dim, True).clamp_min(eps).expand_as(input)
    return input / divisor if out is None else FUNCTIONS["div"](input, divisor, out=out)
