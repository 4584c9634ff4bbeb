"""`torch._custom_ops`: declare an op, then give it kernels and a gradient. `torch.library.custom_op` came after it.

@torch._custom_ops.custom_op("mylib::double")
def double(x: torch.Tensor) -> torch.Tensor: ...

@torch._custom_ops.impl("mylib::double")
def double_kernel(x):
    return x * 2
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .library import register_fake
from .library.early_custom_ops import (
    check_named,
    declare,
    find_custom_op,
    get_op,
    infer_schema,
    parse_qualname,
    validate_namespace,
)

__all__ = ["custom_op", "impl", "impl_abstract", "impl_backward", "impl_save_for_backward"]

_Function = Callable[..., Any]


def custom_op(qualname: str, func_or_schema: _Function | str | None = None) -> Any:
    """Declare `namespace::name`, by a schema without the name or by the annotations of a function of that name.

    Usable as a decorator. ValueError if the op would write to its inputs or return views of them.
    """
    namespace, _ = parse_qualname(qualname)
    validate_namespace(namespace)
    if isinstance(func_or_schema, str):
        declare(qualname, func_or_schema)
        return get_op(qualname)

    def define(func: _Function) -> _Function:
        check_named(func, qualname)
        declare(qualname, infer_schema(func, mutates_args=()))
        return func

    return define if func_or_schema is None else define(func_or_schema)


def impl(qualname: str, *, device_types: str | Iterable[str] = ("cpu", "cuda"), func: _Function | None = None) -> Any:
    """Register a kernel for types of devices; usable as a decorator."""

    def register(function: _Function) -> _Function:
        return find_custom_op(qualname, also_check_torch_library=True).impl(device_types)(function)

    return register if func is None else register(func)


def impl_abstract(qualname: str, *, func: _Function | None = None) -> Any:
    """Register what the op does with tensors without memory. The shim has none, so that it never runs."""
    return register_fake(qualname, func)


def impl_save_for_backward(qualname: str, *, func: _Function | None = None) -> Any:
    """Register the function of (inputs, output) that says what to save for backward; usable as a decorator."""

    def register(function: _Function) -> _Function:
        find_custom_op(qualname, also_check_torch_library=True).impl_save_for_backward()(function)
        return function

    return register if func is None else register(func)


def impl_backward(
    qualname: str, output_differentiability: list[bool] | None = None, *, func: _Function | None = None
) -> Any:
    """Register the function of (ctx, saved, *grads) that returns the gradients of the inputs by their names."""

    def register(function: _Function) -> _Function:
        found = find_custom_op(qualname, also_check_torch_library=True)
        found.impl_backward(output_differentiability)(function)
        return function

    return register if func is None else register(func)


def _destroy(qualname: str) -> None:
    """Take an op back."""
    find_custom_op(qualname)._destroy()
