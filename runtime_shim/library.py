"""`torch.library` and `torch.ops`: custom ops with kernels per dispatch key, called through the dispatcher.

lib = torch.library.Library("mylib", "DEF")
lib.define("scale(Tensor x, float by) -> Tensor")
lib.impl("scale", lambda x, by: x * by, "CPU")
torch.ops.mylib.scale(x, 2.0)
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

from guardfix.runtime_shim._tensor import Tensor
from guardfix.runtime_shim.kernels import FUNCTIONS
from guardfix.runtime_shim.names import missing
from guardfix.runtime_shim.state import ADINPLACEORVIEW, AUTOGRAD, BACKEND, tls

#: In the order in which the dispatcher tries them.
_LAYERS = {AUTOGRAD: "Autograd", ADINPLACEORVIEW: "ADInplaceOrView", BACKEND: "CPU"}
_KEYS = {
    "Autograd": AUTOGRAD,
    "AutogradCPU": AUTOGRAD,
    "ADInplaceOrView": ADINPLACEORVIEW,
    "CPU": BACKEND,
    "CompositeExplicitAutograd": BACKEND,
}
_ALL = AUTOGRAD | ADINPLACEORVIEW | BACKEND


class CustomOp:
    """A registered op. Calling it dispatches; `redispatch(keys, …)` starts from a given key set."""

    def __init__(self, namespace: str, name: str, schema: str) -> None:
        self.namespace = namespace
        self.name = name
        self.schema = schema
        self.kernels: dict[int, Callable[..., Any]] = {}
        self.composite: Callable[..., Any] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        state = tls.state
        keys = BACKEND | state.included
        for value in (*args, *kwargs.values()):
            if isinstance(value, Tensor):
                keys |= value._keys
            elif isinstance(value, list | tuple):
                for v in value:
                    if isinstance(v, Tensor):
                        keys |= v._keys
        return self._run(keys & ~state.excluded, args, kwargs)

    def redispatch(self, keys: Any, *args: Any, **kwargs: Any) -> Any:
        """Call the kernel of the highest key in `keys` (a DispatchKeySet or bits)."""
        return self._run(keys if isinstance(keys, int) else keys.bits, args, kwargs)

    def _run(self, keys: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        state = tls.state
        if self.composite is not None and not any(k & keys for k in self.kernels):
            return self.composite(*args, **kwargs)
        for bit in _LAYERS:
            if keys & bit and bit in self.kernels:
                result = self.kernels[bit](*args, **kwargs)
                if state.tracer is not None and bit == BACKEND:
                    state.tracer.record(f"{self.namespace}::{self.name}", keys, result if result is not None else ())
                return result
        if self.composite is not None:
            return self.composite(*args, **kwargs)
        raise NotImplementedError(
            f"Could not run '{self.namespace}::{self.name}' with arguments from the 'CPU' backend. No "
            "kernel is registered "
            f"for it; registered: {', '.join(_LAYERS[b] for b in self.kernels) or 'none'}"
        )

    @property
    def default(self) -> CustomOp:
        return self

    def __str__(self) -> str:
        return f"{self.namespace}.{self.name}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self.namespace}.{self.name}')>"


_registry: dict[str, dict[str, CustomOp]] = {}


def _split(qualified: str) -> tuple[str, str]:
    namespace, separator, name = qualified.partition("::")
    if not separator:
        raise RuntimeError(f"expected an op name of the form 'namespace::name', got {qualified!r}")
    return namespace, name


class Library:
    """Registers ops of one namespace. `kind` is "DEF", "FRAGMENT" or "IMPL"."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "FRAGMENT", "IMPL"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns in ("prim", "prims", "aten") and kind != "IMPL":
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key
        self.made: list[str] = []
        _registry.setdefault(ns, {})

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Declare an op by its schema, `name(Tensor x, …) -> Tensor`; returns its name."""
        found = re.match(r"\s*(?:[\w.]+::)?([\w.]+)\s*\(", schema)
        if found is None:
            raise RuntimeError(f"could not parse the schema {schema!r}; expected `name(Type arg, …) -> Type`")
        name = found[1]
        if name in _registry[self.ns]:
            raise RuntimeError(
                f"Tried to register an operator ({self.ns}::{schema}) with the same name and overload name "
                "multiple times."
            )
        _registry[self.ns][name] = CustomOp(self.ns, name, schema)
        self.made.append(name)
        return name

    def impl(self, op_name: Any, fn: Callable[..., Any], dispatch_key: str = "", *, with_keyset: bool = False) -> None:
        """Register a kernel for one dispatch key (default: CompositeImplicitAutograd)."""
        name = op_name.name if isinstance(op_name, CustomOp) else str(op_name).rpartition("::")[2]
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        if self.ns == "aten":
            raise NotImplementedError(
                f"the shim cannot override aten::{name}; supported: kernels for ops of your own namespaces"
            )
        if name not in _registry[self.ns]:
            raise RuntimeError(f"there is no op {self.ns}::{name}; define() it first")
        target = _registry[self.ns][name]
        if with_keyset:
            inner, bit = fn, _KEYS.get(key, BACKEND)

            def fn(*args: Any, **kwargs: Any) -> Any:
                return inner(_below(bit), *args, **kwargs)

        if key == "CompositeImplicitAutograd":
            target.composite = fn
        elif key in _KEYS:
            if _KEYS[key] in target.kernels:
                warnings.warn(
                    f"Overriding a previously registered kernel of {self.ns}::{name} for the dispatch key {key}",
                    UserWarning,
                    stacklevel=2,
                )
            target.kernels[_KEYS[key]] = fn
        else:
            raise NotImplementedError(
                f"the shim has no dispatch key {key}; supported: {', '.join((*_KEYS, 'CompositeImplicitAutograd'))}"
            )

    def _destroy(self) -> None:
        for name in self.made:
            _registry[self.ns].pop(name, None)


def _below(bit: int) -> int:
    keys = _ALL & ~tls.state.excluded
    for layer in _LAYERS:
        keys &= ~layer
        if layer == bit:
            break
    return keys


def define(qualname: str, schema: str, *, lib: Library | None = None, tags: Any = ()) -> None:
    """Declare `namespace::name` with a schema without the name, `(Tensor x) -> Tensor`."""
    namespace, name = _split(qualname)
    (lib or Library(namespace, "FRAGMENT")).define(name + schema)


def impl(qualname: Any, types: Any = "default", func: Any = None, *, lib: Library | None = None) -> Any:
    """Register a kernel for a device type ("cpu", "default") or dispatch key; usable as a decorator.

    `impl(library, name, dispatch_key)` decorates a kernel of an op of that Library.
    """
    if isinstance(qualname, Library):
        library, op_name, key = qualname, types, func or ""

        def implement(function: Callable[..., Any]) -> Callable[..., Any]:
            library.impl(op_name, function, key)
            return function

        return implement
    namespace, name = _split(qualname)

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for kind in (types,) if isinstance(types, str) else types:
            key = {"cpu": "CPU", "default": "CompositeExplicitAutograd"}.get(kind, kind)
            (lib or Library(namespace, "FRAGMENT")).impl(name, function, key)
        return function

    return register if func is None else register(func)


class _Namespace:
    """`torch.ops.<namespace>`."""

    def __init__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def __getattr__(self, name: str) -> Any:
        if self._name == "aten":
            if name in FUNCTIONS:
                return _Packet(name, FUNCTIONS[name])
            if not name.startswith("__") and hasattr(Tensor, name):
                return _Packet(name, getattr(Tensor, name))
        elif name in _registry.get(self._name, {}):
            return _registry[self._name][name]
        raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'")


class _Packet:
    """An aten op; overloads (`.Tensor`, `.default`) are the op itself, which chooses by its arguments."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.__name__ = name
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"


class _Ops:
    """`torch.ops`."""

    def __getattr__(self, name: str) -> _Namespace:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Namespace(name)


ops = _Ops()


def __getattr__(name: str) -> Any:
    raise missing("torch.library", name)
