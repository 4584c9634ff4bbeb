"""How calls of the public functions are spelled in TorchScript: the op, and its arguments in the order of its schema.

Schemas: `aten/src/ATen/native/native_functions.yaml` of 2.13. What has no spelling here is looked into while it is
traced, for it may be made of what has one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import dtypes
from ..nn import functional
from .archived_tensors import DTYPE_CODES
from .calls.call_registry import LISTS, RENAMED, takes_the_same
from .calls.named_arguments import spelled_by_names

Spelled = tuple[Any, ...] | None
"""The name of an op and its positional arguments, or None where a call has no spelling."""
Spelling = Callable[..., Spelled]


def _sized(op: str, rank: int) -> Spelling:
    def spell(input: Any, output_size: Any, return_indices: bool = False) -> Spelled:
        if return_indices:
            return None
        size = [output_size] * rank if isinstance(output_size, int) else [*output_size]
        if None in size:
            size = [input.shape[i - rank] if extent is None else extent for i, extent in enumerate(size)]
        return op, input, size

    return spell


def _softmax(op: str) -> Spelling:
    def spell(input: object, dim: object = None, _stacklevel: int = 3, dtype: object = None) -> Spelled:
        return None if dim is None else (op, input, dim, dtype)

    return spell


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


_SAME_NAMES = """
    linear relu relu6 elu hardshrink softshrink hardtanh softplus glu batch_norm instance_norm layer_norm group_norm
    dropout alpha_dropout embedding pad mse_loss l1_loss smooth_l1_loss scaled_dot_product_attention pixel_shuffle
    pixel_unshuffle conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d max_pool1d max_pool2d
    max_pool3d avg_pool1d avg_pool2d avg_pool3d celu hardsigmoid hardswish leaky_relu mish selu silu threshold
"""
_BY_NAMES = {
    **{name: name for name in _SAME_NAMES.split()},
    "logsigmoid": "log_sigmoid",
    "dropout2d": "feature_dropout",
    "cross_entropy": "cross_entropy_loss",
    "nll_loss": "nll_loss_nd",
}
"""Functions of `nn.functional` whose arguments have the names that the op's have, and that op."""


def _by_names(name: str) -> Spelling:
    function = getattr(functional, name)

    def spell(*args: object, **kwargs: object) -> Spelled:
        return spelled_by_names(_BY_NAMES[name], function, args, kwargs)

    return spell


FUNCTIONAL: dict[str, Spelling] = {
    "softmax": _softmax("softmax"),
    "log_softmax": _softmax("log_softmax"),
    "interpolate": _interpolate,
    "unfold": lambda input, kernel_size, dilation=1, padding=0, stride=1: (
        "im2col", input, *(_pair(value) for value in (kernel_size, dilation, padding, stride))),
    **{f"adaptive_{kind}_pool{rank}d": _sized(f"adaptive_{kind}_pool{rank}d", rank)
       for kind in ("avg", "max") for rank in (1, 2, 3)},
}  # fmt: skip
"""Functions of `torch.nn.functional` that are spelled otherwise."""


def _pair(value: Any) -> list[int]:
    return [value, value] if isinstance(value, int) else [*value]


def _sizes(op: str) -> Spelling:
    """A method that takes a list of sizes or dimensions, or these one by one."""

    def spell(self: object, *sizes: Any) -> Spelled:
        return op, self, [*sizes[0]] if len(sizes) == 1 and not isinstance(sizes[0], int) else [*sizes]

    return spell


def _view(self: object, *sizes: object, dtype: object = None) -> Spelled:
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
    "softmax": lambda input, dim, dtype=None: ("softmax", input, dim, dtype),
    "log_softmax": lambda input, dim, dtype=None: ("log_softmax", input, dim, dtype),
}  # fmt: skip

FACTORIES = frozenset("zeros ones empty full rand randn arange eye linspace".split())
"""Functions that make tensors of given sizes."""
_DROPOUTS = frozenset(["dropout", "alpha_dropout", "feature_dropout"])
_LIKE = frozenset("zeros_like ones_like empty_like full_like rand_like randn_like".split())
_NEW = frozenset("new_zeros new_ones new_empty new_full".split())
_GENERAL = LISTS | RENAMED.keys() | _LIKE | _NEW | FACTORIES | _DROPOUTS
_IN_FUNCTIONAL_TOO = frozenset("gelu tanh sigmoid prelu one_hot cosine_similarity bilinear".split())


def spelling(holder: str, name: str) -> Spelling | None:
    """How calls of a function are spelled; `holder` is `torch`, `Tensor` or `functional`. None for one that isn't."""
    table = {"functional": FUNCTIONAL, "Tensor": _OF_TENSORS, "torch": _OF_TORCH}[holder]
    found = table.get(name)
    if found is not None:
        return found
    if name in _BY_NAMES and (holder == "functional" or name.startswith("conv")):
        return _by_names(name)
    if not (name in _IN_FUNCTIONAL_TOO if holder == "functional" else name in _GENERAL or takes_the_same(name)):
        return None
    if holder == "torch" and name in FACTORIES:
        return _factory(name)

    def spell(*args: object, **kwargs: object) -> Spelled:
        if "out" in kwargs:
            return None
        if "input" in kwargs:
            args, kwargs = (kwargs["input"], *args), {key: v for key, v in kwargs.items() if key != "input"}
        kwargs = {key: value for key, value in kwargs.items() if key not in ("generator", "requires_grad")}
        return (name, *args, kwargs) if kwargs else (name, *args)

    return spell


def _factory(name: str) -> Spelling:
    def spell(*args: Any, dtype: object = None, device: object = None, **kwargs: Any) -> Spelled:
        given = {"dtype": dtype, "layout": None, "device": device, "pin_memory": False}
        if name in ("zeros", "ones", "empty", "rand", "randn"):
            size = kwargs.get("size", args)
            if len(size) == 1 and not isinstance(size[0], int):
                size = size[0]
            return name, [*size], given
        return (name, *args, given)

    return spell


CODE_OF_DTYPE = {name: number for number, name in DTYPE_CODES.items()}
