"""Embedding tables, one-hot codes and dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import Array
from ...core.function_table import FUNCTIONS
from ...core.tensor import Tensor, new_tensor
from ...dispatch.op_description import ANY_DTYPE
from ...dispatch.registration import composite, inner_op, op


def _embedding_below(weight: Tensor, indices: Tensor, *_: object) -> Tensor:
    found: Tensor = FUNCTIONS["index_select"](weight, 0, indices.reshape(-1))
    if indices._array.ndim == 1:
        return found
    return found.view(*indices._array.shape, weight._array.shape[1])


@inner_op(
    "embedding",
    index_lists=("indices",),
    below=_embedding_below,
    tensor_params=("weight", "indices"),
    weight=lambda grad, weight_shape, indices, padding_idx, scale_grad_by_freq: _embedding_backward(
        grad, indices, weight_shape[0], padding_idx, scale_grad_by_freq
    ),
)
def _embedding(
    weight: Array,
    indices: Any,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Array:
    bad = (indices < 0) | (indices >= weight.shape[0])
    if bad.any():
        raise IndexError("index out of range in self")
    return weight[indices]


@inner_op(
    "embedding_dense_backward",
    index_lists=("indices",),
    tensor_params=("grad_output", "indices"),
    grad_output=lambda grad, indices, padding_idx, scale_grad_by_freq: _embedding_again(
        grad, indices, padding_idx, scale_grad_by_freq
    ),
)
def _embedding_backward(
    grad_output: Array, indices: Any, rows: int, padding_idx: int, scale_grad_by_freq: bool
) -> Array:
    flat = indices.reshape(-1)
    g = grad_output.reshape(flat.size, -1)
    kept = flat != padding_idx
    if scale_grad_by_freq:
        g = g / np.bincount(flat, minlength=rows)[flat, None].astype(g.dtype)
    found = np.zeros((rows, grad_output.shape[-1]), grad_output.dtype)
    np.add.at(found, flat[kept], g[kept])
    return found


def _embedding_again(grad: Tensor, indices: Tensor, padding_idx: int, scale_grad_by_freq: bool) -> Tensor:
    found = _embedding(grad, indices)
    mask = indices._array != padding_idx
    factor = mask.astype(grad._array.dtype)
    if scale_grad_by_freq:
        factor = factor / np.bincount(indices._array.reshape(-1))[indices._array]
    return found * new_tensor(factor.astype(grad._array.dtype)[..., None])


@composite("embedding", method=False)
def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of `weight` (rows, columns) by integer `indices` of any shape; its gradient is dense, also if `sparse`."""
    for position, (name, t) in enumerate((("weight", weight), ("indices", indices)), 1):
        if not isinstance(t, Tensor):
            raise TypeError(
                f"embedding(): argument '{name}' (position {position}) must be Tensor, not {type(t).__name__}"
            )
    if weight._array.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if indices._array.dtype not in (np.int64, np.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"torch.{indices.dtype.scalar_name}Tensor instead (while checking arguments for embedding)"
        )
    return _embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse)


def embedding_renorm(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Shrink, in place, the rows that will be looked up to at most `max_norm`."""
    for row in np.unique(indices._array):
        size = float(np.linalg.norm(weight._array[row], norm_type))
        if size > max_norm:
            weight._array[row] *= weight._array.dtype.type(max_norm / (size + 1e-7))
    return weight.mul_(1)


def bag_numbers(indices: Any, offsets: Any, include_last_offset: bool) -> tuple[Any, int]:
    """The bag of each index, and how many bags there are. RuntimeError if the offsets don't fit."""
    if offsets.size and offsets[0] != 0:
        raise RuntimeError(f"offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
                           f"position 0. However, got {int(offsets[0])}")  # fmt: skip
    if offsets.size and offsets[-1] > indices.size:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {indices.size} but got offsets[-1] of "
            f"{int(offsets[-1])}"
        )
    starts = offsets[:-1] if include_last_offset else offsets
    kept = indices.size if not include_last_offset or not offsets.size else int(offsets[-1])
    numbers = np.searchsorted(starts, np.arange(kept), side="right") - 1
    return numbers, int(starts.size)


@op(
    "_embedding_bag",
    computes=ANY_DTYPE,
    method=False,
    function=False,
    numbers=None,
    weight=lambda grad, weight, indices, bags, count, mode, padding_idx, scale, per_sample_weights: (
        _bag_weight_gradient(grad, weight, indices, bags, count, mode, padding_idx, scale, per_sample_weights)
    ),
    per_sample_weights=lambda grad, weight, indices, bags, padding_idx: _bag_sample_gradient(
        grad, weight, indices, bags, padding_idx
    ),
)
def embedding_bags(
    weight: Any,
    indices: Any,
    bags: Any,
    count: int,
    mode: str,
    padding_idx: int,
    scale: bool,
    per_sample_weights: Any = None,
) -> Array:
    """Sums, means or maxima (by mode) of the rows of each bag; an empty bag gives zeros."""
    kept = indices[: bags.size] != padding_idx
    rows, bags = indices[: bags.size][kept], bags[kept]
    found: Array = np.zeros((count, weight.shape[1]), weight.dtype)
    values = weight[rows]
    if per_sample_weights is not None:
        values = values * per_sample_weights[: kept.size][kept, None]
    if mode == "max":
        found.fill(-np.inf)
        np.maximum.at(found, bags, values)
        found[np.bincount(bags, minlength=count) == 0] = 0
        return found
    np.add.at(found, bags, values)
    if mode == "mean":
        found /= np.maximum(np.bincount(bags, minlength=count), 1).astype(weight.dtype)[:, None]
    return found


def _bag_weight_gradient(
    grad: Tensor,
    weight: Tensor,
    indices: Tensor,
    bags: Any,
    count: int,
    mode: str,
    padding_idx: int,
    scale: bool,
    per_sample_weights: Any,
) -> Tensor:
    kept = indices[: bags.size] != padding_idx
    rows, numbers = indices[: bags.size][kept], bags[kept]
    rows_of, bags_of = new_tensor(rows.astype(np.int64)), new_tensor(numbers.astype(np.int64))
    zeros = FUNCTIONS["zeros"](weight._array.shape, dtype=grad.dtype)
    if mode == "max":
        best = embedding_bags.op.kernel(weight._array, indices, bags, count, mode, padding_idx, False)  # type: ignore[attr-defined]
        found = np.zeros(weight._array.shape, grad._array.dtype)
        done = np.zeros((count, weight._array.shape[1]), np.bool_)
        for row, bag in zip(rows, numbers, strict=True):
            wins = (weight._array[row] == best[bag]) & ~done[bag]
            done[bag] |= wins
            found[row] += np.where(wins, grad._array[bag], 0)
        return new_tensor(found)
    if mode == "mean":
        sizes = np.maximum(np.bincount(numbers, minlength=count), 1).astype(grad._array.dtype)
        grad = grad / new_tensor(sizes[:, None])
    values = grad.index_select(0, bags_of)
    if isinstance(per_sample_weights, Tensor):
        values = values * per_sample_weights[: kept.size][new_tensor(kept)].unsqueeze(1)
    if scale:
        often = np.bincount(rows, minlength=weight._array.shape[0])[rows].astype(grad._array.dtype)
        values = values / new_tensor(often[:, None])
    return zeros.index_add(0, rows_of, values)


def _bag_sample_gradient(grad: Tensor, weight: Tensor, indices: Tensor, bags: Any, padding_idx: int) -> Tensor:
    rows, numbers = (new_tensor(a.astype(np.int64)) for a in (indices[: bags.size], bags))
    found = (grad.index_select(0, numbers) * weight.index_select(0, rows)).sum(1)
    return found.masked_fill(new_tensor(indices[: bags.size] == padding_idx), 0.0)


@composite("one_hot", method=False, function=False)
def one_hot(self: Tensor, num_classes: int = -1) -> Tensor:
    """Zeros with a one where each index says, in a new last dimension."""
    array = self._array
    if array.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if array.size == 0 and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if array.size and array.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(array.max()) + 1
    elif num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    elif array.size and num_classes <= array.max():
        raise RuntimeError("Class values must be smaller than num_classes.")
    made: Tensor = FUNCTIONS["empty"](*array.shape, num_classes, dtype=self.dtype)
    return made.zero_().scatter_(-1, self.unsqueeze(-1), 1)


# -- dropout


def _noise(self: Tensor, feature: bool) -> Tensor:
    shape = self._array.shape
    if not feature:
        return FUNCTIONS["empty_like"](self)
    if self._array.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return FUNCTIONS["empty"](*shape[:2], *[1] * (len(shape) - 2), dtype=self.dtype)


def _dropout(self: Tensor, p: float, train: bool, feature: bool, inplace: bool) -> Tensor:
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
    if p == 0 or not train or self._array.size == 0:
        return self
    multiply = self.mul_ if inplace else self.mul
    if p == 1:
        return multiply(FUNCTIONS["zeros"]((), dtype=self.dtype))
    return multiply(_noise(self, feature).bernoulli_(1 - p).div_(1 - p))


def _register_dropout(name: str, feature: bool) -> None:
    @composite(name, method=False)
    def dropout(input: Tensor, p: float, train: bool) -> Tensor:
        """Zero elements with probability `p` and scale the others; which ones differs from PyTorch."""
        return _dropout(input, p, train, feature, False)

    @composite(name + "_", method=False)
    def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
        return _dropout(input, p, train, feature, True)


_register_dropout("dropout", False)
_register_dropout("feature_dropout", True)
