"""Ops that C++ libraries register: `TORCH_LIBRARY`, `TORCH_LIBRARY_IMPL` and `torch::RegisterOperators`.

They are the same ops as those of `torch.library`, so that a kernel of either language may stand under any key. A C++
kernel is called with the key set and with all arguments in the order of the schema.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .custom_ops import CompiledKernel, entry, fallthrough_kernel
from .op_library import ELSEWHERE, KEYS, REFUSED
from .schema_parsing import parse


def declare_op(name: str, schema: str, place: str, called_from_python: Callable[[], None]) -> None:
    """Declare the op `namespace::name` or `namespace::name.overload`.

    RuntimeError if the schema can't be parsed or the op is there already.
    """
    namespace, _, op_name = name.partition("::")
    parsed = replace(parse(schema), namespace=namespace)
    op = entry(namespace, op_name)
    if op._schema is not None:
        raise RuntimeError(
            f"Tried to register an operator ({parsed}) with the same name and overload name multiple times. Each "
            "overload's schema should only be registered with a single call to def(). Duplicate registration: "
            f"registered at {place}. Original registration: registered at {op.defined_at}"
        )
    op._schema, op.defined_at = parsed, place
    _share(name, called_from_python)


def implement(name: str, key: str, kernel: Callable[..., Any] | None, called_from_python: Callable[[], None]) -> None:
    """Put `kernel` under a dispatch key of the op; None lets calls go on to the next layer."""
    if key not in KEYS:
        if ELSEWHERE.fullmatch(key) or REFUSED.fullmatch(key) or key in ("Autocast", "Undefined"):
            return  # of tensors, or under modes, that the shim has not
        raise RuntimeError(f"could not parse dispatch key: {key}")
    op = entry(*name.split("::", 1))
    op.add_kernel(KEYS[key], fallthrough_kernel if kernel is None else CompiledKernel(kernel))
    _share(name, called_from_python)


def _share(name: str, called_from_python: Callable[[], None]) -> None:
    """Python's kernels are unknown to the C++ side: when there are any, it must ask here."""
    op = entry(*name.split("::", 1))
    if any(not isinstance(k, CompiledKernel) and k is not fallthrough_kernel for ks in op.kernels.values() for k in ks):
        called_from_python()
    op.when_python_registers.append(called_from_python)
