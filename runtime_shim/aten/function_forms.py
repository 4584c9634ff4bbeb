"""Functions of `torch` that are other functions in another form: losses with their reduction as a number, what networks
have under their own name, factories by the order of dimensions, and questions about tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.array_kinds import elementwise
from ..core.device import check_device
from ..core.dtypes import Array
from ..core.function_table import ATEN_ALONE, FUNCTIONS
from ..core.late_modules import late_module
from ..core.tensor import Tensor, attach, new_tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED
from ..dispatch.registration import composite, inner_op, op, publish
from .indexing import index
from .networks.activations import require_floating
from .slicing_views import slice_


def _zero_between(grad_output: Any, self: Any, lambd: float) -> Array:
    number = self.dtype.type
    between = (self >= number(-lambd)) & (self <= number(lambd))
    return elementwise(np.where(between, grad_output.dtype.type(0), grad_output), grad_output, self)


def _gradient(name: str) -> Any:
    def again(grad: Tensor, self: Tensor, lambd: float) -> Tensor:
        found: Tensor = made(grad, self, lambd)
        return found

    made = inner_op(f"{name}_backward", grad_output=again, self=lambda grad: FUNCTIONS["zeros_like"](grad))(
        _zero_between
    )
    return made


hardshrink_backward, softshrink_backward = _gradient("hardshrink"), _gradient("softshrink")


@op(
    "hardshrink",
    computes=ANY_DTYPE,
    out=RESIZED,
    self=lambda grad, self, lambd: hardshrink_backward(grad, self, lambd),
)
def hardshrink(self: Array, lambd: float = 0.5) -> Array:
    """Zero between -lambd and lambd."""
    require_floating(self, "hardshrink_cpu")
    return _zero_between(self, self, lambd)


@inner_op("softshrink", self=lambda grad, self, lambd: softshrink_backward(grad, self, lambd))
def softshrink(self: Array, lambd: float = 0.5) -> Array:
    """Moved by lambd towards zero. RuntimeError for a lambd that is negative or that the dtype doesn't have."""
    require_floating(self, "softshrink_check")
    largest = float(np.finfo(self.dtype).max)
    if not 0 <= lambd <= largest:
        raise RuntimeError(
            f"lambda must be in range [0, {largest:g}] for input dtype {dtypes.of(self).scalar_name}, "
            f"but found {lambd:g}"
        )
    number = self.dtype.type(lambd)
    below = np.where(self < -number, self + number, self * self.dtype.type(0))
    return elementwise(np.where(self > number, self - number, below), self)


_REDUCTIONS = ("none", "mean", "sum")


def _networks() -> Any:
    return late_module("nn.functional")


def _loss(name: str, names: Sequence[str], defaults: dict[str, Any]) -> None:
    """`torch.<name>`: the parameters of the loss in their order, the reduction as a number (0 none, 1 mean, 2 sum)."""

    def call(*args: object, **kwargs: object) -> Tensor:
        given = {**defaults, **dict(zip(names, args, strict=False)), **kwargs}
        missing = [n for n in names if n not in given]
        if missing:
            raise TypeError(f'{name}() missing 1 required positional arguments: "{missing[0]}"')
        if not isinstance(given["reduction"], str):  # C++ gives its name
            given["reduction"] = _REDUCTIONS[given["reduction"]]
        found: Tensor = getattr(_networks(), name)(**given)
        return found

    publish(name, call, method=False)


_TWO = ("input", "target")
_loss("kl_div", (*_TWO, "reduction"), {"reduction": 0, "log_target": False})
_loss("margin_ranking_loss", ("input1", "input2", "target", "margin", "reduction"), {"margin": 0.0, "reduction": 0})
_loss("cosine_embedding_loss", ("input1", "input2", "target", "margin", "reduction"), {"margin": 0.0, "reduction": 0})
_loss(
    "triplet_margin_loss",
    ("anchor", "positive", "negative", "margin", "p", "eps", "swap", "reduction"),
    {"margin": 1.0, "p": 2.0, "eps": 1e-6, "swap": False, "reduction": 0},
)
_loss(
    "binary_cross_entropy_with_logits",
    (*_TWO, "weight", "pos_weight", "reduction"),
    {"weight": None, "pos_weight": None, "reduction": 0},
)
_loss(
    "ctc_loss",
    ("log_probs", "targets", "input_lengths", "target_lengths", "blank", "reduction", "zero_infinity"),
    {"blank": 0, "reduction": 0, "zero_infinity": False},
)


@composite("native_layer_norm", method=False)
def native_layer_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor, bias: Tensor, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Layer normalization, with the mean and the reciprocal of the standard deviation that it used."""
    found = _networks().layer_norm(input, normalized_shape, weight, bias, eps)
    dims = tuple(range(input.dim() - len(normalized_shape), input.dim()))
    with_dims = input.detach()
    mean = with_dims.mean(dims, keepdim=True)
    variance = with_dims.var(dims, correction=0, keepdim=True)
    return found, mean, (variance + eps).rsqrt()


# -- questions


@composite("is_signed", method=False)
def is_signed(input: Tensor) -> bool:
    return input.is_signed()


@composite("get_device", method=False)
def get_device(input: Tensor) -> int:
    return input.get_device()


for _name in ("is_sparse_csr", "is_ipu", "is_mtia", "is_maia", "is_xla", "is_vulkan"):
    attach(_name, False)


# -- histograms


# -- exchange with other libraries


class _Exchanged:
    """A capsule as numpy takes it."""

    def __init__(self, capsule: object) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: object) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


@composite("__dlpack_device__", function=False)
def _dlpack_device(self: Tensor) -> tuple[int, int]:
    """The kind of the device and its number: 1 is a CPU."""
    return 1, 0


@composite("__dlpack__", function=False)
def _dlpack(self: Tensor, **options: object) -> Any:
    """A capsule for other libraries, which shares the memory. BufferError if the tensor requires grad."""
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    return self._array.__dlpack__()


@composite("to_dlpack", method=False)
def to_dlpack(tensor: Tensor) -> Any:
    return tensor._array.__dlpack__()


@composite("from_dlpack", method=False)
def from_dlpack(ext_tensor: object, *, device: object = None, copy: bool | None = None) -> Tensor:
    """A tensor that shares the memory of another library's array, or of a capsule."""
    check_device(device)
    source = ext_tensor if hasattr(ext_tensor, "__dlpack__") else _Exchanged(ext_tensor)
    if isinstance(source, Tensor):
        found = source.detach()
    else:
        array = np.from_dlpack(source)
        found = new_tensor(_writable(array))
    return found.clone() if copy else found


def _writable(array: Any) -> Any:
    """numpy takes what is exchanged to be read-only; its owner doesn't."""
    if array.flags.writeable:
        return array
    import ctypes

    size = max(array.nbytes, 1)
    memory = (ctypes.c_char * size).from_address(array.__array_interface__["data"][0])
    found = np.ndarray(array.shape, array.dtype, memory, 0, array.strides)
    _OWNERS[id(memory)] = array
    import weakref

    weakref.finalize(memory, _OWNERS.pop, id(memory), None)
    return found


_OWNERS: dict[int, Any] = {}


def _index(self: Tensor, indices: Any) -> Tensor:
    """Index tensors alone, or None, at least one."""
    indices = tuple(indices.unbind() if isinstance(indices, Tensor) else indices)
    if not indices:
        raise IndexError("at least one index must be provided")
    found: Tensor = index(self, indices)
    return found


def _local_scalar_dense(self: Tensor) -> Any:
    return self.item()


def _to_copy(self: Tensor, *, dtype: object = None, memory_format: object = None, **options: object) -> Tensor:
    return self.to(dtype=dtype, copy=True, memory_format=memory_format)


ATEN_ALONE.update(
    index=_index,
    slice=slice_,
    softshrink=softshrink,
    _local_scalar_dense=_local_scalar_dense,
    _to_copy=_to_copy,
)
