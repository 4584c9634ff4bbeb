"""Layers and losses: ops whose Python form is in `nn.functional`, with another order of arguments."""

from __future__ import annotations

from typing import Any

from .call_registry import Arguments, CallFunction
from .named_arguments import call_by_names
from .tensor_calls import BackendLacks, adapter, backend_function, function_for_call

_BY_NAMES = {
    **dict.fromkeys(("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "nll_loss"), ""),
    **dict.fromkeys(("binary_cross_entropy", "binary_cross_entropy_with_logits", "margin_ranking_loss"), ""),
    **dict.fromkeys(("cosine_embedding_loss", "triplet_margin_loss"), ""),
    "nll_loss_nd": "nll_loss",
    "cross_entropy_loss": "cross_entropy",
    **dict.fromkeys(("batch_norm", "instance_norm", "layer_norm", "group_norm", "embedding"), ""),
    **{f"{kind}_pool{rank}d": "" for kind in ("max", "avg") for rank in (1, 2, 3)},
    "im2col": "unfold",
    "col2im": "fold",
    "dropout": "",
    "alpha_dropout": "",
    "feature_dropout": "dropout2d",
}
"""Ops that are functions of `nn.functional` with the same arguments, in another order or with more; under which name,
if that is another one.
"""


def _by_names(op: str, public: str, **more: object) -> None:
    @adapter(op)
    def make(arguments: Arguments) -> CallFunction:
        return call_by_names(op, function_for_call(arguments, public), **more)


for _op, _public in _BY_NAMES.items():
    _by_names(_op, _public or _op)
for _op in ("dropout", "alpha_dropout", "feature_dropout"):
    _by_names(f"{_op}_", _BY_NAMES[_op] or _op, inplace=True)
for _rank in (1, 2, 3):
    _by_names(f"max_pool{_rank}d_with_indices", f"max_pool{_rank}d", return_indices=True)
    _by_names(f"adaptive_max_pool{_rank}d", f"adaptive_max_pool{_rank}d", return_indices=True)


@adapter("embedding_renorm_")
def _embedding_renorm(arguments: Arguments) -> CallFunction:
    return backend_function(arguments.backend, "embedding_renorm_")


@adapter("_convolution", "convolution")
def _convolution(arguments: Arguments) -> CallFunction:
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
        function = function_for_call(arguments, f"conv_transpose{rank}d" if transposed else f"conv{rank}d")
        if transposed:
            return function(x, weight, bias, stride, padding, output_padding, groups, dilation)
        return function(x, weight, bias, stride, padding, dilation, groups)

    return convolution


@adapter("_convolution_mode")
def _convolution_mode(arguments: Arguments) -> CallFunction:
    return lambda x, weight, *rest: function_for_call(arguments, f"conv{weight.dim() - 2}d")(x, weight, *rest)


def _in_place_activation(name: str) -> None:
    """Activations whose in-place form is, in Python, a keyword or its own function."""

    @adapter(f"{name}_")
    def make(arguments: Arguments) -> CallFunction:
        try:
            return backend_function(arguments.backend, f"nn.functional.{name}_", f"{name}_", f"Tensor.{name}_")
        except BackendLacks:
            function = function_for_call(arguments, name)
            return lambda x, *values: function(x, *values, inplace=True)


for _name in "elu selu celu leaky_relu silu mish hardtanh hardswish hardsigmoid relu6 threshold".split():
    _in_place_activation(_name)


# Interpolation: one op per rank and mode.


def _upsample(op_name: str, mode: str, align: bool) -> None:
    @adapter(op_name)
    def make(arguments: Arguments) -> CallFunction:
        function = function_for_call(arguments, "interpolate")

        def upsample(x: object, size: object, *values: object) -> object:
            rest = list(values)
            keywords: dict[str, object] = {"mode": mode}
            if align:
                keywords["align_corners"] = rest.pop(0)
            factors = rest[0] if rest else None
            return function(x, size=size, scale_factor=None if size is not None else factors, **keywords)

        return upsample


for _rank, _modes in {1: "nearest linear", 2: "nearest bilinear bicubic", 3: "nearest trilinear"}.items():
    for _mode in _modes.split():
        _upsample(f"upsample_{_mode}{_rank}d", _mode, _mode != "nearest")
