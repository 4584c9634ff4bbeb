"""What `torch._C` is asked about the kernels of a program's ops, by the names of the ops."""

from __future__ import annotations

from .. import _C
from .custom_ops import REGISTRY, OpOverload


def has_kernel(name: str) -> bool:
    """`torch._C._dispatch_has_kernel`: whether the op is defined and has a kernel under any key."""
    return any(op.kernels for op in _overloads_named(name))


def has_kernel_for_dispatch_key(name: str, key: _C.DispatchKey | str) -> bool:
    """`torch._C._dispatch_has_kernel_for_dispatch_key`: whether it has one of its own under the key.

    RuntimeError if there is no such op.
    """
    found = _overloads_named(name)
    if not found:
        raise RuntimeError(f"operator {name} does not exist")
    known = getattr(_C.DispatchKey, key, None) if isinstance(key, str) else key
    return known is not None and any(op.has_kernel_for_dispatch_key(known) for op in found)


def _overloads_named(name: str) -> list[OpOverload]:
    return [op for op in REGISTRY.get(name.partition("::")[0], {}).values() if op.name() == name]
