"""PyTorch itself behind the headers. For tests: the same program, the same headers, the real tensors."""

from __future__ import annotations

import importlib
from typing import Any

from ..core import error_texts
from ..core.function_table import AnyFunction
from .cpp_backend import AD_INPLACE_OR_VIEW, AUTOGRAD, CPU, Backend
from .op_spellings import AnyTensor

_FLAGS = {"AutogradOther": AUTOGRAD, "ADInplaceOrView": AD_INPLACE_OR_VIEW}
"""How PyTorch's thread state shows what a guard includes or excludes."""


class TorchBackend(Backend):
    """The hooks that PyTorch's Python interface does not have, made from those that it has."""

    def scalar_op(self, name: str) -> AnyFunction:
        packet = getattr(self.torch.ops.aten, name)
        for overload in ("Tensor_Scalar", "Scalar"):
            if overload in packet.overloads():
                return getattr(packet, overload)
        return self.op(name)

    def is_leaf(self, t: AnyTensor) -> bool:
        # Python's property looks for an illegal change of the base first; C++ only for its own grad_fn.
        try:
            return bool(t.is_leaf)
        except RuntimeError as error:
            return str(error).startswith("A view was created")

    def bump_version(self, t: AnyTensor) -> None:
        if t.is_inference() and not self.is_inference_mode_enabled():
            raise RuntimeError(error_texts.INPLACE_ON_INFERENCE)
        self.torch.autograd.graph.increment_version(t)

    def creation_meta(self, t: AnyTensor) -> int:
        return int(self.torch._C._autograd._get_creation_meta(t).value)

    def key_set(self, t: AnyTensor) -> int:
        keys = self.torch._C._dispatch_keys(t)
        key = self.torch._C.DispatchKey
        return sum(
            flag
            for flag, name in (
                (CPU, "CPU"),
                (AD_INPLACE_OR_VIEW, "ADInplaceOrView"),
                (AUTOGRAD, "AutogradCPU"),
            )
            if keys.has(getattr(key, name))
        )

    def _flags(self, keys: Any) -> int:
        key = self.torch._C.DispatchKey
        return sum(flag for name, flag in _FLAGS.items() if keys.has(getattr(key, name)))

    def included(self) -> int:
        return self._flags(self.torch._C._dispatch_tls_local_include_set())

    def excluded(self) -> int:
        return self._flags(self.torch._C._dispatch_tls_local_exclude_set())

    def enter_guard(self, name: str, argument: Any) -> Any:
        c = self.torch._C
        if name == "AutoNonVariableTypeMode":
            name = "AutoDispatchBelowAutograd" if self.legacy_since19 else "AutoDispatchBelowADInplaceOrView"
        if name == "InferenceMode":
            return c._InferenceMode(argument)
        if name == "AutoGradMode":
            return _GradScope(self, argument)
        if name == "AutoDispatchBelowAutograd":
            return c._AutoDispatchBelowAutograd()
        if name == "AutoDispatchBelowADInplaceOrView":
            guard = c._AutoDispatchBelowADInplaceOrView()
            guard.__enter__()
            return guard
        if name == "ExcludeDispatchKeyGuard" and argument == AUTOGRAD:
            return c._AutoDispatchBelowAutograd()
        if name == "ExcludeDispatchKeyGuard" and argument == AUTOGRAD | AD_INPLACE_OR_VIEW:
            return self.enter_guard("AutoDispatchBelowADInplaceOrView", None)
        raise NotImplementedError(f"PyTorch's Python interface has no guard {name}({argument})")


class _GradScope:
    """Grad mode set for a scope, and what it was before."""

    def __init__(self, backend: Backend, enabled: bool) -> None:
        self.backend = backend
        self.before = backend.is_grad_enabled()
        backend.set_grad_enabled(enabled)

    def __exit__(self, *_: object) -> None:
        self.backend.set_grad_enabled(self.before)


_current: Backend | None = None


def current() -> Backend:
    """The backend of the program that runs; the shim unless `use` chose another."""
    global _current
    if _current is None:
        _current = make("guardfix.runtime_shim")
    return _current


def make(module: str, *, legacy_since19: bool = False) -> Backend:
    """The backend for the module of this name: `guardfix.runtime_shim`, or `torch`."""
    kind: type[Backend]
    if module == "torch":
        kind = TorchBackend
    else:
        from .shim_backend import ShimBackend

        kind = ShimBackend
    return kind(importlib.import_module(module), legacy_since19=legacy_since19)


def use(backend: Backend) -> None:
    """Makes `backend` the one after the programs that are loaded from now on."""
    global _current
    _current = backend
