"""Functions of `torch` that are other functions in another form: losses with their reduction as a number, what networks
have under their own name, factories by the order of dimensions, and questions about tensors.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.device import check_device
from ..core.function_table import FUNCTIONS
from ..core.return_types import return_type
from ..core.tensor import Tensor, attach, new_tensor
from ..dispatch.op_description import Computes
from ..dispatch.registration import composite, op, publish
from .spread import norm_except_dim
from .ufunc_makers import cast

_REDUCTIONS = ("none", "mean", "sum")


def _networks() -> Any:
    return importlib.import_module("guardfix.runtime_shim.nn.functional")


def _loss(name: str, names: Sequence[str], defaults: dict[str, Any]) -> None:
    """`torch.<name>`: the parameters of the loss in their order, the reduction as a number (0 none, 1 mean, 2 sum)."""

    def call(*args: Any, **kwargs: Any) -> Tensor:
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
_loss("hinge_embedding_loss", (*_TWO, "margin", "reduction"), {"margin": 1.0, "reduction": 0})
_loss("kl_div", (*_TWO, "reduction"), {"reduction": 0, "log_target": False})
_loss("margin_ranking_loss", ("input1", "input2", "target", "margin", "reduction"), {"margin": 0.0, "reduction": 0})
_loss("cosine_embedding_loss", ("input1", "input2", "target", "margin", "reduction"), {"margin": 0.0, "reduction": 0})
_loss("poisson_nll_loss", (*_TWO, "log_input", "full", "eps", "reduction"), {})
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


def _of_networks(name: str, own: str | None = None) -> None:
    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(_networks(), own or name)(*args, **kwargs)

    publish(name, call, method=False)


for _name in ("adaptive_avg_pool1d", "adaptive_max_pool1d"):
    _of_networks(_name)


@composite("native_layer_norm", method=False)
def native_layer_norm(
    input: Tensor, normalized_shape: Any, weight: Any, bias: Any, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Layer normalization, with the mean and the reciprocal of the standard deviation that it used."""
    found = _networks().layer_norm(input, normalized_shape, weight, bias, eps)
    dims = tuple(range(input.dim() - len(normalized_shape), input.dim()))
    with_dims = input.detach()
    mean = with_dims.mean(dims, keepdim=True)
    variance = with_dims.var(dims, correction=0, keepdim=True)
    return found, mean, (variance + eps).rsqrt()


@composite("_weight_norm", method=False)
def _weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> Tensor:
    return v * (g / norm_except_dim(v, 2, dim))


# -- questions
# ----------------------------------------------------------------------------------------------------------


@composite("is_signed", method=False)
def is_signed(input: Tensor) -> bool:
    return input.is_signed()


@composite("get_device", method=False)
def get_device(input: Tensor) -> int:
    return input.get_device()


@composite("is_distributed")
def is_distributed(self: Tensor) -> bool:
    return False


@composite("dim_order", function=False)
def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions from the one with the longest steps to the one with the shortest."""
    strides = self.stride()
    return tuple(sorted(range(self.dim()), key=lambda d: (-strides[d], d)))


for _name in ("is_sparse_csr", "is_ipu", "is_mtia", "is_maia", "is_xla", "is_vulkan"):
    attach(_name, False)


@composite("_assert_async", method=False)
def _assert_async(input: Tensor, assert_msg: str | None = None) -> None:
    """RuntimeError unless the one element is not zero."""
    if input.numel() != 1:
        amount = "no values" if not input.numel() else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {amount} is ambiguous")
    if not input._array.item():
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


@composite("nonzero_static")
def nonzero_static(self: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The first `size` places of elements that are not zero, one a row; rows that are left have `fill_value`."""
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    found = np.full((size, self.dim()), fill_value, np.int64)
    places = np.argwhere(self._array)[:size]
    found[: len(places)] = places
    return new_tensor(found)


# -- factories
# ----------------------------------------------------------------------------------------------------------


@composite("new_empty_strided", function=False)
def new_empty_strided(self: Tensor, size: Any, stride: Any, dtype: Any = None, **options: Any) -> Tensor:
    found: Tensor = FUNCTIONS["empty_strided"](size, stride, dtype=dtype or self.dtype, **options)
    return found


@composite("empty_permuted", method=False)
def empty_permuted(size: Sequence[int], physical_layout: Sequence[int], **options: Any) -> Tensor:
    """A tensor whose memory has its dimensions in that order."""
    if sorted(physical_layout) != list(range(len(size))):
        raise RuntimeError("Number of dimensions in the tensor input does not match the length of the physical layout")
    strides, step = [0] * len(size), 1
    for d in reversed(physical_layout):
        strides[d] = step
        step *= size[d]
    found: Tensor = FUNCTIONS["empty_strided"](size, strides, **options)
    return found


# -- functions of elements
# -----------------------------------------------------------------------------------------------


@op("i0", computes=Computes("bif"), inplace=True, self=lambda grad, self: grad * FUNCTIONS["special_i1"](self))
def i0(self: Any) -> Any:
    """The modified Bessel function of order 0."""
    target = self.dtype if self.dtype.kind == "f" else dtypes.get_default_dtype().numpy
    return cast(np.i0(self.astype(np.float64)).reshape(self.shape), target)


@composite("mvlgamma")
def mvlgamma(self: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension `p`."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    x = self if self.is_floating_point() else self.to(dtypes.get_default_dtype())
    terms = [(x - 0.5 * i).lgamma() for i in range(p)]
    found = terms[0]
    for term in terms[1:]:
        found = found + term
    return found + p * (p - 1) / 4 * float(np.log(np.pi))


# -- slopes and histograms
# --------------------------------------------------------------------------------------------------


@composite("gradient", method=False)
def gradient(input: Tensor, *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """The slopes along dimensions: central differences, at the edges one-sided ones of order `edge_order`.

    `spacing` is a number for all dimensions, one for each, or the coordinates along each. Source:
    pre_check_gradient in ATen/native/ReduceOps.cpp.
    """
    given = dim is not None
    dims = [dim] if isinstance(dim, int) else list(range(input.dim())) if dim is None else list(dim)
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    listed = isinstance(spacing, (list, tuple))
    if listed and len(spacing) != len(dims):
        wanted = (
            "expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the same length, "
            f"but got a spacing argument of length {len(spacing)} and a dim argument of length {len(dims)}."
            if given
            else "expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = "
            f"{input.dim()}', since dim argument was not given, but got a list of length {len(spacing)}"
        )
        raise RuntimeError(f"torch.gradient {wanted}")
    wrapped = [dtypes.wrap_dim(d, input.dim()) for d in dims]
    for d in wrapped:
        if wrapped.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        if input.size(d) < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    steps = list(spacing) if listed else [1.0 if spacing is None else spacing] * len(dims)
    return tuple(_slope(input, d, step, edge_order) for d, step in zip(wrapped, steps, strict=True))


def _slope(x: Tensor, d: int, step: Any, order: int) -> Tensor:
    count = x.size(d)
    places = step if isinstance(step, Tensor) else FUNCTIONS["arange"](count, dtype=dtypes.float64) * step
    gaps = places.detach().to(dtypes.float64)._array
    if len(gaps) != count:
        raise RuntimeError("torch.gradient expected each spacing to have as many elements as its dimension")
    widths = np.diff(gaps)

    def at(start: int, stop: int) -> Tensor:
        return x.narrow(d, start, stop - start)

    def weights(values: Any) -> Tensor:
        shape = [-1 if k == d else 1 for k in range(x.dim())]
        target = x.dtype if x.is_floating_point() or x.is_complex() else dtypes.get_default_dtype()
        return new_tensor(np.asarray(values, np.float64)).to(target).reshape(shape)

    left, right = widths[:-1], widths[1:]
    parts = []
    if order == 1:
        parts.append((at(1, 2) - at(0, 1)) / weights(widths[:1]))
    else:
        a, b = widths[0], widths[1]
        rows = (-(2 * a + b) / (a * (a + b)), (a + b) / (a * b), -a / (b * (a + b)))
        parts.append(_total([at(i, i + 1) * weights([w]) for i, w in enumerate(rows)]))
    if count > 2:
        parts.append(
            at(0, count - 2) * weights(-right / (left * (left + right)))
            + at(1, count - 1) * weights((right - left) / (left * right))
            + at(2, count) * weights(left / (right * (left + right)))
        )
    if order == 1:
        parts.append((at(count - 1, count) - at(count - 2, count - 1)) / weights(widths[-1:]))
    else:
        a, b = widths[-2], widths[-1]
        rows = (b / (a * (a + b)), -(a + b) / (a * b), (2 * b + a) / (b * (a + b)))
        parts.append(_total([at(count - 3 + i, count - 2 + i) * weights([w]) for i, w in enumerate(rows)]))
    found: Tensor = FUNCTIONS["cat"](parts, d)
    return found


def _total(parts: Sequence[Tensor]) -> Tensor:
    return functools.reduce(lambda one, other: one + other, parts)


_HISTOGRAM = return_type("histogram", "hist bin_edges")


@composite("histogram")
def histogram(
    self: Tensor, bins: Any, *, range: Any = None, weight: Tensor | None = None, density: bool = False
) -> Any:
    """How many elements are in each of the bins, and the bins' edges."""
    array = self._array.reshape(-1)
    edges = bins._array if isinstance(bins, Tensor) else bins
    weights = None if weight is None else weight._array.reshape(-1)
    if range is None and not isinstance(bins, Tensor) and array.size and array.min() == array.max():
        range = (float(array.min()) - 0.5, float(array.max()) + 0.5)
    counts, found = np.histogram(array, edges, range, density, weights)
    return _HISTOGRAM(new_tensor(counts.astype(array.dtype)), new_tensor(found.astype(array.dtype)))


# -- exchange with other libraries
# ------------------------------------------------------------------------------------------


class _Exchanged:
    """A capsule as numpy takes it."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


@composite("__dlpack_device__", function=False)
def _dlpack_device(self: Tensor) -> tuple[int, int]:
    """The kind of the device and its number: 1 is a CPU."""
    return 1, 0


@composite("__dlpack__", function=False)
def _dlpack(self: Tensor, **options: Any) -> Any:
    """A capsule for other libraries, which shares the memory. BufferError if the tensor requires grad."""
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    return self._array.__dlpack__()


@composite("to_dlpack", method=False)
def to_dlpack(tensor: Tensor) -> Any:
    return tensor._array.__dlpack__()


@composite("from_dlpack", method=False)
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
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
