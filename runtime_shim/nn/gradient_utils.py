"""Gradients and weights of many parameters at once, for `torch.nn.utils`."""

from __future__ import annotations

import collections.abc
from collections.abc import Callable
from itertools import repeat
from typing import Any

from ..aten import FUNCTIONS
from ..core.gradient_modes import no_grad
from ..core.tensor import Tensor


def _gradients(parameters: Any) -> list[Tensor]:
    listed = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in listed if p.grad is not None]


def _norm(tensors: list[Tensor], norm_type: float) -> Tensor:
    norm = FUNCTIONS["linalg_vector_norm"]
    each = FUNCTIONS["stack"]([norm(t, float(norm_type)) for t in tensors])
    return norm(each, float(norm_type))


def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of all tensors as if they were one vector; RuntimeError if it must be finite and isn't."""
    listed = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not listed:
        return FUNCTIONS["tensor"](0.0)
    total = _norm(listed, norm_type)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise RuntimeError(
            f"The total norm of order {float(norm_type)} for gradients from `parameters` is non-finite, so it cannot "
            "be clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


def clip_grad_norm_(
    parameters: object,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients in place so that their common norm is at most `max_norm`; the norm before."""
    grads = _gradients(parameters)
    with no_grad():
        total = get_total_norm(grads, norm_type, error_if_nonfinite)
        factor = (float(max_norm) / (total + 1e-6)).clamp(max=1.0)
        for g in grads:
            g.mul_(factor)
    return total


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, object], prefix: str) -> None:
    """Take a prefix off the keys of a state dict and of its metadata, in place."""
    for key in [key for key in state_dict if key.startswith(prefix)]:
        state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata: Any = getattr(state_dict, "_metadata", {})
    for key in list(metadata):
        if key and (key == prefix.replace(".", "") or key.startswith(prefix)):
            metadata[key[len(prefix) :]] = metadata.pop(key)


def clip_grad_value_(parameters: object, clip_value: float, foreach: bool | None = None) -> None:
    """Limit every element of the gradients to [-clip_value, clip_value], in place."""
    with no_grad():
        for g in _gradients(parameters):
            g.clamp_(min=-float(clip_value)).clamp_(max=float(clip_value))


def parameters_to_vector(parameters: Any) -> Tensor:
    return FUNCTIONS["cat"]([p.view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Any) -> None:
    start = 0
    for p in parameters:
        p.data = vec[start : start + p.numel()].view_as(p).data
        start += p.numel()


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """A function that makes `n` values of one, and a tuple of several."""

    def parse(x: object) -> tuple[object, ...]:
        return tuple(x) if isinstance(x, collections.abc.Iterable) else tuple(repeat(x, n))

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: tuple[object, ...], n: int) -> tuple[object, ...]:
    """From the last value to the first one, each `n` times: padding as `F.pad` takes it."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size: list[Any], defaults: list[int]) -> list[int]:
    """Sizes, with the last of the defaults for those that are None."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    return [v if v is not None else d for v, d in zip(out_size, defaults[-len(out_size) :], strict=True)]


__all__ = ["consume_prefix_in_state_dict_if_present"]
