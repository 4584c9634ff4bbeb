"""`torch.library.opcheck`: whether what is registered for an op fits what it does.

Of PyTorch's checks those of the schema, of the registered gradient, and of what is registered for tensors without
memory, which is called with tensors that have memory. Those with AOTAutograd need a compiler and are refused by name.
Source of the words: torch/testing/_internal/optests/generate_tests.py of 2.13.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.function_table import AnyFunction
from ..core.tensor import Tensor, requires_grad
from ..core.thread_state import AUTOGRAD
from .custom_op_definitions import CustomOpDef, defined_op, tensors_in
from .custom_ops import AUTOGRAD_ALIAS, COMPOSITE, OpOverload
from .schema_parsing import written_names

#: What `register_fake` registered, by qualified name.
FAKES: dict[str, AnyFunction] = {}
ALL_CHECKS = (
    "test_schema",
    "test_autograd_registration",
    "test_faketensor",
    "test_aot_dispatch_static",
    "test_aot_dispatch_dynamic",
)
DEFAULT_CHECKS = ("test_schema", "test_autograd_registration", "test_faketensor")


class OpCheckError(Exception):
    """A check of `opcheck` failed."""


class MetadataMismatchError(Exception):
    """What is registered for tensors without memory gives other sizes or types than the op."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __repr__(self) -> str:
        return f"MetadataMismatchError(reason={self.reason!r})"


class _Seen(NamedTuple):
    """A tensor argument before the call, and its elements."""

    name: str
    tensor: Tensor
    before: Any


def opcheck(
    op: object,
    args: tuple[object, ...],
    kwargs: dict[str, object] | None = None,
    *,
    test_utils: str | Sequence[str] = DEFAULT_CHECKS,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, object]:
    """Call the op in several ways with sample arguments: for each check "SUCCESS", or what it found.

    OpCheckError where a check fails, unless `raise_exception` is false.
    """
    found = op._opoverload if isinstance(op, CustomOpDef) else op
    if not isinstance(found, OpOverload):
        raise ValueError(
            "opcheck(op, ...): op must be instance of torch._ops.OpOverload, e.g. torch.ops.aten.sin.default, got "
            f"{type(op)}"
        )
    wanted = (test_utils,) if isinstance(test_utils, str) else tuple(test_utils)
    if not set(wanted) <= set(ALL_CHECKS):
        raise ValueError(
            f"opcheck(op, ..., test_utils={wanted}), expected test_utils to be subset of {ALL_CHECKS} but it was not"
        )
    results: dict[str, object] = {}
    for name in wanted:
        if name not in _CHECKS:
            raise NotImplementedError(f"the shim has no {name}; supported: {', '.join(_CHECKS)}")
        try:
            _CHECKS[name](found, args, kwargs or {})
            results[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(
                    f"opcheck(op, ...): {name} failed with {error} (scroll up for stack trace)"
                ) from error
            results[name] = error
    return results


def _copied(value: object) -> Any:
    if isinstance(value, Tensor):
        return value.detach().clone().requires_grad_(requires_grad(value))
    return type(value)(map(_copied, value)) if isinstance(value, list | tuple) else value


def _schema(op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """What the op writes to and what its results alias is what its schema says."""
    args, kwargs = _copied(args), {name: _copied(value) for name, value in kwargs.items()}
    schema = op._schema
    assert schema is not None
    values, named = op._bind(args, kwargs)
    seen = [
        _Seen(argument.name, t, t._array.copy())
        for argument, value in zip(schema.arguments, schema.complete(values, named), strict=True)
        for t in tensors_in((value,))
    ]
    result = op(*args, **kwargs)
    written = written_names(schema.arguments)
    aliased = {a.name for a in schema.arguments if "(" in a.type.text}
    for name, tensor, before in seen:
        if name not in written and not np.array_equal(tensor._array, before, equal_nan=before.dtype.kind in "fc"):
            raise RuntimeError(f"Argument {name} is not defined as mutable but was mutated")
    for made in tensors_in((result,)):
        for name, tensor, _ in seen:
            if name not in aliased and made._storage is tensor._storage and made._array.size:
                raise RuntimeError(f"Argument {name} is not defined to alias output but was aliasing")


def _autograd_registration(op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """An op whose results have a history has a kernel that makes it."""
    args, kwargs = _copied(args), {name: _copied(value) for name, value in kwargs.items()}
    if not any(map(requires_grad, tensors_in((*args, *kwargs.values())))):
        return
    if any(op.kernels.get(bit) for bit in (AUTOGRAD, AUTOGRAD_ALIAS, COMPOSITE)):
        return
    given = {id(t) for t in tensors_in((*args, *kwargs.values()))}
    made = [t for t in tensors_in((op(*args, **kwargs),)) if id(t) not in given]
    if any(map(requires_grad, made)):
        raise AssertionError(
            f"{op.name()}: at least one output of this operator has requires_grad=True but the operator does not have "
            "an autograd kernel defined at an autograd key (e.g. DispatchKey::Autograd). This could mean that you have "
            "incorrectly registered an autograd kernel to a non-Autograd DispatchKey, which may lead to silently "
            "incorrect results. If your operator consists of regular PyTorch operations, consider not using an "
            "operator at all or registering your operator as CompositeImplicitAutograd. If you have an "
            "autograd.Function registered to a backend (CPU/CUDA/XPU) key, the correct location for it is the Autograd "
            "key."
        )


def _fake(op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """What is registered for tensors without memory gives results of the op's sizes and types."""
    own = defined_op(op)
    fake = FAKES.get(op.name()) if own is None else own._fake
    if fake is None and own is not None:
        if not own.schema.returns:
            return
        raise RuntimeError(
            f"There was no fake impl registered for {own}. This is necessary for torch.compile/export/fx tracing to "
            f"work. Please use `{own._init_fn.__name__}.register_fake` to add an fake impl."
        )
    if fake is None:
        writes_alone = op._schema is not None and not op._schema.returns and written_names(op._schema.arguments)
        if op.kernels.get(COMPOSITE) or writes_alone:  # nothing to be described
            return
        raise RuntimeError(
            f"{op}: attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel "
            "registered"
        )
    expected = list(tensors_in((op(*_copied(args), **{k: _copied(v) for k, v in kwargs.items()}),)))
    found = list(tensors_in((fake(*_copied(args), **{k: _copied(v) for k, v in kwargs.items()}),)))
    context = (
        f"When comparing the output of {op} on FakeTensor and concrete Tensors, found mismatched tensor metadata: "
    )
    if len(expected) != len(found):
        raise MetadataMismatchError(f"{context}Number of outputs {len(expected)} and {len(found)} are not equal!")
    for mine, theirs in zip(expected, found, strict=True):
        for what in ("shape", "dtype"):
            a, b = getattr(mine, what), getattr(theirs, what)
            if a != b:
                raise MetadataMismatchError(f"{context}{what.capitalize()}s {a} and {b} are not equal!")


_CHECKS: dict[str, Callable[[OpOverload, tuple[Any, ...], dict[str, Any]], None]] = {
    "test_schema": _schema,
    "test_autograd_registration": _autograd_registration,
    "test_faketensor": _fake,
}
