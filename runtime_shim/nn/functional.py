# Long because it is one module of PyTorch's, torch.nn.functional.
"""`torch.nn.functional`. Signatures, checks and messages as in torch/nn/functional.py of PyTorch 2.13."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..aten import FUNCTIONS
from ..aten.elementwise import add_scalar
from ..aten.matrices import einsum as _einsum
from ..aten.matrices.linalg import addmm, matmul
from ..aten.matrices.norms import norm_along
from ..aten.networks import activations as _act
from ..aten.networks import convolution as _conv
from ..aten.networks import embedding as _embed
from ..aten.networks import layer_normalization as _layer_norm
from ..aten.networks import losses as _loss
from ..aten.networks import normalization as _norm
from ..aten.networks import pooling as _pool
from ..aten.networks.adaptive_pooling import *  # noqa: F403
from ..aten.networks.backward_kernels import NONE, SUM
from ..aten.networks.dot_product_attention import scaled_dot_product_attention
from ..aten.networks.pooling_windows import avg_pool1d, avg_pool2d, avg_pool3d
from ..aten.networks.unfolding import col2im, im2col, pad
from ..core import dtypes
from ..core.error_texts import require_tensors
from ..core.gradient_modes import no_grad
from ..core.late_modules import late_module
from ..core.tensor import Tensor
from .grid_functions import *  # noqa: F403
from .loss_functions import *  # noqa: F403
from .loss_functions import _reduced, _reduction
from .recurrent_functions import *  # noqa: F403
from .resampling import *  # noqa: F403
from .resampling import interpolate

conv1d, conv2d, conv3d = FUNCTIONS["conv1d"], FUNCTIONS["conv2d"], FUNCTIONS["conv3d"]
conv_transpose1d, conv_transpose2d, conv_transpose3d = (FUNCTIONS[f"conv_transpose{n}d"] for n in (1, 2, 3))
max_pool1d, max_pool2d, max_pool3d = _pool.max_pool1d, _pool.max_pool2d, _pool.max_pool3d
max_pool1d_with_indices, max_pool2d_with_indices = _pool.max_pool1d_with_indices, _pool.max_pool2d_with_indices
max_pool3d_with_indices = _pool.max_pool3d_with_indices
tanh, sigmoid, prelu = FUNCTIONS["tanh"], FUNCTIONS["sigmoid"], _act.prelu
gelu, softplus, logsigmoid = _act.gelu, _act.softplus, _act.logsigmoid
normalize, one_hot, rms_norm = _norm.normalize, _embed.one_hot, _norm.rms_norm


def _tensor(name: str, argument: str, position: int, value: object) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position}) must be Tensor, not {type(value).__name__}"
        )


# -- linear


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`input @ weight.T + bias`, for `input` of shape (..., in) and `weight` of shape (out, in)."""
    _tensor("linear", "input", 1, input)
    _tensor("linear", "weight", 2, weight)
    ndim = input._array.ndim
    if ndim == 0 or weight._array.ndim == 0:
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {ndim}D and {weight._array.ndim}D"
        )
    if bias is None:
        return matmul(input, weight.t())
    if ndim == 2:
        return addmm(bias, input, weight.t())
    if input.is_contiguous() and bias._array.ndim == 1:
        shape = input.shape
        flat = addmm(bias, input.view(math.prod(shape[:-1]), shape[-1]), weight.t())
        return flat.view(*shape[:-1], flat.shape[-1])
    return matmul(input, weight.t()).add_(bias)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`input1 @ weight[k] @ input2` for each k, plus `bias`."""
    found = _einsum.einsum("...i,kij,...j->...k", input1, weight, input2)
    return found if bias is None else found + bias


# -- activation


def _activation(name: str, call: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """An activation with PyTorch's `inplace` flag as the last argument."""
    inplace_call: Any = getattr(call, "inplace", None)

    def activation(input: Tensor, *args: object, inplace: bool = False, **kwargs: object) -> Tensor:
        count = len(parameters) - 1
        if len(args) > count:
            *args, inplace = args  # type: ignore[assignment]
        return (inplace_call if inplace else call)(input, *args, **kwargs)

    parameters = call.op.params  # type: ignore[attr-defined]
    activation.__name__ = activation.__qualname__ = name
    return activation


leaky_relu = _activation("leaky_relu", _act.leaky_relu)
celu = _activation("celu", _act.celu)
hardswish = _activation("hardswish", _act.hardswish)
mish = _activation("mish", _act.mish)
threshold = _activation("threshold", _act.threshold)
silu = _activation("silu", _act.silu)
hardsigmoid = _activation("hardsigmoid", _act.hardsigmoid)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0)"""
    return FUNCTIONS["relu_" if inplace else "relu"](input)


def relu_(input: Tensor) -> Tensor:
    return FUNCTIONS["relu_"](input)


_hardtanh = _activation("hardtanh", _act.hardtanh)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _hardtanh(input, min_val, max_val, inplace=inplace)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    return _hardtanh(input, 0, 6, inplace=inplace)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    call: Any = _act.elu.inplace if inplace else _act.elu  # type: ignore[attr-defined]
    return call(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    call: Any = _act.elu.inplace if inplace else _act.elu  # type: ignore[attr-defined]
    return call(input, 1.6732632423543772, 1.0507009873554805)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    return elu(input, alpha, inplace=True)


def selu_(input: Tensor) -> Tensor:
    return selu(input, inplace=True)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    return celu(input, alpha, inplace=True)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    return leaky_relu(input, negative_slope, inplace=True)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    return _hardtanh(input, min_val, max_val, inplace=True)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    return _act.threshold.inplace(input, threshold, value)  # type: ignore[attr-defined]


def upsample(
    input: Tensor,
    size: object = None,
    scale_factor: object = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """The old name of `interpolate`; warns."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return _act.glu(input, dim)


def softsign(input: Tensor) -> Tensor:
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    return input - input.tanh()


def _softmax_dim(name: str, ndim: int, stacklevel: int) -> int:
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtypes.dtype | None = None) -> Tensor:
    d = _softmax_dim("softmax", input.dim(), _stacklevel) if dim is None else dim
    return input.softmax(d) if dtype is None else input.softmax(d, dtype=dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtypes.dtype | None = None) -> Tensor:
    d = _softmax_dim("softmin", input.dim(), _stacklevel) if dim is None else dim
    return softmax(-input, d, dtype=dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtypes.dtype | None = None
) -> Tensor:
    d = _softmax_dim("log_softmax", input.dim(), _stacklevel) if dim is None else dim
    return input.log_softmax(d) if dtype is None else input.log_softmax(d, dtype=dtype)


# -- dropout


def _check_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero elements with probability `p`, scale the others; which ones is not what PyTorch would choose."""
    _check_probability(p)
    require_tensors("dropout", input=input)
    return FUNCTIONS["dropout_" if inplace else "dropout"](input, p, training)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of (batch, channels, height, width)."""
    _check_probability(p)
    if input.dim() not in (3, 4):
        warnings.warn(
            f"dropout2d: Received a {input.dim()}-D input to dropout2d, which is deprecated and will result in an "
            "error in a future release. To retain the behavior and silence this warning, please use dropout instead. "
            "Note that dropout2d exists to provide channel-wise dropout on inputs with 2 spatial dimensions, a "
            "channel dimension, and an optional batch dimension (i.e. 3D or 4D inputs).",
            stacklevel=2,
        )
    if input.dim() == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired "
            "- input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a "
            "future release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain "
            "the 1D channel-wise dropout behavior, please switch to using dropout1d instead.",
            stacklevel=2,
        )
    return FUNCTIONS["feature_dropout_" if inplace else "feature_dropout"](input, p, training)


# -- embedding


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of `weight` by the integers in `input`; the row `padding_idx` gets no gradient."""
    _tensor("embedding", "indices", 2, input)
    if padding_idx is not None:
        rows = weight.size(0)
        if (padding_idx > 0 and padding_idx >= rows) or padding_idx < -rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx = padding_idx + rows if padding_idx < 0 else padding_idx
    else:
        padding_idx = -1
    if max_norm is not None:
        input = input.contiguous()
        with no_grad():
            _embed.embedding_renorm(weight, input, max_norm, norm_type)
    return _embed.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sums, means or maxima of rows of `weight`, one for each bag.

    The bags are the rows of a 2-D input, or begin at the offsets of a 1-D one. ValueError or RuntimeError if they don't
    fit together.
    """
    if weight.dtype == dtypes.int64 and input.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
            "deprecated, and should now be `embedding_bag(input, weight, ...)`.",
            stacklevel=2,
        )
        weight, input = input, weight
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the "
            f"same shape as the input ({input.shape})"
        )
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {type(offsets)}"
            )
        rows, length = input.shape
        starts = np.arange(0, input.numel(), length) if length else np.zeros(rows, np.int64)
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
        starts = offsets._array
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
            f"mode='{mode}'). Please open a feature request on GitHub."
        )
    count = weight.size(0)
    padding = -1
    if padding_idx is not None:
        if not -count <= padding_idx < count:
            raise RuntimeError(
                f"padding_idx must be within the number of embeddings, -{count} through {count - 1}, but got "
                f"{padding_idx}"
            )
        padding = padding_idx % count
    if include_last_offset and not starts.size:
        raise RuntimeError("include_last_offset: number of offsets should be at least 1")
    if input.numel() and not (int(input.min()) >= 0 and int(input.max()) < count):
        bad = next(int(i) for i in input._array if not 0 <= i < count)
        raise RuntimeError(
            f"embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {bad}"
        )  # fmt: skip
    if max_norm is not None:
        with no_grad():
            _embed.embedding_renorm(weight, input, max_norm, norm_type)
    indices = input._array
    bags, bag_count = _embed.bag_numbers(indices, starts, include_last_offset)
    return _embed.embedding_bags(
        weight, indices, bags, bag_count, mode, padding, scale_grad_by_freq, per_sample_weights
    )  # fmt: skip


# -- normalization


def _check_batch(size: Sequence[int]) -> None:
    if size[0] * math.prod(size[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize each channel (dimension 1), by the batch's statistics in training, else by running ones."""
    if training:
        _check_batch(input.size())
    return _norm.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize each channel of each sample."""
    if use_input_stats and math.prod(input.size()[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.size()}")
    return _norm.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize over the last dimensions, which are to be `normalized_shape`."""
    if isinstance(normalized_shape, int):
        raise TypeError("layer_norm(): argument 'normalized_shape' (position 2) must be tuple of ints, not int")
    return _layer_norm.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize groups of channels of each sample."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    size = input.size()
    _check_batch([size[0] * size[1] // num_groups, num_groups, *size[2:]])
    return _norm.group_norm(input, num_groups, weight, bias, eps)


# -- pooling


def unfold(input: Tensor, kernel_size: object, dilation: object = 1, padding: object = 0, stride: object = 1) -> Tensor:
    """Windows as columns: (batch, channels * kernel, positions)."""
    geometry = [_conv.per_dimension(v, 2) for v in (kernel_size, dilation, padding, stride)]
    return im2col(input, *geometry)


def fold(
    input: Tensor,
    output_size: object,
    kernel_size: object,
    dilation: object = 1,
    padding: object = 0,
    stride: object = 1,
) -> Tensor:
    """The adjoint of unfold: columns summed where windows overlap."""
    geometry = [_conv.per_dimension(v, 2) for v in (output_size, kernel_size, dilation, padding, stride)]
    return col2im(input, *geometry)


# -- losses


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Minus the scores (batch, classes, ...) that the class indices (batch, ...) name."""
    number = _reduction(reduction, size_average, reduce)
    return _loss.nll_loss_nd(input, target, weight, number, ignore_index)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross entropy of scores (batch, classes, ...) with class indices (batch, ...) or probabilities."""
    _tensor("cross_entropy_loss", "target", 2, target)
    number = _reduction(reduction, size_average, reduce)
    return _loss.cross_entropy_loss(input, target, weight, number, ignore_index, label_smoothing)


def _broadcast(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )
    expanded = FUNCTIONS["broadcast_tensors"](input, target)
    return expanded[0], expanded[1]


def _weighted(values: Tensor, weight: Tensor | None, reduction: int) -> Tensor:
    if weight is not None:
        values = values * weight
    if reduction == NONE:
        return values
    if reduction == SUM:
        return values.sum()
    return values.mean() if weight is None else values.sum() / weight.sum()


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Squared differences."""
    number = _reduction(reduction, size_average, reduce)
    expanded = _broadcast(input, target)
    if weight is not None:
        return _weighted(_loss.mse_loss(*expanded, NONE), weight, number)
    return _loss.mse_loss(*expanded, number)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Absolute differences."""
    number = _reduction(reduction, size_average, reduce)
    expanded = _broadcast(input, target)
    return _weighted((expanded[0] - expanded[1]).abs(), weight, number)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Quadratic below `beta`, linear above."""
    number = _reduction(reduction, size_average, reduce)
    expanded = _broadcast(input, target)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return _loss.smooth_l1_loss(*expanded, number, beta)


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Quadratic below `delta`, linear with slope `delta` above."""
    number = _reduction(reduction)
    expanded = _broadcast(input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is not None:
        return _weighted(_loss.huber_loss(*expanded, NONE, delta), weight, number)
    return _loss.huber_loss(*expanded, number, delta)


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Cross entropy of probabilities with targets between 0 and 1, of the same shape."""
    number = _reduction(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )
    if weight is not None:
        weight = weight.expand(dtypes.broadcast_shapes(target._array.shape, weight._array.shape))
    _loss.refuse_gradient("binary_cross_entropy", weight=weight)
    return _loss.binary_cross_entropy(input, target, weight, number)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Cross entropy of sigmoid(input) with targets between 0 and 1, of the same shape."""
    number = _reduction(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    _loss.refuse_gradient("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    return _loss.binary_cross_entropy_with_logits(input, target, weight, pos_weight, number)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """target * (log target - input), for `input` of log probabilities."""
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
            stacklevel=2,
        )
    number = _reduction("sum" if reduction == "batchmean" else reduction, size_average, reduce)
    for operand in (input, target):
        if not operand.is_floating_point():
            kind = "Complex" if operand.is_complex() else "Integral"
            raise RuntimeError(f"kl_div: {kind} inputs not supported.")
    if log_target:
        values = target.exp() * (target - input)
    else:
        values = FUNCTIONS["xlogy"](target, target) - target * input
    found = _reduced(values, number)
    return found / input.size()[0] if reduction == "batchmean" and input.dim() else found


# -- similarity and attention


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along `dim`."""
    common = dtypes.BY_CHAR[dtypes.result_type(x1._array, x2._array).char]
    if not common.is_floating_point:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {common.scalar_name}")
    shape = dtypes.broadcast_shapes(x1._array.shape, x2._array.shape)
    unit, same_shape = [], x1._array.shape == x2._array.shape
    for x in (x1, x2):
        given = x if x.is_floating_point() else x.to(common)
        expanded = given if same_shape else given.expand(shape)
        length = FUNCTIONS["linalg_vector_norm"](expanded, 2, dim, True).clone()
        with no_grad():
            length.clamp_min_(eps)
        unit.append((expanded, length))
    (a, a_length), (b, b_length) = unit
    return ((a / a_length) * (b / b_length)).sum(dim)


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    require_tensors("pairwise_distance", x1=x1, x2=x2)
    away = add_scalar(x1 - x2, eps)
    found: Tensor = norm_along(away, p, away.dim() - 1, keepdim)
    return found


def __getattr__(name: str) -> Any:
    if name in ("_Reduction",):
        return late_module(f"nn.{name.lower()}")
    from ..core.supported_names import missing

    return missing("torch.nn.functional", name)


__all__ = ["avg_pool1d", "avg_pool2d", "avg_pool3d", "interpolate", "pad", "scaled_dot_product_attention"]
