"""`torch.library`: custom ops with kernels per dispatch key, called through the dispatcher.

library = torch.library.Library("mylib", "DEF") library.define("scale(Tensor x, float by) -> Tensor")
library.impl("scale", lambda x, by: x * by, "CPU") torch.ops.mylib.scale(x, 2.0)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..core.device import known
from ..core.function_table import AnyFunction
from ..core.supported_names import refuses_missing
from .custom_op_definitions import CustomOpDef, autograd_kernel, custom_op, defined_op
from .custom_ops import REGISTRY, OpOverload, fallthrough_kernel, ops, split_qualname
from .op_checks import FAKES, opcheck
from .op_library import ELSEWHERE, KEYS, Library
from .schema_parsing import infer_schema

__all__ = [
    "CustomOpDef", "Library", "custom_op", "define", "fallthrough_kernel", "impl", "impl_abstract", "infer_schema",
    "opcheck", "ops", "register_autograd", "register_fake", "register_kernel", "register_vmap",
]  # fmt: skip


#: Libraries that `define` and `impl` made, which no one else holds.
_KEPT: list[Library] = []


def _library(namespace: str, lib: Library | None) -> Library:
    if lib is None:
        lib = Library(namespace, "FRAGMENT")
        _KEPT.append(lib)
    return lib


def define(
    qualname: object, schema: str, alias_analysis: str = "", *, lib: Library | None = None, tags: object = ()
) -> object:
    """Declare `namespace::name` with a schema without the name, `(Tensor x) -> Tensor`.

    `define(library, schema)` declares an op of that Library, and decorates its kernel for all devices.
    """
    if isinstance(qualname, Library):
        library, name = qualname, qualname.define(schema, alias_analysis, tags=tags)

        def implement(function: Callable[..., object]) -> AnyFunction:
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

        def implement(function: AnyFunction) -> AnyFunction:
            library.impl(op_name, function, key)
            return function

        return implement
    namespace, name = split_qualname(qualname)
    keys = [_key_of(kind) for kind in ((types,) if isinstance(types, str) else types)]

    def register(function: AnyFunction) -> None:
        library = _library(namespace, lib)
        for key in dict.fromkeys(keys):
            library.impl(name, function, key)

    return register if func is None else register(func)


def register_autograd(
    op: object,
    backward: Callable[..., object],
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
    op: object,
    func: Callable[..., object] | None = None,
    /,
    *,
    lib: Library | None = None,
    allow_override: bool = False,
) -> object:
    """Register what an op does with tensors without memory. The shim has none, so that it never runs.

    Usable as a decorator. AttributeError if the op is not defined.
    """
    own = defined_op(op)
    found = _defined(op) if own is None else own._opoverload

    def register(function: AnyFunction) -> AnyFunction:
        if own is not None:
            return own.register_fake(function)
        _library(found.namespace, lib).impl(found.name(), function, "Meta")
        FAKES[found.name()] = function
        return function

    return register if func is None else register(func)


def impl_abstract(qualname: object, func: Callable[..., object] | None = None, *, lib: Library | None = None) -> object:
    """The old name of `register_fake`."""
    return register_fake(qualname, func, lib=lib)


def register_kernel(
    op: object, device_types: object, func: Callable[..., object] | None = None, /, *, lib: Library | None = None
) -> object:
    """Register what an op does for one type of device, several, or all (None); usable as a decorator."""
    own = defined_op(op)
    if own is not None:
        return own.register_kernel(device_types, func)
    found = _defined(op)
    types = "CompositeExplicitAutograd" if device_types is None else device_types

    def register(function: AnyFunction) -> AnyFunction:
        impl(found.name(), types, function, lib=_library(found.namespace, lib))
        return function

    return register if func is None else register(func)


def register_vmap(op: object, func: Callable[..., object] | None = None, /, *, lib: Library | None = None) -> object:
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


def _defined(op: object) -> OpOverload:
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


__getattr__ = refuses_missing("torch.library")
