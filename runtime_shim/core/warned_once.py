"""Warnings that PyTorch gives once in a process."""

from __future__ import annotations

import warnings

CREATE_GRAPH = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
    "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
    "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break the "
    "cycle and avoid the leak."
)
TO_NUMBER = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)

_given: set[str] = set()
_always = False


def set_warn_always(b: bool) -> None:
    """Whether such warnings are given each time."""
    global _always
    _always = b


def is_warn_always_enabled() -> bool:
    return _always


def warn_once(text: str, stacklevel: int = 3) -> None:
    """A UserWarning with that text, unless there was one. `stacklevel` counts from here, as that of `warn` does."""
    if _always or text not in _given:
        _given.add(text)
        warnings.warn(text, UserWarning, stacklevel=stacklevel)
