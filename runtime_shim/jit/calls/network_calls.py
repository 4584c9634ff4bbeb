"""Layers and losses: ops whose Python form is in `nn.functional`, with another order of arguments."""

from __future__ import annotations

from typing import Any

from .call_registry import Arguments, CallFunction, reduction
from .tensor_calls import BackendLacks, adapter, backend_function, function_for_call


@adapter("batch_norm")
def _batch_norm(arguments: Arguments) -> CallFunction:
    function = function_for_call(arguments, "batch_norm")

    def batch_norm(
        x: Any,
        weight: Any,
        bias: Any,
        mean: Any,
        var: Any,
        training: bool,
        momentum: float,
        eps: float,
        cudnn: bool,
    ) -> Any:
        return function(x, mean, var, weight, bias, training, momentum, eps)

    return batch_norm


@adapter("instance_norm")
def _instance_norm(arguments: Arguments) -> CallFunction:
    function = function_for_call(arguments, "instance_norm")

    def instance_norm(
        x: Any,
        weight: Any,
        bias: Any,
        mean: Any,
        var: Any,
        use_input: bool,
        momentum: float,
        eps: float,
        cudnn: bool,
    ) -> Any:
        return function(x, mean, var, weight, bias, use_input, momentum, eps)

    return instance_norm


@adapter("layer_norm")
def _layer_norm(arguments: Arguments) -> CallFunction:
    function = function_for_call(arguments, "layer_norm")
    return lambda x, shape, weight=None, bias=None, eps=1e-5, cudnn=True: function(x, shape, weight, bias, eps)


@adapter("group_norm")
def _group_norm(arguments: Arguments) -> CallFunction:
    function = function_for_call(arguments, "group_norm")
    return lambda x, groups, weight=None, bias=None, eps=1e-5, cudnn=True: function(x, groups, weight, bias, eps)


@adapter("embedding")
def _embedding(arguments: Arguments) -> CallFunction:
    function = function_for_call(arguments, "embedding")

    def embedding(
        weight: Any,
        indices: Any,
        padding_idx: int = -1,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Any:
        keywords: dict[str, Any] = {}
        if padding_idx != -1:
            keywords["padding_idx"] = padding_idx
        if scale_grad_by_freq:
            keywords["scale_grad_by_freq"] = True
        return function(indices, weight, **keywords)

    return embedding


@adapter("embedding_renorm_")
def _embedding_renorm(arguments: Arguments) -> CallFunction:
    return backend_function(arguments.backend, "embedding_renorm_")


@adapter("_convolution")
def _convolution(arguments: Arguments) -> CallFunction:
    # conv2d is what models have; the others are looked up when a tensor of their rank comes by.
    backend_function(arguments.backend, "conv2d", "nn.functional.conv2d")

    def convolution(
        x: Any,
        weight: Any,
        bias: Any,
        stride: list[int],
        padding: list[int],
        dilation: list[int],
        transposed: bool,
        output_padding: list[int],
        groups: int,
        *flags: bool,
    ) -> Any:
        rank = weight.dim() - 2
        name = f"conv_transpose{rank}d" if transposed else f"conv{rank}d"
        try:
            function = backend_function(arguments.backend, name, f"nn.functional.{name}")
        except BackendLacks as error:
            raise NotImplementedError(f"{error} is not supported here") from error
        if transposed:
            return function(x, weight, bias, stride, padding, output_padding, groups, dilation)
        return function(x, weight, bias, stride, padding, dilation, groups)

    return convolution


@adapter("convolution")
def _plain_convolution(arguments: Arguments) -> CallFunction:
    return _convolution(arguments)


def _conv_transpose(name: str) -> None:
    @adapter(name)
    def make(arguments: Arguments) -> CallFunction:
        return backend_function(arguments.backend, name, f"nn.functional.{name}")


for _name in ("conv_transpose2d", "conv_transpose3d"):
    _conv_transpose(_name)


@adapter("_convolution_mode")
def _convolution_mode(arguments: Arguments) -> CallFunction:
    backend_function(arguments.backend, "conv2d", "nn.functional.conv2d")

    def convolution(x: Any, weight: Any, bias: Any, stride: Any, padding: str, dilation: Any, groups: int) -> Any:
        name = f"conv{weight.dim() - 2}d"
        function = backend_function(arguments.backend, name, f"nn.functional.{name}")
        return function(x, weight, bias, stride, padding, dilation, groups)

    return convolution


def _max_pool(name: str, indices: bool) -> None:
    public = name.removesuffix("_with_indices")

    @adapter(name)
    def make(arguments: Arguments) -> CallFunction:
        function = function_for_call(arguments, public)

        def max_pool(
            x: Any,
            kernel: Any,
            stride: Any = (),
            padding: Any = 0,
            dilation: Any = 1,
            ceil_mode: bool = False,
        ) -> Any:
            keywords: dict[str, Any] = {"return_indices": True} if indices else {}
            if ceil_mode:
                keywords["ceil_mode"] = True
            return function(x, kernel, stride or None, padding, dilation, **keywords)

        return max_pool


for _rank in (1, 2, 3):
    _max_pool(f"max_pool{_rank}d", False)
    _max_pool(f"max_pool{_rank}d_with_indices", True)


def _avg_pool(name: str) -> None:
    @adapter(name)
    def make(arguments: Arguments) -> CallFunction:
        function = function_for_call(arguments, name)

        def avg_pool(x: Any, kernel: Any, stride: Any = (), padding: Any = 0, *more: Any) -> Any:
            return function(x, kernel, stride or None, padding, *more)

        return avg_pool


for _rank in (1, 2, 3):
    _avg_pool(f"avg_pool{_rank}d")


def _adaptive_max_pool(name: str) -> None:
    @adapter(name)
    def make(arguments: Arguments) -> CallFunction:
        function = function_for_call(arguments, name)
        return lambda x, size: function(x, size, return_indices=True)


for _rank in (1, 2, 3):
    _adaptive_max_pool(f"adaptive_max_pool{_rank}d")


def _dropout(name: str, public: str, in_place: bool) -> None:
    @adapter(name)
    def make(arguments: Arguments) -> CallFunction:
        function = function_for_call(arguments, public)
        keywords: dict[str, Any] = {"inplace": True} if in_place else {}
        return lambda x, p, train: function(x, p, train, **keywords)


for _name, _public in {
    "dropout": "dropout",
    "feature_dropout": "dropout2d",
    "alpha_dropout": "alpha_dropout",
}.items():
    _dropout(_name, _public, False)
    _dropout(f"{_name}_", _public, True)


def _in_place_activation(name: str) -> None:
    """Activations whose in-place form is, in Python, a keyword or a function of its own."""

    @adapter(f"{name}_")
    def make(arguments: Arguments) -> CallFunction:
        try:
            return backend_function(arguments.backend, f"nn.functional.{name}_", f"{name}_", f"Tensor.{name}_")
        except BackendLacks:
            function = function_for_call(arguments, name)
            return lambda x, *values: function(x, *values, inplace=True)


for _name in [
    "elu",
    "selu",
    "celu",
    "leaky_relu",
    "silu",
    "mish",
    "hardtanh",
    "hardswish",
    "hardsigmoid",
    "relu6",
    "threshold",
]:
    _in_place_activation(_name)


# Losses: `reduction` is an integer in the schema.


def _loss(op_name: str, public: str, reduction_at: int, more: tuple[str, ...] = ()) -> None:
    """A loss whose schema is (input, target, ..., reduction, more...)."""

    @adapter(op_name)
    def make(arguments: Arguments) -> CallFunction:
        function = function_for_call(arguments, public)
        before = ("weight", "pos_weight")[: reduction_at - 2]

        def loss(*values: Any, **given: Any) -> Any:
            keywords = dict(given)
            for name, value in zip(before, values[2:reduction_at], strict=False):
                if value is not None:
                    keywords[name] = value
            if len(values) > reduction_at:
                keywords["reduction"] = reduction(values[reduction_at])
            keywords.update(zip(more, values[reduction_at + 1 :], strict=False))
            return function(values[0], values[1], **keywords)

        return loss


_loss("mse_loss", "mse_loss", 2)
_loss("l1_loss", "l1_loss", 2)
_loss("smooth_l1_loss", "smooth_l1_loss", 2, ("beta",))
_loss("huber_loss", "huber_loss", 2, ("delta",))
_loss("kl_div", "kl_div", 2)
_loss("binary_cross_entropy", "binary_cross_entropy", 3)
_loss("binary_cross_entropy_with_logits", "binary_cross_entropy_with_logits", 4)
_loss("nll_loss", "nll_loss", 3, ("ignore_index",))
_loss("nll_loss_nd", "nll_loss", 3, ("ignore_index",))
_loss("cross_entropy_loss", "cross_entropy", 3, ("ignore_index", "label_smoothing"))


def _margin_loss(op_name: str, inputs: int, *options: str) -> None:
    """A loss of several inputs, then options, then the reduction."""

    @adapter(op_name)
    def make(arguments: Arguments) -> CallFunction:
        function = function_for_call(arguments, op_name)

        def loss(*values: Any) -> Any:
            keywords = dict(zip(options, values[inputs:], strict=False))
            if len(values) > inputs + len(options):
                keywords["reduction"] = reduction(values[-1])
            return function(*values[:inputs], **keywords)

        return loss


_margin_loss("margin_ranking_loss", 3, "margin")
_margin_loss("cosine_embedding_loss", 3, "margin")
_margin_loss("triplet_margin_loss", 3, "margin", "p", "eps", "swap")


@adapter("im2col")
def _unfold(arguments: Arguments) -> CallFunction:
    function = function_for_call(arguments, "unfold")
    return lambda x, size, dilation, padding, stride: function(x, size, dilation, padding, stride)


@adapter("col2im")
def _fold(arguments: Arguments) -> CallFunction:
    function = function_for_call(arguments, "fold")
    return lambda x, out, size, dilation, padding, stride: function(x, out, size, dilation, padding, stride)


# Interpolation: one op per rank and mode.


def _upsample(op_name: str, mode: str, align: bool) -> None:
    @adapter(op_name)
    def make(arguments: Arguments) -> CallFunction:
        function = function_for_call(arguments, "interpolate")

        def upsample(x: Any, size: Any, *values: Any) -> Any:
            rest = list(values)
            keywords: dict[str, Any] = {"mode": mode}
            if align:
                keywords["align_corners"] = rest.pop(0)
            factors = rest[0] if rest else None
            return function(x, size=size, scale_factor=None if size is not None else factors, **keywords)

        return upsample


for _name, _mode, _align in (
    ("upsample_nearest1d", "nearest", False),
    ("upsample_nearest2d", "nearest", False),
    ("upsample_nearest3d", "nearest", False),
    ("upsample_linear1d", "linear", True),
    ("upsample_bilinear2d", "bilinear", True),
    ("upsample_trilinear3d", "trilinear", True),
    ("upsample_bicubic2d", "bicubic", True),
):
    _upsample(_name, _mode, _align)
