"""What a user can see of a tensor, as plain data: two runs are compared by it, a file can hold it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

Number = float | int | bool
ADDRESS = re.compile(r" (object )?at 0x[0-9a-f]+")
SENTENCE_END = re.compile(r"(?<=[^.]\.)\s|\n")


def first_sentence(error: BaseException) -> str:
    """Type and first sentence of the message: PyTorch appends hints, signatures and C++ stacks behind it."""
    message = SENTENCE_END.split(str(error).strip(), maxsplit=1)[0]
    return f"{type(error).__name__}: {ADDRESS.sub('', message)}"


@dataclass(frozen=True, slots=True)
class Seen:
    """A tensor at one moment. An attribute that raised holds `!Type: first sentence` instead of its value.

    `values` are flat, complex ones as pairs; `base` and `same_as` are names of variables (`same_as` the first
    variable that is this very object), `(unnamed)` where no variable holds the base. `layout` is strides and offset, `edges`
    the names of the nodes below `grad_fn`, with the outputs that the edges go to; both None unless asked for.
    """

    dtype: str
    shape: tuple[int, ...]
    values: tuple[Number, ...] | str
    is_inference: bool | str
    requires_grad: bool | str
    is_leaf: bool | str
    is_view: bool | str
    version: int | str
    base: str | None
    grad_fn: str | None
    same_as: str | None
    grad: Seen | str | None
    layout: str | None = None
    edges: str | None = None


def _attempt(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except Exception as error:
        return f"!{first_sentence(error)}"


def _flat(value: Any, into: list[Number]) -> list[Number]:
    if isinstance(value, list):
        for item in value:
            _flat(item, into)
    elif isinstance(value, complex):
        into += (value.real, value.imag)
    else:
        into.append(value)
    return into


def _name(tensor: Any, variables: Mapping[str, Any]) -> str:
    return next((name for name, value in variables.items() if value is tensor), "(unnamed)")


def _layout(tensor: Any) -> str:
    if not tensor.numel():
        return "empty"
    return f"{tuple(map(int, tensor.stride()))} from {int(tensor.storage_offset())}"


def _edges(node: Any, depth: int = 3) -> str:
    """The graph below a node, a few nodes deep."""
    if node is None:
        return "-"
    name = type(node).__name__
    if not depth:
        return name
    below = [
        f"{_edges(function, depth - 1)}{f':{number}' if number else ''}" for function, number in node.next_functions
    ]
    return f"{name}({', '.join(below)})" if below else name


def see(tensor: Any, variables: Mapping[str, Any], *, with_grad: bool = True, details: bool = False) -> Seen:
    """The tensor as seen now. The order of the reads is part of the test: `is_leaf` and `grad_fn` bring a
    view's history up to date.
    """
    is_inference = _attempt(tensor.is_inference)
    requires_grad = _attempt(lambda: tensor.requires_grad)
    is_leaf = _attempt(lambda: tensor.is_leaf)
    is_view = _attempt(tensor._is_view)
    version = _attempt(lambda: tensor._version)
    base = _attempt(lambda: tensor._base)
    grad_fn = _attempt(lambda: tensor.grad_fn)
    grad = _attempt(lambda: tensor.grad) if with_grad else None
    values = _attempt(tensor.tolist)
    return Seen(
        dtype=str(tensor.dtype).removeprefix("torch."),
        shape=tuple(int(size) for size in tensor.shape),
        values=values if isinstance(values, str) else tuple(_flat(values, [])),
        is_inference=is_inference,
        requires_grad=requires_grad,
        is_leaf=is_leaf,
        is_view=is_view,
        version=version,
        base=base if base is None or isinstance(base, str) else _name(base, variables),
        grad_fn=grad_fn if grad_fn is None or isinstance(grad_fn, str) else type(grad_fn).__name__,
        same_as=_name(tensor, variables) if variables else None,
        grad=grad if grad is None or isinstance(grad, str) else see(grad, {}, with_grad=False, details=details),
        layout=_attempt(lambda: _layout(tensor)) if details else None,
        edges=_attempt(lambda: _edges(grad_fn))
        if details and grad_fn is not None and not isinstance(grad_fn, str)
        else None,
    )


def of_gradient(seen: Seen) -> Seen:
    """Of a gradient that backward computed, its version and whether it is a view don't count: see docs/shim.md."""
    return replace(seen, version=0, is_view=False, base=None)


Plain = Any
"""What `plain` returns: numbers, strings, None, lists of these, and `Seen`."""


def plain(value: Any, torch: ModuleType, *, details: bool = False) -> Plain:
    """The value of an expression as plain data."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, complex):
        return [value.real, value.imag]
    if isinstance(value, torch.Tensor):
        return see(value, {}, details=details)
    if isinstance(value, (tuple, list)):
        return [plain(item, torch, details=details) for item in value]
    if isinstance(value, dict):
        return [[str(key), plain(item, torch, details=details)] for key, item in value.items()]
    if type(value).__module__ == "numpy":
        return [str(value.dtype), list(value.shape), _flat(value.tolist(), [])]
    text = str(value)
    # Of handles, modules and nodes the names of their classes are nobody's business.
    return text if text.startswith("torch.") else "<object>"


@dataclass(frozen=True)
class Tolerance:
    relative: float
    absolute: float


# A float64 tensor may hold what was computed in float32, so one tolerance does for both. A gradient that is
# 0.1 %
# off must show; only where half precision is in play it need not.
FINE = Tolerance(1e-4, 2e-6)
COARSE = Tolerance(4e-3, 1e-3)


def close(want: Number, got: Number, tolerance: Tolerance) -> bool:
    if want == got:
        return True
    if isinstance(want, float) and isinstance(got, float):
        if math.isnan(want) or math.isnan(got):
            return math.isnan(want) and math.isnan(got)
        return math.isclose(want, got, rel_tol=tolerance.relative, abs_tol=tolerance.absolute)
    return False
