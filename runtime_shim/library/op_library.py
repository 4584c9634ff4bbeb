"""`torch.library.Library`: what registers the ops and kernels of one namespace, and takes them back."""

from __future__ import annotations

import re
import sys
import warnings
import weakref
from collections.abc import Callable
from dataclasses import replace

from .. import _C
from ..core.function_table import AnyFunction
from ..core.thread_state import ADINPLACEORVIEW, AUTOGRAD, BACKEND
from .custom_ops import (
    AUTOGRAD_ALIAS,
    BACKEND_ALIAS,
    COMPOSITE,
    REGISTRY,
    CompiledKernel,
    OpOverload,
    WithKeySet,
    entry,
    fallthrough_kernel,
    ops,
)
from .schema_parsing import parse

KEYS = {
    "Autograd": AUTOGRAD_ALIAS,
    "AutogradCPU": AUTOGRAD,
    "ADInplaceOrView": ADINPLACEORVIEW,
    "CPU": BACKEND,
    "CompositeExplicitAutograd": BACKEND_ALIAS,
    "CompositeImplicitAutograd": COMPOSITE,
}
#: Keys of tensors that the shim does not have: their kernels are accepted and never run.
ELSEWHERE = re.compile(
    r"(?:Autograd|Autocast|Sparse|Quantized|SparseCsr|NestedTensor)?"
    r"(?:CUDA|HIP|XLA|MPS|IPU|XPU|HPU|VE|Lazy|MTIA|MAIA|PrivateUse[123]|Meta)"
    r"|(?:Sparse|Quantized|SparseCsr|NestedTensor)CPU|AutogradOther|AutogradNestedTensor"
)
#: Keys that calls on the CPU pass through in PyTorch, and not here.
REFUSED = re.compile(
    r"AutocastCPU|BackendSelect|Conjugate|Negative|ZeroTensor|Python\w*|PreDispatch|Functionalize|FuncTorch\w+"
    r"|CompositeExplicitAutogradNonFunctional|CompositeImplicitAutogradNestedTensor"
)


_KINDS = {"DEF": "TORCH_LIBRARY", "FRAGMENT": "TORCH_LIBRARY_FRAGMENT", "IMPL": "TORCH_LIBRARY_IMPL"}
#: Namespaces that have a Library of kind DEF.
_DEFINED: set[str] = set()
_PACKAGE = __name__.rpartition(".")[0]
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
        self.m = _Registrations()
        self._finalizer = weakref.finalize(self.m, _undo_all, self._undo)
        self._place = _caller()

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: object = ()) -> str:
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

    def impl(self, op_name: object, fn: AnyFunction, dispatch_key: str = "", *, with_keyset: bool = False) -> None:
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
        """Take back every definition and kernel, as happens when the last reference to the Library goes."""
        self._finalizer()


class _Registrations:
    """What a Library keeps as `m`: its registrations last as long as this object."""


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
    while frame.f_globals.get("__name__", "").startswith(_PACKAGE) and frame.f_back is not None:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


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


def implement(
    name: str, key: str, kernel: Callable[..., object] | None, called_from_python: Callable[[], None]
) -> None:
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
