"""`torch._C`: guard objects as C++ has them, dispatch key sets, and what a C++ layer over the shim needs."""

from __future__ import annotations

import weakref
from types import SimpleNamespace
from typing import Any

from .aten import FUNCTIONS
from .autograd import _unsafe_preserve_version_counter
from .core import error_texts
from .core.gradient_modes import _leave, exclude, is_grad_enabled, is_inference_mode_enabled, leave_excluded
from .core.late_modules import late_module
from .core.supported_names import missing as _missing
from .core.tensor import Tensor, raw_is_leaf
from .core.tensor import disabled_torch_dispatch as _disabled_torch_dispatch_impl  # noqa: F401
from .core.tensor import disabled_torch_function as _disabled_torch_function_impl  # noqa: F401
from .core.thread_state import ADINPLACEORVIEW, AUTOGRAD, BACKEND, Snapshot, tls
from .dispatch.tensor_subclasses import DisableTorchFunction, DisableTorchFunctionSubclass
from .tape.saved_tensors import SavedTensor

__all__ = [
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "_unsafe_preserve_version_counter",
    "is_grad_enabled",
    "is_inference_mode_enabled",
]


def _log_api_usage_once(event: str) -> None:
    """Nothing is logged."""


class DispatchKeySet:
    """A set of dispatch keys, printed with PyTorch's names; `bits` are those of
    `guardfix.runtime_shim.core.thread_state`.
    """

    __slots__ = ("bits", "names")

    def __init__(self, key: DispatchKey) -> None:
        self.bits = key.bits
        self.names: tuple[str, ...] = (key.name,)

    @classmethod
    def of(cls, bits: int, names: tuple[str, ...]) -> DispatchKeySet:
        found = cls.__new__(cls)
        found.bits, found.names = bits, names
        return found

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return key_set(self.bits & other.bits)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return key_set(self.bits | other.bits)

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        return key_set(self.bits & ~other.bits)

    def add(self, key: DispatchKey) -> DispatchKeySet:
        return key_set(self.bits | key.bits)

    def remove(self, key: DispatchKey) -> DispatchKeySet:
        return key_set(self.bits & ~key.bits)

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(self.names)})"

    def has(self, key: DispatchKey) -> bool:
        return bool(self.bits & key.bits) if key.bits else key.name in self.names

    def raw_repr(self) -> int:
        return self.bits

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and other.bits == self.bits

    def __hash__(self) -> int:
        return hash(self.bits)


class DispatchKey:
    """A dispatch key; members are class attributes (`DispatchKey.CPU`)."""

    __slots__ = ("bits", "name")

    CPU: DispatchKey
    AutogradCPU: DispatchKey
    Autograd: DispatchKey
    ADInplaceOrView: DispatchKey
    CompositeImplicitAutograd: DispatchKey
    CompositeExplicitAutograd: DispatchKey

    def __init__(self, name: str, bits: int) -> None:
        self.name = name
        self.bits = bits

    def __repr__(self) -> str:
        return f"DispatchKey.{self.name}"


for _name, _bits in {
    "CPU": BACKEND,
    "AutogradCPU": AUTOGRAD,
    "Autograd": AUTOGRAD,
    "ADInplaceOrView": ADINPLACEORVIEW,
    "CompositeImplicitAutograd": 0,
    "CompositeExplicitAutograd": 0,
}.items():
    setattr(DispatchKey, _name, DispatchKey(_name, _bits))


def key_set(bits: int) -> DispatchKeySet:
    """The set of the keys that the shim has, from bits of `guardfix.runtime_shim.core.thread_state`."""
    names = {BACKEND: "CPU", ADINPLACEORVIEW: "ADInplaceOrView", AUTOGRAD: "AutogradCPU"}
    return DispatchKeySet.of(bits, tuple(name for bit, name in names.items() if bits & bit))


#: What a kernel redispatches to: every key below its own.
_after_autograd_keyset = key_set(ADINPLACEORVIEW | BACKEND)
_after_ADInplaceOrView_keyset = key_set(BACKEND)

_AUTOCAST = tuple(
    "Autocast" + backend
    for backend in ("CPU", "MTIA", "MAIA", "XPU", "IPU", "HPU", "XLA", "MPS", "CUDA", "PrivateUse1")
)


def _dispatch_tls_is_dispatch_key_excluded(key: DispatchKey | str) -> bool:
    """Whether this thread takes the key from every call."""
    return bool(tls.state.excluded & _bits_of(key))


def _dispatch_tls_is_dispatch_key_included(key: DispatchKey | str) -> bool:
    """Whether this thread adds the key to every call."""
    return bool(tls.state.included & _bits_of(key))


def _bits_of(key: DispatchKey | str) -> int:
    """What a thread's sets hold of a key: for Autograd what the keys of all backends have in common, not these."""
    name = key if isinstance(key, str) else key.name
    return {"ADInplaceOrView": ADINPLACEORVIEW, "AutogradFunctionality": AUTOGRAD}.get(name, 0)


def _dispatch_tls_local_include_set() -> DispatchKeySet:
    """Keys that this thread adds to every call."""
    bits = tls.state.included
    return DispatchKeySet.of(bits, ("BackendSelect",) + (("ADInplaceOrView",) if bits & ADINPLACEORVIEW else ()))


def _dispatch_tls_local_exclude_set() -> DispatchKeySet:
    """Keys that this thread takes away from every call."""
    bits = tls.state.excluded
    names: tuple[str, ...] = ("ADInplaceOrView",) if bits & ADINPLACEORVIEW else ()
    if bits & AUTOGRAD:
        names += ("AutogradOther", "AutogradNestedTensor")
    return DispatchKeySet.of(bits, names + _AUTOCAST)


def _dispatch_keys(tensor: Tensor) -> DispatchKeySet:
    """The tensor's key set."""
    found = key_set(tensor._keys)
    found.names += ("AutocastCPU",)
    return found


_key_set = _dispatch_keys


def _check_arguments(guard: object, wanted: str, args: tuple[object, ...], fits: bool) -> None:
    if not fits:
        raise TypeError(
            "__init__(): incompatible constructor arguments. The following argument types are supported:\n"
            f"    1. torch._C.{type(guard).__name__}({wanted})\n\nInvoked with: {', '.join(map(repr, args))}"
        )


class _InferenceMode:
    """Active from construction until `__exit__` or destruction; restores the state it found, whole.

    Entering does nothing: a guard that was left stays off.
    """

    _saved: Snapshot | None = None

    def __init__(self, *args: bool) -> None:
        fits = len(args) == 1 and (args[0] is None or hasattr(args[0], "__bool__"))
        _check_arguments(self, "arg0: bool", args, fits)
        enabled = bool(args[0])
        state = tls.state
        self._saved = state.snapshot()
        state.set_inference_mode(enabled)
        self._name = f"InferenceMode({str(enabled).lower()})"
        state.guards.append(self._name)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        if self._saved is not None:
            state = tls.state
            state.restore(self._saved)
            _leave(state.guards, self._name)
            self._saved = None

    def __del__(self) -> None:
        self.__exit__()


def _current_graph_task_id() -> int:
    """The number of the backward that runs in this thread, -1 outside of one."""
    return tls.state.backward_id - 1


class _AutoDispatchBelowAutograd:
    """Excludes autograd from construction until `__exit__` or destruction."""

    _before: int | None = None

    def __init__(self, *args: object) -> None:
        _check_arguments(self, "", args, not args)
        self._before = exclude(AUTOGRAD, "AutoDispatchBelowAutograd")

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        if self._before is not None:
            leave_excluded(self._before, "AutoDispatchBelowAutograd")
            self._before = None

    def __del__(self) -> None:
        self.__exit__()


class _AutoDispatchBelowADInplaceOrView:
    """Excludes autograd and ADInplaceOrView between `__enter__` and `__exit__`. It holds one C++ guard: entered twice,
    it ends with the first `__exit__`.
    """

    _before: int | None = None

    def __init__(self, *args: object) -> None:
        _check_arguments(self, "", args, not args)

    def __enter__(self) -> None:
        self.__exit__()
        self._before = exclude(AUTOGRAD | ADINPLACEORVIEW, "AutoDispatchBelowADInplaceOrView")

    def __exit__(self, *exc: object) -> None:
        if self._before is not None:
            leave_excluded(self._before, "AutoDispatchBelowADInplaceOrView")
            self._before = None

    def __del__(self) -> None:
        self.__exit__()


for _guard in (
    _InferenceMode,
    _AutoDispatchBelowAutograd,
    _AutoDispatchBelowADInplaceOrView,
    DispatchKey,
    DispatchKeySet,
):
    _guard.__module__ = "torch._C"


def _creation_meta(tensor: Tensor) -> int:
    """How a view came to be: 0 DEFAULT, 1 IN_CUSTOM_FUNCTION, 2 MULTI_OUTPUT_NODE, 3 NO_GRAD_MODE, 4 INFERENCE_MODE.

    RuntimeError if the tensor is not a tracked view.
    """
    if not tensor._is_view():
        raise RuntimeError("creation meta is only defined for a differentiable view")
    assert tensor._meta is not None
    return tensor._meta.creation_meta


def _is_leaf(tensor: Tensor) -> bool:
    """`is_leaf()` as C++ has it: never raises, regenerates nothing."""
    return raw_is_leaf(tensor)


def _bump_version(tensor: Tensor) -> None:
    """`unsafeGetTensorImpl()->bump_version()`: RuntimeError on an inference tensor outside inference mode."""
    if tensor._version_counter is not None:
        tensor._version_counter[0] += 1
    elif not tls.state.inference_mode:
        raise RuntimeError(error_texts.INPLACE_ON_INFERENCE)


def _scalar_overload(name: str, *args: object, **kwargs: object) -> Any:
    """Call an op as C++ calls its Scalar overload: a number does not become a tensor, and brings no keys."""
    state = tls.state
    wrap, state.wrap_scalars = state.wrap_scalars, False
    try:
        function = FUNCTIONS.get(name) or getattr(Tensor, name)
        return function(*args, **kwargs)
    finally:
        state.wrap_scalars = wrap


def _set_grad_enabled(enabled: bool) -> None:
    tls.state.grad_mode = enabled


def _version_counts() -> dict[str, int]:
    """How often versions were bumped and views recorded so far in this process."""
    from .dispatch.writing_layers import COUNTS

    return dict(COUNTS)


class _WeakTensorRef:
    """A reference that doesn't keep a tensor alive."""

    def __init__(self, tensor: Tensor) -> None:
        self._reference = weakref.ref(tensor)

    def expired(self) -> bool:
        return self._reference() is None


#: `torch._C._autograd`
_autograd = SimpleNamespace(
    SavedTensor=SavedTensor,
    _saved_tensors_hooks_is_enabled=lambda: tls.state.no_saved_tensor_hooks is None,
    _get_current_graph_task_keep_graph=lambda: _late("_get_current_graph_task_keep_graph")(),
)


class _Networks:
    """`torch._C._nn`: functions for networks, below their checks in Python."""

    def __getattr__(self, name: str) -> Any:
        functional = late_module("nn.functional")
        found = FUNCTIONS.get(name) or getattr(functional, name, None)
        if found is None:
            raise error_texts.UnsupportedError(f"the shim has no torch._C._nn.{name}")
        return found


_nn = _Networks()


def __getattr__(name: str) -> Any:
    if name == "_functions":
        return late_module("autograd.python_nodes")
    if name in _LATE:
        return _late(name)
    return _missing("torch._C", name)


def _get_tracing_state() -> None:
    """Nothing is being traced in the way that PyTorch's tracer does it."""


def _late(name: str) -> Any:
    module, own = _LATE[name]
    return getattr(late_module(module), own)


#: Names that need modules which few programs use, and where they are.
_LATE = {
    "_is_tracing": ("jit", "is_tracing"),
    "_current_autograd_node": ("autograd.backward_engine", "running_node"),
    "_get_current_graph_task_keep_graph": ("autograd.backward_engine", "keeps_graph"),
    "_dispatch_has_kernel": ("library.op_library", "has_kernel"),
    "_dispatch_has_kernel_for_dispatch_key": ("library.op_library", "has_kernel_for_dispatch_key"),
    "_get_autograd_fallback_mode": ("library.missing_autograd", "get_mode"),
    "_set_autograd_fallback_mode": ("library.missing_autograd", "set_mode"),
    "_will_engine_execute_node": ("autograd.backward_engine", "will_execute"),
}
