"""Extremes so far, the most frequent value, covariance, limited norms; elements that Python computes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array, wrap_dim
from ..core.function_table import FUNCTIONS
from ..core.reordered_array import packed
from ..core.tensor import Tensor, requires_grad
from ..dispatch.op_description import ANY_DTYPE, Computes, OutRule, same_dtype
from ..dispatch.registration import composite, op
from .extremes import _at_index, pair


def _so_far(name: str, better: Callable[[Any, Any], Any]) -> None:
    def kernel(self: Any, dim: int) -> tuple[Array, Array]:
        """The best element up to each place of a dimension, and the last index at which it stands."""
        axis = wrap_dim(dim, self.ndim)
        if self.ndim == 0:
            return self.copy(), np.zeros((), np.int64)
        if self.size:
            refuse(self.dtype)
        moved = np.moveaxis(np.asarray(self), axis, 0)
        places = np.zeros(moved.shape, np.int64)
        for i in range(1, len(moved)):
            best = np.take_along_axis(moved, places[i - 1 : i], 0)[0]
            places[i] = np.where(better(moved[i], best) | np.isnan(moved[i]), i, places[i - 1])
        indices = np.ascontiguousarray(np.moveaxis(places, 0, axis))
        return packed(np.take_along_axis(self, indices, axis)), indices

    refuse = Computes("bif").refuse(name)
    op(
        name,
        computes=ANY_DTYPE,
        out=OutRule(same_dtype("expected scalar_type {want.scalar_name} but found {got.scalar_name}")),
        outputs=pair(name),
        nondifferentiable=(1,),
        leak=1,
        self=_so_far_gradient,
    )(kernel)


def _so_far_gradient(grads: list[Any], self: Tensor, result: list[Any], dim: int) -> Tensor:
    if not self._array.size:
        return self
    found: Tensor = FUNCTIONS["zeros"](self._array.shape, dtype=self.dtype).scatter_add_(dim, result[1], grads[0])
    return found


_so_far("cummax", lambda new, best: new >= best)
_so_far("cummin", lambda new, best: new <= best)


def _most_frequent(row: Any) -> Any:
    """Where the most frequent value of a row stands last; each NaN is a value of its own."""
    counts = np.unique(row, return_counts=True, equal_nan=False)[1]
    chosen = counts.argmax()
    return np.argsort(row, kind="stable")[counts[: chosen + 1].sum() - 1]


_refuse_mode = Computes("bif").refuse("mode")


_MODE = "expected scalar type '{want.scalar_name}' but got '{got.scalar_name}' for "


@op(
    "mode",
    computes=ANY_DTYPE,
    out=tuple(OutRule(same_dtype(f"{_MODE}{what} output"), resized_first=True) for what in ("values", "indices")),
    outputs=pair("mode"),
    nondifferentiable=(1,),
    leak=lambda self, dim=-1, keepdim=False: 0 if keepdim else 2,
    self=_at_index,
)
def mode(self: Any, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    """The most frequent value along a dimension, the smallest of several, and the last index at which it stands."""
    axis = wrap_dim(dim, self.ndim)
    if self.ndim == 0:
        return self.copy(), np.zeros((), np.int64)
    if not self.size:
        if not self.shape[axis]:
            raise IndexError(f"mode(): Expected reduction dim {axis} to have non-zero size.")
        rest = self.shape[:axis] + (1,) * keepdim + self.shape[axis + 1 :]
        return np.empty(rest, self.dtype), np.empty(rest, np.int64)
    _refuse_mode(self.dtype)
    indices = np.expand_dims(np.asarray(np.apply_along_axis(_most_frequent, axis, np.asarray(self)), np.int64), axis)
    values = np.take_along_axis(np.asarray(self), indices, axis)
    return (values, indices) if keepdim else (values.squeeze(axis), indices.squeeze(axis))


@composite("cov")
def cov(self: Tensor, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Tensor:
    """The covariances of the rows, whose columns are observations."""
    if self.dim() > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {self.dim()} dimensions"
        )
    if self._array.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    rows = self.view(1, -1) if self.dim() < 2 else self
    counts = _observation_weights("fweights", fweights, rows.size(1), "iu", "integral")
    chances = _observation_weights("aweights", aweights, rows.size(1), "fV", "floating point")
    weights = chances if counts is None else counts if chances is None else counts * chances
    total: Any = FUNCTIONS["tensor"](rows.size(1)) if weights is None else weights.sum()
    if weights is not None and total == 0:
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    weighted = rows if weights is None else rows * weights
    away = rows - (weighted.sum(1) / total).unsqueeze(1)
    product = away.mm((away if weights is None else away * weights).t().conj())
    lost = correction if chances is None or not correction else correction * (weights * chances).sum() / total
    freedom = total - lost
    if freedom <= 0:
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.",
            stacklevel=2,
        )
        freedom.zero_()
    return (product / freedom).squeeze()


def _observation_weights(name: str, weights: Tensor | None, observations: int, kinds: str, kind: str) -> Tensor | None:
    """Checked, one for each observation."""
    if weights is None:
        return None
    if weights.dim() > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.dim()} dimensions"
        )
    found = dtypes.of(weights._array)
    if found.numpy.kind not in kinds:
        raise RuntimeError(f"cov(): expected {name} to have {kind} dtype but got {name} with {found.scalar_name} dtype")
    if weights.numel() != observations:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{weights.numel()} != {observations}"
        )
    if observations and (weights < 0).any():
        raise RuntimeError(f"cov(): {name} cannot be negative")
    return weights


def _check_plain(name: str, *tensors: Tensor) -> None:
    if any(map(requires_grad, tensors)):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")


@composite("apply_", function=False)
def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replaces each element by what a Python function makes of it."""
    _check_plain("apply_", self)
    found = [callable(value) for value in self.reshape(-1).tolist()]
    return self.copy_(FUNCTIONS["tensor"](found, dtype=self.dtype).reshape(self.shape))


@composite("map_", function=False)
def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replaces each element by what a Python function makes of it and of the other tensor's element."""
    _check_plain("map_", self, tensor)
    other = tensor.expand(self.shape).reshape(-1).tolist()
    found = [callable(a, b) for a, b in zip(self.reshape(-1).tolist(), other, strict=True)]
    return self.copy_(FUNCTIONS["tensor"](found, dtype=self.dtype).reshape(self.shape))


@composite("cuda", function=False)
def cuda(self: Tensor, *args: Any, **kwargs: Any) -> NoReturn:
    """Always raises: there is no GPU."""
    raise AssertionError("Torch not compiled with CUDA enabled")


@composite("pin_memory", function=False)
def pin_memory(self: Tensor, *args: Any) -> NoReturn:
    """Always raises: pinning memory needs an accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


@composite("is_pinned", function=False)
def is_pinned(self: Tensor, *args: Any) -> bool:
    return False


@composite("is_shared", function=False)
def is_shared(self: Tensor) -> bool:
    return False
