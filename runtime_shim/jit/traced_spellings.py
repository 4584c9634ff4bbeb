"""How calls of the public functions are spelled in TorchScript: the op, and its arguments in the order of its schema.

Schemas: `aten/src/ATen/native/native_functions.yaml` of 2.13. What has no spelling here is looked into while it is
traced, for it may be made of what has one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import dtypes
from .archived_tensors import DTYPE_CODES
from .calls.call_registry import LISTS, RENAMED, SAME

Spelled = tuple[Any, ...] | None
"""The name of an op and its positional arguments, or None where a call has no spelling."""
Spelling = Callable[..., Spelled]

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def _activation(op: str, *defaults: Any) -> Spelling:
    def spell(input: Any, *values: Any, inplace: bool = False) -> Spelled:
        return (op + "_" * bool(inplace), input, *values, *defaults[len(values) :])

    return spell


def _pool(op: str) -> Spelling:
    def spell(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Spelled:
        name = f"{op}_with_indices" if return_indices else op
        return name, input, kernel_size, kernel_size if stride is None else stride, padding, dilation, ceil_mode

    return spell


def _average_pool(op: str, rank: int) -> Spelling:
    def spell(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        *more: Any,
        divisor_override: Any = None,
    ) -> Spelled:
        divisor = more or ((divisor_override,) if rank > 1 else ())
        stride = kernel_size if stride is None else stride
        return op, input, kernel_size, stride, padding, ceil_mode, count_include_pad, *divisor

    return spell


def _sized(op: str, rank: int) -> Spelling:
    def spell(input: Any, output_size: Any, return_indices: bool = False) -> Spelled:
        if return_indices:
            return None
        size = [output_size] * rank if isinstance(output_size, int) else [*output_size]
        if None in size:
            size = [input.shape[i - rank] if extent is None else extent for i, extent in enumerate(size)]
        return op, input, size

    return spell


def _dropout(op: str) -> Spelling:
    def spell(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Spelled:
        return op + "_" * bool(inplace), input, float(p), training

    return spell


def _softmax(op: str) -> Spelling:
    def spell(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Spelled:
        return None if dim is None else (op, input, dim, dtype)

    return spell


def _simple_loss(op: str, *options: Any) -> Spelling:
    def spell(
        input: Any,
        target: Any,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        *more: Any,
        weight: Any = None,
        **given: Any,
    ) -> Spelled:
        if size_average is not None or reduce is not None or weight is not None:
            return None
        return op, input, target, _REDUCTIONS[reduction], *more, *given.values(), *options[len(more) + len(given) :]

    return spell


def _convolution(op: str) -> Spelling:
    return lambda input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1: (
        op, input, weight, bias, stride, padding, dilation, groups)  # fmt: skip


def _transposed(op: str) -> Spelling:
    return lambda input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1: (
        op, input, weight, bias, stride, padding, output_padding, groups, dilation)  # fmt: skip


def _batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Spelled:
    return "batch_norm", input, weight, bias, running_mean, running_var, training, float(momentum), float(eps), False


def _instance_norm(
    input: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Spelled:
    return ("instance_norm", input, weight, bias, running_mean, running_var, use_input_stats, float(momentum),
            float(eps), False)  # fmt: skip


def _embedding(
    input: Any,
    weight: Any,
    padding_idx: Any = None,
    max_norm: Any = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Spelled:
    if max_norm is not None:
        return None
    row = -1 if padding_idx is None else padding_idx % weight.size(0)
    return "embedding", weight, input, row, scale_grad_by_freq, sparse


def _cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Spelled:
    if size_average is not None or reduce is not None:
        return None
    return "cross_entropy_loss", input, target, weight, _REDUCTIONS[reduction], ignore_index, float(label_smoothing)


def _nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
) -> Spelled:
    if size_average is not None or reduce is not None:
        return None
    return "nll_loss_nd", input, target, weight, _REDUCTIONS[reduction], ignore_index


def _interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: Any = None,
    recompute_scale_factor: Any = None,
    antialias: bool = False,
) -> Spelled:
    rank = input.dim() - 2
    names = {"nearest": "nearest", "linear": "linear", "bilinear": "bilinear", "trilinear": "trilinear",
             "bicubic": "bicubic"}  # fmt: skip
    if mode not in names or antialias or recompute_scale_factor:
        return None
    sizes = None if size is None else [size] * rank if isinstance(size, int) else [*size]
    factors = None
    if scale_factor is not None:
        factors = [
            float(f) for f in (scale_factor if isinstance(scale_factor, (list, tuple)) else [scale_factor] * rank)
        ]
    aligned = () if mode == "nearest" else (bool(align_corners),)
    return f"upsample_{names[mode]}{rank}d", input, sizes, *aligned, factors


def _attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: Any = None,
    enable_gqa: bool = False,
) -> Spelled:
    if scale is not None or enable_gqa:
        return None
    return "scaled_dot_product_attention", query, key, value, attn_mask, float(dropout_p), is_causal


FUNCTIONAL: dict[str, Spelling] = {
    "linear": lambda input, weight, bias=None: ("linear", input, weight, bias),
    "relu": _activation("relu"),
    "relu6": _activation("relu6"),
    "elu": lambda input, alpha=1.0, inplace=False: ("elu" + "_" * inplace, input, alpha),
    "celu": lambda input, alpha=1.0, inplace=False: ("celu" + "_" * inplace, input, alpha),
    "selu": _activation("selu"),
    "hardshrink": lambda input, lambd=0.5: ("hardshrink", input, lambd),
    "softshrink": lambda input, lambd=0.5: ("softshrink", input, lambd),
    "leaky_relu": lambda input, negative_slope=0.01, inplace=False: (
        "leaky_relu" + "_" * inplace, input, negative_slope),
    "hardtanh": lambda input, min_val=-1.0, max_val=1.0, inplace=False: (
        "hardtanh" + "_" * inplace, input, min_val, max_val),
    "silu": _activation("silu"),
    "mish": _activation("mish"),
    "hardswish": _activation("hardswish"),
    "hardsigmoid": _activation("hardsigmoid"),
    "logsigmoid": _activation("log_sigmoid"),
    "softplus": lambda input, beta=1, threshold=20: ("softplus", input, beta, threshold),
    "threshold": lambda input, threshold, value, inplace=False: (
        "threshold" + "_" * inplace, input, threshold, value),
    "softmax": _softmax("softmax"),
    "log_softmax": _softmax("log_softmax"),
    "glu": lambda input, dim=-1: ("glu", input, dim),
    "batch_norm": _batch_norm,
    "instance_norm": _instance_norm,
    "layer_norm": lambda input, normalized_shape, weight=None, bias=None, eps=1e-5: (
        "layer_norm", input, [*normalized_shape], weight, bias, float(eps)),
    "group_norm": lambda input, num_groups, weight=None, bias=None, eps=1e-5: (
        "group_norm", input, num_groups, weight, bias, float(eps)),
    "dropout": _dropout("dropout"),
    "dropout2d": _dropout("feature_dropout"),
    "alpha_dropout": lambda input, p=0.5, training=False, inplace=False: (
        "alpha_dropout" + "_" * inplace, input, float(p), training),
    "embedding": _embedding,
    "interpolate": _interpolate,
    "pad": lambda input, pad, mode="constant", value=None: ("pad", input, [*pad], mode, value),
    "mse_loss": _simple_loss("mse_loss"),
    "l1_loss": _simple_loss("l1_loss"),
    "smooth_l1_loss": _simple_loss("smooth_l1_loss", 1.0),
    "cross_entropy": _cross_entropy,
    "nll_loss": _nll_loss,
    "scaled_dot_product_attention": _attention,
    "pixel_shuffle": lambda input, upscale_factor: ("pixel_shuffle", input, upscale_factor),
    "pixel_unshuffle": lambda input, downscale_factor: ("pixel_unshuffle", input, downscale_factor),
    "unfold": lambda input, kernel_size, dilation=1, padding=0, stride=1: (
        "im2col", input, *(_pair(value) for value in (kernel_size, dilation, padding, stride))),
    **{f"conv{rank}d": _convolution(f"conv{rank}d") for rank in (1, 2, 3)},
    **{f"conv_transpose{rank}d": _transposed(f"conv_transpose{rank}d") for rank in (1, 2, 3)},
    **{f"max_pool{rank}d": _pool(f"max_pool{rank}d") for rank in (1, 2, 3)},
    **{f"avg_pool{rank}d": _average_pool(f"avg_pool{rank}d", rank) for rank in (1, 2, 3)},
    **{f"adaptive_{kind}_pool{rank}d": _sized(f"adaptive_{kind}_pool{rank}d", rank)
       for kind in ("avg", "max") for rank in (1, 2, 3)},
}  # fmt: skip
"""Functions of `torch.nn.functional`."""


def _pair(value: Any) -> list[int]:
    return [value, value] if isinstance(value, int) else [*value]


def _sizes(op: str) -> Spelling:
    """A method that takes a list of sizes or dimensions, or these one by one."""

    def spell(self: Any, *sizes: Any) -> Spelled:
        return op, self, [*sizes[0]] if len(sizes) == 1 and not isinstance(sizes[0], int) else [*sizes]

    return spell


def _view(self: Any, *sizes: Any, dtype: Any = None) -> Spelled:
    if dtype is not None or (len(sizes) == 1 and isinstance(sizes[0], dtypes.dtype)):
        return "view", self, dtype or sizes[0]
    return _sizes("view")(self, *sizes)


def _to(self: Any, *args: Any, **kwargs: Any) -> Spelled:
    target = next((value for value in (*args, *kwargs.values()) if isinstance(value, dtypes.dtype)), None)
    other = next((value for value in args if hasattr(value, "_array")), None)
    if other is not None:
        target = other.dtype
    return "to", self, self.dtype if target is None else target


def _as(target: dtypes.dtype) -> Spelling:
    return lambda self, *args, **kwargs: ("to", self, target)


def _split(self: Any, split_size: Any, dim: int = 0) -> Spelled:
    if isinstance(split_size, int):
        return "split", self, split_size, dim
    return "split_with_sizes", self, [*split_size], dim


def _reversed(op: str) -> Spelling:
    return lambda self, other: (op, other, self) if hasattr(other, "_array") else None


def _both(op: str) -> Spelling:
    return lambda self, other: (op, self, other)


_ARITHMETIC = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "pow": "pow"}
_OTHER_OPERATORS = {
    "radd": "add", "rmul": "mul", "rsub": "rsub", "matmul": "matmul", "floordiv": "floor_divide", "mod": "remainder",
    "lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "eq": "eq", "ne": "ne",
    "and": "__and__", "or": "__or__", "xor": "__xor__",
}  # fmt: skip
_OPERATORS: dict[str, Spelling] = {
    **{f"__{name}__": _both(op) for name, op in {**_ARITHMETIC, **_OTHER_OPERATORS}.items()},
    **{f"__i{name}__": _both(f"{op}_") for name, op in _ARITHMETIC.items()},
    "__rpow__": lambda self, other: ("pow", other, self),
    "__rmatmul__": _reversed("matmul"),
    "__neg__": lambda self: ("neg", self),
    "__abs__": lambda self: ("abs", self),
    "__invert__": lambda self: ("bitwise_not", self),
}  # fmt: skip

_OF_TENSORS: dict[str, Spelling] = {
    **_OPERATORS,
    **{name: _sizes(name) for name in ("reshape", "expand", "repeat", "permute", "flip", "tile")},
    "view": _view,
    "to": _to,
    "float": _as(dtypes.float32),
    "double": _as(dtypes.float64),
    "half": _as(dtypes.float16),
    "long": _as(dtypes.int64),
    "int": _as(dtypes.int32),
    "bool": _as(dtypes.bool_),
    "split": _split,
    "T": lambda self: ("numpy_T", self),
    "mT": lambda self: ("mT", self),
    "contiguous": lambda self, memory_format=None: ("contiguous", self),
    "clone": lambda self, memory_format=None: ("clone", self),
    "data": lambda self: ("detach", self),
    "softmax": lambda self, dim, dtype=None: ("softmax", self, dim, dtype),
    "log_softmax": lambda self, dim, dtype=None: ("log_softmax", self, dim, dtype),
}

_OF_TORCH: dict[str, Spelling] = {
    "permute": lambda input, dims: ("permute", input, [*dims]),
    "reshape": lambda input, shape: ("reshape", input, [*shape]),
    "flip": lambda input, dims: ("flip", input, [*dims]),
    "split": lambda tensor, split_size_or_sections, dim=0: _split(tensor, split_size_or_sections, dim),
    "einsum": lambda equation, *operands: (
        "einsum", equation, [*(operands[0] if isinstance(operands[0], (list, tuple)) else operands)]),
    **{name: spell for name, spell in FUNCTIONAL.items() if name.startswith("conv")},
    "softmax": lambda input, dim, dtype=None: ("softmax", input, dim, dtype),
    "log_softmax": lambda input, dim, dtype=None: ("log_softmax", input, dim, dtype),
}  # fmt: skip

FACTORIES = frozenset("zeros ones empty full rand randn arange eye linspace".split())
"""Functions that make tensors of given sizes."""
_DROPOUTS = frozenset(["dropout", "alpha_dropout", "feature_dropout"])
_LIKE = frozenset("zeros_like ones_like empty_like full_like rand_like randn_like".split())
_NEW = frozenset("new_zeros new_ones new_empty new_full".split())
_GENERAL = SAME | LISTS | RENAMED.keys() | _LIKE | _NEW | FACTORIES | _DROPOUTS
_IN_FUNCTIONAL_TOO = frozenset("gelu tanh sigmoid prelu one_hot normalize cosine_similarity bilinear".split()) & SAME


def spelling(holder: str, name: str) -> Spelling | None:
    """How calls of a function are spelled; `holder` is `torch`, `Tensor` or `functional`. None for one that isn't."""
    table = {"functional": FUNCTIONAL, "Tensor": _OF_TENSORS, "torch": _OF_TORCH}[holder]
    found = table.get(name)
    if found is not None:
        return found
    if name not in (_IN_FUNCTIONAL_TOO if holder == "functional" else _GENERAL):
        return None
    if holder == "torch" and name in FACTORIES:
        return _factory(name)

    def spell(*args: Any, **kwargs: Any) -> Spelled:
        if "out" in kwargs:
            return None
        if "input" in kwargs:
            args, kwargs = (kwargs["input"], *args), {key: v for key, v in kwargs.items() if key != "input"}
        kwargs = {key: value for key, value in kwargs.items() if key not in ("generator", "requires_grad")}
        return (name, *args, kwargs) if kwargs else (name, *args)

    return spell


def _factory(name: str) -> Spelling:
    def spell(*args: Any, dtype: Any = None, device: Any = None, **kwargs: Any) -> Spelled:
        given = {"dtype": dtype, "layout": None, "device": device, "pin_memory": False}
        if name in ("zeros", "ones", "empty", "rand", "randn"):
            size = kwargs.get("size", args)
            if len(size) == 1 and not isinstance(size[0], int):
                size = size[0]
            return name, [*size], given
        return (name, *args, given)

    return spell


CODE_OF_DTYPE = {name: number for number, name in DTYPE_CODES.items()}
