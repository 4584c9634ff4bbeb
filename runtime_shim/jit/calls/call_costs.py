"""What an op will cost, by its arguments, before it runs.

Most ops make about as many elements as their tensors have, broadcast. The table below has the others: those that make
tensors of any size out of numbers, and those that work more than once on each element.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from ...core.resource_budget import weight


class Cost(NamedTuple):
    """Elements that are made at most, and multiplications or the like that are done."""

    elements: float
    work: float = 0


Estimate = Callable[[Sequence[Any]], Any]
"""Gives a `Cost`, or a number that is both: the elements and the work."""

ESTIMATES: dict[str, Estimate] = {}
"""By the op's name in the table of ops, without the underscore of its in-place form."""

LARGEST = 1_000_000
"""Parts of a list or dict, counted as often as a walk meets them, that an op walks through."""


def cost_of(name: str, values: Sequence[object]) -> Cost:
    """The cost of an op of tensors. What does not fit an estimate is left to the op's own errors."""
    estimate = ESTIMATES.get(name.removesuffix("_"), ESTIMATES.get(name, _broadcast))
    try:
        found = estimate(values)
    except (TypeError, ValueError, IndexError, AttributeError, OverflowError, ZeroDivisionError):
        found = _broadcast(values)
    base = _broadcast(values)
    cost = found if isinstance(found, Cost) else Cost(found, found)
    return Cost(cost.elements, max(cost.work, base))


def parts_of(value: object) -> int:
    """The weight of a value that an op walks through, long texts and tensors included. Raises `LimitReached`."""
    return weight(value, LARGEST, _leaf)


def _leaf(value: object) -> int:
    if isinstance(value, str):
        return 1 + len(value) // 16
    return 1 + _numel(value) if _is_tensor(value) else 1


def _is_tensor(value: object) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")


def _numel(tensor: Any) -> int:
    return math.prod(tensor.shape)


def _tensors(values: Iterable[Any]) -> list[Any]:
    found = []
    for value in values:
        if _is_tensor(value):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [item for item in value if _is_tensor(item)]
    return found


def _broadcast(values: Sequence[Any]) -> float:
    """As many elements as the tensors have together, or broadcast where they can be."""
    tensors = _tensors(values)
    total = sum(map(_numel, tensors))
    shape: list[int] = []
    for tensor in tensors[:8]:
        other = list(tensor.shape)
        width = max(len(shape), len(other))
        pairs = zip([1] * (width - len(shape)) + shape, [1] * (width - len(other)) + other, strict=True)
        shape = []
        for a, b in pairs:
            if a != b and 1 not in (a, b):
                return total
            shape.append(b if a == 1 else a)
    return max(total, math.prod(shape))


def _ints(value: Any) -> list[int]:
    return [abs(int(item)) for item in value] if isinstance(value, (list, tuple)) else [abs(int(value))]


_E = TypeVar("_E", bound=Estimate)


def estimates(*names: str) -> Callable[[_E], _E]:
    def register(estimate: _E) -> _E:
        for name in names:
            ESTIMATES[name] = estimate
        return estimate

    return register


# Tensors out of numbers.


@estimates("zeros", "ones", "empty", "full", "rand", "randn", "randint", "empty_strided", "normal")
@estimates("new_zeros", "new_ones", "new_empty", "new_full", "resize", "as_strided")
def _of_size(values: Sequence[object]) -> float:
    sizes = next((value for value in values if isinstance(value, (list, tuple))), None)
    if sizes is None:
        return max([abs(value) for value in values if isinstance(value, int)], default=0) + _broadcast(values)
    return math.prod(_ints(sizes))


@estimates("arange", "range")
def _of_range(values: Sequence[object]) -> float:
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)][:3]
    start, end, step = {1: (0, *numbers, 1), 2: (*numbers, 1)}.get(len(numbers), numbers)
    return abs((end - start) / step)


@estimates("linspace", "logspace")
def _of_steps(values: Sequence[Any]) -> float:
    return abs(values[2])


@estimates("randperm", "hann_window", "hamming_window", "bartlett_window", "blackman_window")
def _of_count(values: Sequence[Any]) -> float:
    return abs(values[0])


@estimates("eye", "tril_indices", "triu_indices")
def _of_rows_and_columns(values: Sequence[Any]) -> float:
    rows = abs(values[0])
    return float(rows * (abs(values[1]) if len(values) > 1 and isinstance(values[1], int) else rows))


@estimates("tensor", "as_tensor")
def _of_data(values: Sequence[object]) -> float:
    return float(parts_of(values[0]))


# Tensors that grow.


@estimates("expand", "view", "reshape", "flatten", "t", "transpose", "permute", "detach", "select", "slice", "narrow")
@estimates("size", "dim", "numel", "squeeze", "unsqueeze", "unflatten", "diagonal", "view_as", "expand_as", "alias")
def _view(values: Sequence[object]) -> Cost:
    return Cost(0)


@estimates("repeat", "tile")
def _repeat(values: Sequence[object]) -> float:
    return _numel(values[0]) * math.prod(_ints(values[1]))


@estimates("repeat_interleave")
def _repeat_interleave(values: Sequence[Any]) -> float:
    if len(values) == 1 or values[1] is None:
        return float(values[0].sum().item())
    if _is_tensor(values[1]):
        longest = max([1, *values[0].shape])
        return _numel(values[0]) * max(1.0, float(values[1].sum().item()) / longest)
    return _numel(values[0]) * abs(values[1])


@estimates("pad", "constant_pad_nd", "reflection_pad1d", "reflection_pad2d", "replication_pad1d", "replication_pad2d")
def _pad(values: Sequence[Any]) -> float:
    shape = list(values[0].shape)
    for place, (before, after) in enumerate(zip(values[1][::2], values[1][1::2], strict=False), 1):
        shape[-place] += abs(before) + abs(after)
    return math.prod(shape)


@estimates("one_hot", "bincount")
def _classes(values: Sequence[Any]) -> float:
    count = values[-1] if len(values) > 1 and isinstance(values[-1], int) else 0
    largest = int(values[0].max().item()) + 1 if _numel(values[0]) else 0
    return max(count, largest) * (_numel(values[0]) + 1.0)


@estimates("diag", "diagflat", "diag_embed")
def _diagonal(values: Sequence[Any]) -> float:
    offset = max([0, *(abs(value) for value in values[1:2] if isinstance(value, int))])
    if values[0].dim() == 2 and len(values) < 3:
        return _numel(values[0]) + 0.0
    last = values[0].shape[-1] if values[0].dim() else 1
    return _numel(values[0]) // max(1, last) * (last + offset) ** 2.0


@estimates("meshgrid", "outer", "broadcast_tensors")
def _product(values: Sequence[object]) -> float:
    tensors = _tensors(values)
    return float(math.prod(map(_numel, tensors)) * max(1, len(tensors)))


@estimates("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d")
@estimates("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d")
def _resized(values: Sequence[Any]) -> float:
    sizes = _ints(values[1])
    return math.prod(values[0].shape[: -len(sizes)]) * math.prod(sizes)


def _upsampled(values: Sequence[object]) -> float:
    if values[1] is not None:
        return _resized(values)
    factors = next(value for value in reversed(values) if isinstance(value, (list, tuple)))
    return _numel(values[0]) * math.prod(max(1.0, float(factor)) for factor in factors)


for _mode in ("nearest1d", "nearest2d", "nearest3d", "linear1d", "bilinear2d", "trilinear3d", "bicubic2d"):
    ESTIMATES[f"upsample_{_mode}"] = _upsampled


@estimates("embedding")
def _embedding(values: Sequence[Any]) -> float:
    return _numel(values[1]) * float(values[0].shape[-1])


@estimates("index_select", "take_along_dim")
def _index_select(values: Sequence[Any]) -> float:
    dim = values[1] if isinstance(values[1], int) else 0
    index = _tensors(values)[1]
    return _numel(values[0]) / max(1, values[0].shape[dim]) * _numel(index)


@estimates("index", "index_put")
def _index(values: Sequence[Any]) -> float:
    indices = [value for value in values[1] if value is not None]
    left = [extent for place, extent in enumerate(values[0].shape) if values[1][place : place + 1] in ([], [None])]
    return _broadcast(indices) * math.prod(left)


@estimates("multinomial")
def _multinomial(values: Sequence[Any]) -> float:
    return float(_numel(values[0]) + values[1] * math.prod(values[0].shape[:-1]))


@estimates("histc")
def _histc(values: Sequence[Any]) -> float:
    return float(_numel(values[0]) + (values[1] if len(values) > 1 else 100))


@estimates("split", "chunk", "unbind", "tensor_split", "split_with_sizes", "unsafe_chunk", "unsafe_split")
@estimates("hsplit", "vsplit", "dsplit")
def _pieces(values: Sequence[Any]) -> Cost:
    # A tensor object takes some hundred bytes, and some microseconds.
    pieces = max([1, *values[0].shape])
    return Cost(pieces * 64, pieces * 5000)


@estimates("tolist", "str")
def _listed(values: Sequence[object]) -> Cost:
    return Cost(_numel(values[0]) * 8, _numel(values[0]) * 1000)


# More work than elements.


@estimates("quantile", "nanquantile")
def _quantile(values: Sequence[Any]) -> float:
    x, asked = values[:2]
    dim = values[2] if len(values) > 2 and isinstance(values[2], int) else None
    rows = 1 if dim is None else _numel(x) / max(1, x.shape[dim])
    return 3 * _numel(x) + 4 * rows * (_numel(asked) if _is_tensor(asked) else 1)


@estimates("mode")
def _most_frequent(values: Sequence[Any]) -> Cost:
    dim = values[1] if len(values) > 1 and isinstance(values[1], int) else -1
    rows = _numel(values[0]) / max(1, values[0].shape[dim] if values[0].dim() else 1)
    return Cost(2 * _numel(values[0]), 100 * _numel(values[0]) + 10_000 * rows)


@estimates("erfinv", "digamma", "polygamma", "special_zeta", "lgamma")
def _series(values: Sequence[object]) -> Cost:
    # Measured: 1.2 to 1.5 microseconds an element for the slowest of them, with several arrays on the way.
    return Cost(8 * _broadcast(values), 1500 * _broadcast(values))


@estimates("matmul", "mm", "bmm", "mv", "dot", "vdot", "addmm", "addmv", "baddbmm", "linear", "inner")
def _matmul(values: Sequence[Any]) -> Cost:
    tensors = _tensors(values)
    a, b = tensors[-2:] if len(tensors) != 3 or tensors[2].dim() > 1 else tensors[:2]
    inside = max(1, min(max([1, *a.shape[-2:]]), max([1, *b.shape[-2:]])))
    batch = max(math.prod(a.shape[:-2]), math.prod(b.shape[:-2]))
    rows = math.prod(a.shape[-2:-1])
    columns = max([1, *b.shape[-2:]])
    return Cost(batch * rows * columns, batch * rows * columns * inside)


@estimates("bilinear")
def _bilinear(values: Sequence[Any]) -> float:
    return float(_numel(values[0]) * values[2].shape[0] * values[2].shape[2])


@estimates("cdist")
def _cdist(values: Sequence[Any]) -> float:
    return float(_numel(values[0]) * values[1].shape[-2])


@estimates("tensordot")
def _tensordot(values: Sequence[Any]) -> float:
    a, b, dims = values[:3]
    summed = a.shape[a.dim() - dims :] if isinstance(dims, int) else [a.shape[dim] for dim in dims[0]]
    return _numel(a) * _numel(b) / max(1, math.prod(summed))


@estimates("einsum")
def _einsum(values: Sequence[Any]) -> float:
    equation, tensors = values[0], _tensors(values[1:])
    extents: dict[str, int] = {}
    rest = 1
    for names, tensor in zip(equation.split("->")[0].split(","), tensors, strict=True):
        letters = re.findall(r"[a-zA-Z]", names)
        before = names.split(".")[0]
        shape = list(tensor.shape)
        first = len(re.findall(r"[a-zA-Z]", before)) if "." in names else len(letters)
        last = len(letters) - first
        extents |= zip(letters[:first], shape[:first], strict=False)
        extents |= zip(letters[first:], shape[len(shape) - last :] if last else [], strict=False)
        rest = max(rest, math.prod(shape[first : len(shape) - last]))
    return float(rest * math.prod(extents.values()))


@estimates("scaled_dot_product_attention")
def _attention(values: Sequence[Any]) -> float:
    return float(_numel(values[0]) * (values[1].shape[-2] + 1))


@estimates("conv1d", "conv2d", "conv3d", "_convolution_mode")
def _convolution(values: Sequence[Any]) -> Cost:
    x, kernel = values[0], values[1]
    rank = len(x.shape) - 2
    strides, paddings = _per_axis(values[3:4], rank, 1), _per_axis(values[4:5], rank, 0)
    places = 1
    for extent, size, stride, padding in zip(x.shape[2:], kernel.shape[2:], strides, paddings, strict=True):
        places *= (extent + 2 * max(padding, size)) // max(1, stride) + 1
    window = _numel(kernel) / max(1, kernel.shape[0])
    return Cost(x.shape[0] * places * max(kernel.shape[0], window), x.shape[0] * places * _numel(kernel))


@estimates("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def _transposed_convolution(values: Sequence[Any]) -> Cost:
    x, kernel = values[0], values[1]
    rank = len(x.shape) - 2
    strides, more = _per_axis(values[3:4], rank, 1), _per_axis(values[5:6], rank, 0)
    dilations = _per_axis(values[7:8], rank, 1)
    places = 1
    for extent, size, stride, extra, dilation in zip(
        x.shape[2:], kernel.shape[2:], strides, more, dilations, strict=True
    ):
        places *= extent * max(1, stride) + size * max(1, dilation) + extra
    return Cost(x.shape[0] * places * kernel.shape[1], _numel(x) * float(_numel(kernel)))


@estimates("convolution", "_convolution")
def _any_convolution(values: Sequence[object]) -> Cost:
    if values[6]:
        return _transposed_convolution([*values[:5], values[7], values[8], values[5]])
    return _convolution(values[:6])


def _per_axis(given: Sequence[object], rank: int, default: int) -> list[int]:
    """One number for each axis, of a list, one number, or a text such as "same"."""
    value = given[0] if given else default
    found = _ints(value) if isinstance(value, (int, list, tuple)) and value != [] else [default]
    return found if len(found) == rank else found[:1] * rank


@estimates("im2col", "col2im", "unfold", "avg_pool1d", "avg_pool2d", "avg_pool3d", "max_pool1d", "max_pool2d")
@estimates("max_pool3d", "max_pool1d_with_indices", "max_pool2d_with_indices", "max_pool3d_with_indices")
def _windows(values: Sequence[object]) -> float:
    sizes = [math.prod(_ints(value)) for value in values[1:3] if isinstance(value, (int, list, tuple))]
    return _numel(values[0]) * float(max(1, *sizes, 1))


@estimates("lstm", "gru", "rnn_tanh", "rnn_relu", "lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
def _recurrent(values: Sequence[Any]) -> Cost:
    weights = sum(map(_numel, _tensors(values[1:])))
    rows = _numel(values[0]) / max(1, values[0].shape[-1])
    return Cost(rows * 8 * math.sqrt(weights) + weights, rows * weights)


@estimates("inverse", "cholesky", "logdet", "slogdet", "det", "linalg_norm", "linalg_svd")
@estimates("linalg_cholesky", "linalg_det", "linalg_eigh", "linalg_inv", "linalg_inv_ex")
@estimates("linalg_matrix_norm", "linalg_pinv")
@estimates("linalg_qr", "linalg_slogdet", "linalg_solve", "linalg_solve_triangular", "linalg_svdvals")
def _factored(values: Sequence[Any]) -> Cost:
    total, last = _broadcast(values), max([1, *values[0].shape[-2:]])
    return Cost(total * 4, total * last * 20)
