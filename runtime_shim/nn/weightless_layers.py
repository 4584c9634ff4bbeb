"""Layers without weights: activations, pooling, dropout, losses. Each calls its function with its options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.function_table import AnyFunction
from ..core.tensor import Tensor
from . import functional as F
from ._reduction import legacy_get_string
from .module import Module

_REQUIRED = object()


def _bound(name: str, table: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a constructor that takes `table`, name to default. TypeError in Python's words."""
    if len(args) > len(table):
        raise TypeError(
            f"{name}.__init__() takes from 1 to {len(table) + 1} positional arguments but {len(args) + 1} were given"
        )
    given = dict(zip(table, args, strict=False))
    for key, value in kwargs.items():
        if key not in table or key in given:
            raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{key}'")
        given[key] = value
    for key, default in table.items():
        if default is _REQUIRED and key not in given:
            raise TypeError(f"{name}.__init__() missing 1 required positional argument: '{key}'")
    return {**table, **given}


def _layer(
    name: str,
    function: AnyFunction,
    options: dict[str, Any] | None = None,
    shown: Callable[[Any], str] | None = None,
) -> type[Module]:
    """A module class whose constructor takes `options` (name to default) and whose call hands them on."""
    table = options or {}
    public = next((key for key, value in vars(F).items() if value is function), None)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        Module.__init__(self)
        for key, value in _bound(name, table, args, kwargs).items():
            setattr(self, key, value)

    def forward(self: Tensor, *inputs: Tensor) -> Any:
        # By its name, since a tracer puts another function there.
        called = function if public is None else getattr(F, public)
        return called(*inputs, **{key: getattr(self, key) for key in table})

    def extra_repr(self: object) -> str:
        if shown is not None:
            return shown(self)
        return ", ".join(f"{key}={getattr(self, key)}" for key in table)

    made = type(
        name,
        (Module,),
        {"__init__": __init__, "forward": forward, "extra_repr": extra_repr, "__module__": __name__},
    )
    made.__doc__ = f"`{'Tensor' if public is None else 'nn.functional'}.{public or name.lower()}` as a layer."
    return made


def _inplace(self: Tensor) -> str:
    return "inplace=True" if self.inplace else ""


def _value_and_inplace(*keys: str) -> Callable[[Any], str]:
    def shown(self: Tensor) -> str:
        return ", ".join([f"{key}={getattr(self, key)}" for key in keys] + (["inplace=True"] if self.inplace else []))

    return shown


def _nothing(self: object) -> str:
    return ""


ReLU = _layer("ReLU", F.relu, {"inplace": False}, _inplace)
ReLU6 = _layer("ReLU6", F.relu6, {"inplace": False}, _inplace)
SiLU = _layer("SiLU", F.silu, {"inplace": False}, _inplace)
Mish = _layer("Mish", F.mish, {"inplace": False}, _inplace)
SELU = _layer("SELU", F.selu, {"inplace": False}, _inplace)
Hardswish = _layer("Hardswish", F.hardswish, {"inplace": False}, _nothing)
Hardsigmoid = _layer("Hardsigmoid", F.hardsigmoid, {"inplace": False}, _nothing)
Sigmoid = _layer("Sigmoid", F.sigmoid)
Tanh = _layer("Tanh", F.tanh)
LogSigmoid = _layer("LogSigmoid", F.logsigmoid)
Softsign = _layer("Softsign", F.softsign)
Tanhshrink = _layer("Tanhshrink", F.tanhshrink)
GELU = _layer("GELU", F.gelu, {"approximate": "none"}, lambda self: f"approximate={self.approximate!r}")
LeakyReLU = _layer(
    "LeakyReLU",
    F.leaky_relu,
    {"negative_slope": 0.01, "inplace": False},
    _value_and_inplace("negative_slope"),
)
ELU = _layer("ELU", F.elu, {"alpha": 1.0, "inplace": False}, _value_and_inplace("alpha"))
CELU = _layer("CELU", F.celu, {"alpha": 1.0, "inplace": False}, _value_and_inplace("alpha"))
Hardtanh = _layer(
    "Hardtanh",
    F.hardtanh,
    {"min_val": -1.0, "max_val": 1.0, "inplace": False},
    _value_and_inplace("min_val", "max_val"),
)
Threshold = _layer(
    "Threshold",
    F.threshold,
    {"threshold": _REQUIRED, "value": _REQUIRED, "inplace": False},
    _value_and_inplace("threshold", "value"),
)
Softplus = _layer("Softplus", F.softplus, {"beta": 1.0, "threshold": 20.0})
Softmax = _layer("Softmax", F.softmax, {"dim": None})
LogSoftmax = _layer("LogSoftmax", F.log_softmax, {"dim": None})
Softmin = _layer("Softmin", F.softmin, {"dim": None})
GLU = _layer("GLU", F.glu, {"dim": -1})


def _pool_options(**more: object) -> dict[str, Any]:
    return {"kernel_size": _REQUIRED, "stride": None, "padding": 0, **more}


def _with_stride(layer: type[Module], shown: Callable[[Any], str]) -> type[Module]:
    """PyTorch's pooling layers say the kernel's size where no stride was given."""
    plain = layer.__init__

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        plain(self, *args, **kwargs)
        if self.stride is None:
            self.stride = self.kernel_size

    layer.__init__ = __init__  # type: ignore[method-assign]
    layer.extra_repr = shown  # type: ignore[method-assign, assignment]
    return layer


def _max_shown(self: Tensor) -> str:
    return (
        f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
        f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
    )


def _avg_shown(self: Tensor) -> str:
    return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


_MAX = {"dilation": 1, "return_indices": False, "ceil_mode": False}
MaxPool1d = _with_stride(_layer("MaxPool1d", F.max_pool1d, _pool_options(**_MAX)), _max_shown)
MaxPool2d = _with_stride(_layer("MaxPool2d", F.max_pool2d, _pool_options(**_MAX)), _max_shown)
AvgPool1d = _with_stride(
    _layer("AvgPool1d", F.avg_pool1d, _pool_options(ceil_mode=False, count_include_pad=True)), _avg_shown
)
AvgPool2d = _with_stride(
    _layer(
        "AvgPool2d",
        F.avg_pool2d,
        _pool_options(ceil_mode=False, count_include_pad=True, divisor_override=None),
    ),
    _avg_shown,
)
AdaptiveAvgPool1d = _layer("AdaptiveAvgPool1d", F.adaptive_avg_pool1d, {"output_size": _REQUIRED})
AdaptiveAvgPool2d = _layer("AdaptiveAvgPool2d", F.adaptive_avg_pool2d, {"output_size": _REQUIRED})


class _DropoutNd(Module):
    """Zeroes elements in training; does nothing in evaluation."""

    _function: Any = None

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return type(self)._function(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Zeroes single elements."""

    _function = staticmethod(F.dropout)


class Dropout2d(_DropoutNd):
    """Zeroes whole channels."""

    _function = staticmethod(F.dropout2d)


Flatten = _layer("Flatten", lambda x, **dims: x.flatten(**dims), {"start_dim": 1, "end_dim": -1})
Unflatten = _layer(
    "Unflatten",
    lambda x, dim, unflattened_size: x.unflatten(dim, unflattened_size),
    {"dim": _REQUIRED, "unflattened_size": _REQUIRED},
)


class Upsample(Module):
    """`interpolate` as a layer."""

    def __init__(
        self,
        size: object = None,
        scale_factor: object = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        if isinstance(scale_factor, int):
            self.scale_factor = float(scale_factor)
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )

    def extra_repr(self) -> str:
        first = f"scale_factor={self.scale_factor!r}" if self.scale_factor is not None else f"size={self.size!r}"
        return f"{first}, mode={self.mode!r}"


class _Padding(Module):
    _mode = "constant"
    _sides = 4

    def __init__(self, padding: Any, value: float | None = None) -> None:
        super().__init__()
        self.padding = (padding,) * self._sides if isinstance(padding, int) else tuple(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode, self.value)

    def extra_repr(self) -> str:
        return str(self.padding)


class ZeroPad2d(_Padding):
    """Pads height and width with zeros."""


class ConstantPad2d(_Padding):
    """Pads height and width with a value."""

    def __init__(self, padding: object, value: float) -> None:
        super().__init__(padding, value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ReflectionPad2d(_Padding):
    """Pads height and width by reflection."""

    _mode = "reflect"


class ReplicationPad2d(_Padding):
    """Pads height and width with the border's values."""

    _mode = "replicate"


# -- losses


class _Loss(Module):
    """What all losses have: a reduction."""

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = legacy_get_string(size_average, reduce)
        self.reduction = reduction


class _WeightedLoss(_Loss):
    """A loss with a weight, which is a buffer."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


_OLD_REDUCTION: dict[str, Any] = {"size_average": None, "reduce": None, "reduction": "mean"}


def _loss(name: str, function: AnyFunction, **table: Any) -> type[_Loss]:
    """A loss class whose constructor takes `table`, name to default, and whose call hands on all but the old names."""
    base: type[_Loss] = _WeightedLoss if "weight" in table else _Loss
    of_base = table.keys() & {"weight", *_OLD_REDUCTION}
    handed_on = table.keys() - {"size_average", "reduce"}

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        given = _bound(name, table, args, kwargs)
        base.__init__(self, **{key: given.pop(key) for key in of_base})
        for key, value in given.items():
            if key == "pos_weight":
                self.register_buffer(key, value)
            else:
                setattr(self, key, value)

    def forward(self: Any, *tensors: Tensor, **named: Tensor) -> Any:
        return function(*tensors, **named, **{key: getattr(self, key) for key in handed_on})

    made = type(name, (base,), {"__init__": __init__, "forward": forward, "__module__": __name__})
    made.__doc__ = f"`nn.functional.{function.__name__}` as a layer."
    return made


MSELoss = _loss("MSELoss", F.mse_loss, **_OLD_REDUCTION)
L1Loss = _loss("L1Loss", F.l1_loss, **_OLD_REDUCTION)
SmoothL1Loss = _loss("SmoothL1Loss", F.smooth_l1_loss, **_OLD_REDUCTION, beta=1.0)
HuberLoss = _loss("HuberLoss", F.huber_loss, reduction="mean", delta=1.0)
KLDivLoss = _loss("KLDivLoss", F.kl_div, **_OLD_REDUCTION, log_target=False)
_OF_CLASSES = {"weight": None, "size_average": None, "ignore_index": -100, "reduce": None, "reduction": "mean"}
CrossEntropyLoss = _loss("CrossEntropyLoss", F.cross_entropy, **_OF_CLASSES, label_smoothing=0.0)
NLLLoss = _loss("NLLLoss", F.nll_loss, **_OF_CLASSES)
BCELoss = _loss("BCELoss", F.binary_cross_entropy, weight=None, **_OLD_REDUCTION)
BCEWithLogitsLoss = _loss(
    "BCEWithLogitsLoss", F.binary_cross_entropy_with_logits, weight=None, **_OLD_REDUCTION, pos_weight=None
)
