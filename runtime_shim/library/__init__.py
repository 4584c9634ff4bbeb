"""`torch.library`: custom ops with kernels per dispatch key, called through the dispatcher.

library = torch.library.Library("mylib", "DEF")
library.define("scale(Tensor x, float by) -> Tensor")
library.impl("scale", lambda x, by: x * by, "CPU")
torch.ops.mylib.scale(x, 2.0)
"""

from __future__ import annotations

import re
import sys
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ..core.device import known
from ..core.supported_names import missing_attribute
from .custom_op_definitions import CustomOpDef, custom_op, defined_op
from .custom_ops import REGISTRY, OpOverload, WithKeySet, entry, fallthrough_kernel, ops, split_qualname
from .dispatch_keys import ELSEWHERE, KEYS, REFUSED
from .op_checks import FAKES, opcheck
from .registered_autograd import autograd_kernel
from .schema_inference import infer_schema
from .schema_parsing import parse

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "ops",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_vmap",
]

_KINDS = {"DEF": "TORCH_LIBRARY", "FRAGMENT": "TORCH_LIBRARY_FRAGMENT", "IMPL": "TORCH_LIBRARY_IMPL"}
#: Namespaces that have a Library of kind DEF.
_DEFINED: set[str] = set()
_warned_of_overriding = False


class Library:
    """Registers ops of one namespace. `kind` is "DEF", "FRAGMENT" or "IMPL". Its ops and kernels go with it."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in _KINDS:
            raise ValueError(f"Unsupported kind: {kind}")
        if ns in ("prim", "prims", "aten") and kind != "IMPL":
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        if kind == "DEF":
            if ns in _DEFINED:
                raise RuntimeError(
                    f"Only a single TORCH_LIBRARY can be used to register the namespace {ns}; please put all of your "
                    "definitions in a single TORCH_LIBRARY block.  If you were trying to specify implementations, "
                    "consider using TORCH_LIBRARY_IMPL (which can be duplicated).  If you really intended to define "
                    "operators for a single namespace in a distributed way, you can use TORCH_LIBRARY_FRAGMENT to "
                    "explicitly indicate this."
                )
            _DEFINED.add(ns)
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key
        self._undo: list[Callable[[], None]] = []
        if kind == "DEF":
            self._undo.append(lambda: _DEFINED.discard(ns))
        self._finalizer = weakref.finalize(self, _undo_all, self._undo)
        self._place = _caller()

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Declare an op by its schema, `name(Tensor x, …) -> Tensor`; returns its name and overload.

        RuntimeError if the schema can't be parsed or the op is there already.
        """
        parsed = parse(schema)
        if self.kind == "IMPL":
            raise RuntimeError(
                f'def("{parsed.name}"): Cannot define an operator inside of a TORCH_LIBRARY_IMPL block.  All def()s '
                f"should be placed in the (unique) TORCH_LIBRARY block for their namespace.  {self._block()}"
            )
        if parsed.namespace not in ("", self.ns):
            raise RuntimeError(
                f"Explicitly provided namespace ({parsed.namespace}) in schema string does not match namespace of "
                f"enclosing {_KINDS[self.kind]} block ({self.ns}).  Move this definition to the (unique) TORCH_LIBRARY "
                "block corresponding to this namespace (and consider deleting the namespace from your schema string.)"
                f"  {self._block()}"
            )
        name = parsed.name + (f".{parsed.overload}" if parsed.overload else "")
        op = entry(self.ns, name)
        parsed = replace(parsed, namespace=self.ns)
        if op._schema is not None:
            raise RuntimeError(
                f"Tried to register an operator ({parsed}) with the same name and overload name multiple times. Each "
                "overload's schema should only be registered with a single call to def(). Duplicate registration: "
                f"registered at {_caller()}. Original registration: registered at {op.defined_at}"
            )
        op._schema, op.defined_at = parsed, self._place
        op.tags = list(tags) if isinstance(tags, tuple | list) else [tags]
        self._undo.append(lambda: _undefine(op, name))
        return schema.partition("(")[0].strip()

    def impl(self, op_name: Any, fn: Callable[..., Any], dispatch_key: str = "", *, with_keyset: bool = False) -> None:
        """Register a kernel for one dispatch key (default: CompositeImplicitAutograd)."""
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        if isinstance(op_name, OpOverload):
            op_name = op_name.name()
        elif not isinstance(op_name, str):
            raise RuntimeError(
                "impl should be passed either a name or an OpOverload object as the first argument, got "
                f"{type(op_name)}"
            )
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        namespace, _, name = op_name.rpartition("::")
        if namespace not in ("", self.ns):
            raise RuntimeError(
                f'impl("{op_name}", ...): Explicitly provided namespace ({namespace}) in operator name does not match '
                f"namespace of enclosing {_KINDS[self.kind]} block ({self.ns}).  Move this definition to the "
                f"{_KINDS[self.kind]} block corresponding to this namespace (and consider deleting the namespace from "
                f"your schema string.)  {self._block()}"
            )
        if self.ns == "aten":
            raise NotImplementedError(
                f"the shim cannot override aten::{name}; supported: kernels for ops of your own namespaces"
            )
        if key not in KEYS:
            _check_elsewhere(key)
            elsewhere = entry(self.ns, name).elsewhere
            elsewhere.append(key)
            self._undo.append(lambda: elsewhere.remove(key))
            return
        op, bit = entry(self.ns, name), KEYS[key]
        if key == "CompositeExplicitAutograd":
            op.elsewhere.append("for all")
            self._undo.append(lambda: op.elsewhere.remove("for all"))
        if op.kernels.get(bit):
            _warn_of_overriding(op, key)
        kernel = WithKeySet(fn) if with_keyset else fn
        op.add_kernel(bit, kernel)
        for tell in op.when_python_registers:
            tell()
        self._undo.append(lambda: op.remove_kernel(bit, kernel))

    def _block(self) -> str:
        return f"(Error occurred while processing {_KINDS[self.kind]} block at {self._place})"

    def _destroy(self) -> None:
        """Take back every definition and kernel, as happens when nobody holds the Library any more."""
        self._finalizer()


def _undo_all(steps: list[Callable[[], None]]) -> None:
    while steps:
        steps.pop()()


def _undefine(op: OpOverload, name: str) -> None:
    op._schema = None
    if not any(op.kernels.values()):
        REGISTRY[op.namespace].pop(name, None)
    ops.__dict__.pop(op.namespace, None)


def _warn_of_overriding(op: OpOverload, key: str) -> None:
    global _warned_of_overriding
    if not _warned_of_overriding:
        _warned_of_overriding = True
        warnings.warn(
            "Warning only once for all operators,  other operators may also be overridden.\n"
            "  Overriding a previously registered kernel for the same operator and the same dispatch key\n"
            f"  operator: {op._schema or op.name()}\n  dispatch key: {key}",
            UserWarning,
            stacklevel=3,
        )


def _check_elsewhere(key: str) -> None:
    if ELSEWHERE.fullmatch(key):
        return
    if REFUSED.fullmatch(key):
        raise NotImplementedError(f"the shim has no dispatch key {key}; supported: {', '.join(KEYS)}")
    raise RuntimeError(f"could not parse dispatch key: {key}")


def _caller() -> str:
    """file:line of the code outside this package that is running."""
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__", "").startswith(__name__) and frame.f_back is not None:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


# -- functions
# -------------------------------------------------------------------------------------------------------

#: Libraries that `define` and `impl` made, which nobody else holds.
_KEPT: list[Library] = []


def _library(namespace: str, lib: Library | None) -> Library:
    if lib is None:
        lib = Library(namespace, "FRAGMENT")
        _KEPT.append(lib)
    return lib


def define(qualname: Any, schema: str, alias_analysis: str = "", *, lib: Library | None = None, tags: Any = ()) -> Any:
    """Declare `namespace::name` with a schema without the name, `(Tensor x) -> Tensor`.

    `define(library, schema)` declares an op of that Library, and decorates its kernel for all devices.
    """
    if isinstance(qualname, Library):
        library, name = qualname, qualname.define(schema, alias_analysis, tags=tags)

        def implement(function: Callable[..., Any]) -> Callable[..., Any]:
            library.impl(name, function)
            return function

        return implement
    if not isinstance(qualname, str):
        raise ValueError(
            "define(qualname, schema): expected qualname to be instance of str, got " + str(type(qualname))
        )
    namespace, name = split_qualname(qualname)
    if not re.fullmatch(r"\(.*\) -> .*", schema):
        raise ValueError(
            'define(qualname, schema, ...): expected schema to look like e.g. "(Tensor x) -> Tensor" but got '
            f'"{schema}"'
        )
    _library(namespace, lib).define(name + schema, tags=tags)
    return None


def impl(qualname: Any, types: Any = "default", func: Any = None, *, lib: Library | None = None) -> Any:
    """Register a kernel for device types ("cpu", "default") or dispatch keys; usable as a decorator.

    `impl(library, name, dispatch_key)` decorates a kernel of an op of that Library.
    """
    if isinstance(qualname, Library):
        library, op_name, key = qualname, types, func or ""

        def implement(function: Callable[..., Any]) -> Callable[..., Any]:
            library.impl(op_name, function, key)
            return function

        return implement
    namespace, name = split_qualname(qualname)
    keys = [_key_of(kind) for kind in ((types,) if isinstance(types, str) else types)]

    def register(function: Callable[..., Any]) -> None:
        library = _library(namespace, lib)
        for key in dict.fromkeys(keys):
            library.impl(name, function, key)

    return register if func is None else register(func)


def register_autograd(
    op: Any,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., None] | None = None,
    lib: Library | None = None,
) -> None:
    """Give an op a gradient: `backward(ctx, *grads)` returns one for each input.

    `setup_context(ctx, inputs, output)` saves what it needs. AttributeError if the op is not defined.
    """
    own = defined_op(op)
    if own is not None:
        own.register_autograd(backward, setup_context=setup_context)
        return
    found = _defined(op)
    assert found._schema is not None
    if any(a.keyword_only and a.type.name == "Tensor" for a in found._schema.arguments):
        raise NotImplementedError(
            f"register_autograd with kwarg-only Tensor args. In the original definition of the op, please make your "
            f"tensors not kwarg-only. Got: {found._schema}"
        )
    _library(found.namespace, lib).impl(found.name(), autograd_kernel(found, backward, setup_context), "Autograd")


def register_fake(
    op: Any, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None, allow_override: bool = False
) -> Any:
    """Register what an op does with tensors without memory. The shim has none, so that it never runs.

    Usable as a decorator. AttributeError if the op is not defined.
    """
    own = defined_op(op)
    found = _defined(op) if own is None else own._opoverload

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        if own is not None:
            return own.register_fake(function)
        _library(found.namespace, lib).impl(found.name(), function, "Meta")
        FAKES[found.name()] = function
        return function

    return register if func is None else register(func)


def impl_abstract(qualname: Any, func: Callable[..., Any] | None = None, *, lib: Library | None = None) -> Any:
    """The old name of `register_fake`."""
    return register_fake(qualname, func, lib=lib)


def register_kernel(
    op: Any, device_types: Any, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None
) -> Any:
    """Register what an op does for one type of device, several, or all (None); usable as a decorator."""
    own = defined_op(op)
    if own is not None:
        return own.register_kernel(device_types, func)
    found = _defined(op)
    types = "CompositeExplicitAutograd" if device_types is None else device_types

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        impl(found.name(), types, function, lib=_library(found.namespace, lib))
        return function

    return register if func is None else register(func)


def register_vmap(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None) -> Any:
    """Accepted; the shim has no vmap, so that it never runs."""
    own = defined_op(op)
    schema = (_defined(op) if own is None else own._opoverload)._schema
    assert schema is not None
    if any(a.keyword_only and a.type.name == "Tensor" for a in schema.arguments):
        raise NotImplementedError(
            "register_vmap with kwarg-only Tensor args. In the original definition of the op, please make your tensors "
            f"not kwarg-only. Got: {schema}"
        )
    return (lambda function: None) if func is None else None


def _defined(op: Any) -> OpOverload:
    """The op itself, or of the name `namespace::name`."""
    if isinstance(op, OpOverload):
        return op
    if not isinstance(op, str):
        raise ValueError(f"expected a name or an op, got {type(op)}")
    namespace, name = split_qualname(op)
    found = REGISTRY.get(namespace, {}).get(name)
    if found is None or found._schema is None:
        raise AttributeError(f"'_OpNamespace' '{namespace}' object has no attribute '{name}'")
    return found


def _key_of(kind: str) -> str:
    if kind == "default":
        return "CompositeExplicitAutograd"
    if kind in KEYS or ELSEWHERE.fullmatch(kind):
        return kind
    known(kind)
    return {"cpu": "CPU", "meta": "Meta"}.get(kind, kind.upper() if len(kind) < 5 else "PrivateUse1")


@contextmanager
def _scoped_library(*args: Any, **kwargs: Any) -> Iterator[Library]:
    library = Library(*args, **kwargs)
    try:
        yield library
    finally:
        library._destroy()


def __getattr__(name: str) -> Any:
    raise missing_attribute("torch.library", name)
