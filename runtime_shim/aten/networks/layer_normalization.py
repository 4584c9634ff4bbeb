"""Layer normalization. As with batches, the statistics are handed to the op, so that they are saved for backward."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.dtypes import Array, Ints, sizes
from ...core.error_texts import require_tensors
from ...core.tensor import Tensor, new_tensor
from ...core.thread_state import tls
from ...dispatch.registration import composite, inner_op
from .normalization import check_mixed_dtypes, moments, statistics_dtype


def _normed(
    input: Tensor, normalized_shape: Ints, result1: Tensor, result2: Tensor, eps: float
) -> tuple[Tensor, Tensor, list[int]]:
    """The normalized input, 1 / sqrt(variance + eps), and the axes that they are over."""
    axes = list(range(input._array.ndim - len(normalized_shape), input._array.ndim))
    if tls.state.grad_mode:
        mean = input.mean(axes, keepdim=True)
        centred = input - mean
        result1, result2 = mean, ((centred * centred).mean(axes, keepdim=True) + eps).rsqrt()
    return (input - result1) * result2, result2, axes


def _layer_input(
    grad: Tensor,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    normalized_shape: Ints,
    result1: Tensor,
    result2: Tensor,
    eps: float,
) -> Tensor:
    normed, invstd, axes = _normed(input, normalized_shape, result1, result2, eps)
    if weight is not None:
        grad = grad * weight
    common = grad.mean(axes, keepdim=True) + normed * (grad * normed).mean(axes, keepdim=True)
    return (grad - common) * invstd


def _layer_weight(
    grad: Tensor,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    normalized_shape: Ints,
    result1: Tensor,
    result2: Tensor,
    eps: float,
) -> Tensor:
    normed, _, axes = _normed(input, normalized_shape, result1, result2, eps)
    lead = list(range(axes[0]))
    found = grad * normed
    return found.sum(lead) if lead else found


def _layer_bias(grad: Tensor, bias: Tensor, normalized_shape: Ints) -> Tensor:
    lead = list(range(grad._array.ndim - len(normalized_shape)))
    return grad.sum(lead) if lead else grad


@inner_op("native_layer_norm", input=_layer_input, weight=_layer_weight, bias=_layer_bias)
def native_layer_norm(
    input: Array,
    normalized_shape: Ints,
    weight: Array,
    bias: Array,
    result1: Array,
    result2: Array,
    eps: float,
) -> Array:
    return np.ascontiguousarray(_scaled((input - result1) * result2, weight, bias), input.dtype)


def _scaled(found: Array, weight: object, bias: object) -> Array:
    if weight is not None:
        found *= weight
    if weight is not None or bias is not None:
        found += 0 if bias is None else bias  # as PyTorch does, which makes 0 of -0
    return found


@composite("layer_norm", method=False)
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enable: bool = True,
) -> Tensor:
    """Normalize over the last dimensions, which are to be `normalized_shape`."""
    if not isinstance(input, Tensor):
        require_tensors("layer_norm", input=input)
    if weight is not None or bias is not None:
        check_mixed_dtypes(input, weight, bias)
    x = input._array
    shape = tuple([int(n) for n in normalized_shape])
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
            "but got normalized_shape = []"
        )
    given = () if weight is None is bias else (("weight", weight), ("bias", bias))
    for name, t in given:
        if t is not None and t._array.shape != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{sizes(t._array.shape)} and normalized_shape = {sizes(shape)}"
            )
    if x.shape[max(0, x.ndim - len(shape)) :] != shape:
        raise RuntimeError(
            f"Given normalized_shape={sizes(shape)}, expected input with shape "
            f"[*, {', '.join(map(str, shape))}], but got input of size{sizes(x.shape)}"
        )
    if x.dtype.kind not in "fV":
        raise NotImplementedError(f"\"LayerNormKernelImpl\" not implemented for '{input.dtype.scalar_name}'")
    mean, var = moments(x, tuple(range(x.ndim - len(shape), x.ndim)))
    wide = statistics_dtype(x)
    result1 = new_tensor(mean.astype(wide))
    var += eps
    result2 = new_tensor(np.reciprocal(np.sqrt(var, var), var).astype(wide))
    return native_layer_norm(input, shape, weight, bias, result1, result2, eps)
