"""`torch.library.custom_op`: an op out of a Python function, with a schema that its annotations say.

Source of the behaviour and of the words: torch/_library/custom_ops.py of 2.13. What is registered for tensors without
memory and for vmap is kept and never runs: the shim has neither.
"""

from __future__ import annotations

import contextlib
import logging
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..autograd.function import Function
from ..core.gradient_modes import exclude, leave_excluded
from ..core.tensor import Tensor, requires_grad
from ..core.thread_state import ADINPLACEORVIEW, AUTOGRAD, tls
from .custom_ops import OpOverload, entry, split_qualname
from .op_library import Library
from .operator_schema import Schema
from .schema_parsing import infer_schema, written_names

SetupContext = Callable[..., None]
_GUARD = "_AutoDispatchBelowAutograd"


def tensors_in(values: Any) -> Iterator[Tensor]:
    """The tensors among values and in lists of them."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from tensors_in(value)


class _Call:
    """What a call has beside tensors: keywords, and which arguments and results are lists, as their lengths."""

    def __init__(self, keywords: dict[str, Any], inputs: Sequence[int | None], given: int) -> None:
        self.keywords, self.inputs, self.given = keywords, inputs, given
        self.outputs: Sequence[int | None] = ()
        self.single = True


def _lengths(values: Sequence[object]) -> list[int | None]:
    return [len(value) if isinstance(value, list | tuple) else None for value in values]


def _flat(values: Sequence[object]) -> list[object]:
    return [v for value in values for v in (value if isinstance(value, list | tuple) else (value,))]


def _nested(values: Sequence[object], lengths: Sequence[int | None]) -> list[object]:
    """The opposite of `_flat`."""
    rest = iter(values)
    return [next(rest) if n is None else [next(rest) for _ in range(n)] for n in lengths]


def autograd_kernel(op: OpOverload, backward: Callable[..., Any], setup_context: SetupContext | None) -> Any:
    """A kernel for the Autograd key: the op below it, whose gradients `backward(ctx, *grads)` gives, one an input.

    The gradient of a list of tensors is a list.
    """

    def below(args: Sequence[object], keywords: dict[str, object]) -> Any:
        before = exclude(AUTOGRAD, _GUARD)
        try:
            return op(*args, **keywords)
        finally:
            leave_excluded(before, _GUARD)

    def forward(ctx: Any, *flat: Any) -> Any:
        call: _Call = flat[-1]
        ctx.call = call
        args = tuple(_nested(flat[:-1], call.inputs))
        result = below(args, call.keywords)
        if setup_context is not None and call.keywords:
            setup_context(ctx=ctx, inputs=args, keyword_only_inputs=call.keywords, output=result)
        elif setup_context is not None:
            setup_context(ctx=ctx, inputs=args, output=result)
        call.single = not isinstance(result, tuple)
        results = (result,) if call.single else result
        call.outputs = _lengths(results)
        found = _flat(results)
        return found[0] if call.outputs == [None] else tuple(found)

    def run_backward(ctx: Any, *grads: Any) -> Any:
        call: _Call = ctx.call
        needed = ctx.needs_input_grad
        try:
            ctx.needs_input_grad = tuple(_nested(needed[:-1], call.inputs))
            found = backward(ctx, *_nested(grads, call.outputs))
        finally:
            ctx.needs_input_grad = needed
        each = found if isinstance(found, tuple) else (found,)
        if len(each) >= call.given:  # what has its default needs no gradient
            each += (None,) * (len(call.inputs) - len(each))
        if any(call.inputs):
            each = tuple(
                [None] * n if n is not None and grad is None else grad
                for n, grad in zip(call.inputs, each, strict=False)
            )
        return (*_flat(each), None)

    name = f"GeneratedBackwardFor_{op.namespace}_{op._opname}_{op._overloadname}"
    body = {"forward": staticmethod(forward), "backward": staticmethod(run_backward)}
    function: Any = type(name, (Function,), body)

    def kernel(*args: object, **keywords: object) -> Any:
        if not (tls.state.grad_mode and any(map(requires_grad, tensors_in((*args, *keywords.values()))))):
            return below(args, keywords)
        assert op._schema is not None
        # Backward gives a gradient for each argument of the schema that is not keyword-only: defaults count.
        completed = op._schema.complete(args, keywords)
        positional = [v for v, a in zip(completed, op._schema.arguments, strict=True) if not a.keyword_only]
        named = {a.name: v for v, a in zip(completed, op._schema.arguments, strict=True) if a.keyword_only}
        call = _Call(named, _lengths(positional), len(args))
        found = function.apply(*_flat(positional), call)
        if call.outputs == [None]:
            return found
        results = _nested(found, call.outputs)
        return results[0] if call.single else tuple(results)

    return kernel


_Function = Callable[..., Any]
log = logging.getLogger("torch._library.custom_ops")

#: The ops that `custom_op` made, by qualified name.
DEFINED: weakref.WeakValueDictionary[str, CustomOpDef] = weakref.WeakValueDictionary()
_KEPT: dict[str, Any] = {}


def custom_op(
    name: str,
    fn: _Function | None = None,
    /,
    *,
    mutates_args: Any,
    device_types: Any = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make an op `namespace::name` of a function; usable as a decorator.

    `mutates_args` names the parameters that it writes to; `device_types` are those that the function is for (None:
    all). ValueError if the annotations say no schema, or another than is given.
    """

    def define(function: _Function) -> CustomOpDef:
        said = infer_schema(function, mutates_args=mutates_args) if schema is None else schema
        namespace, op_name = split_qualname(name)
        made = CustomOpDef(namespace, op_name, said, function, tags)
        if schema is not None:
            suggested = written_names(made.schema.arguments)
            if suggested != set(mutates_args):
                raise ValueError(
                    f"Attempted to create a custom op with `mutates_args={mutates_args}` and `schema={schema}. The "
                    f"schema suggests that the op mutates {suggested}which is different from what was provided to us "
                    "in `mutates_args`. Please make these consistent."
                )
        made.register_kernel(device_types)(function)
        return made

    return define if fn is None else define(fn)


class CustomOpDef:
    """An op made of a Python function. Calling it goes through the dispatcher."""

    def __init__(self, namespace: str, name: str, schema: str, fn: _Function, tags: object = None) -> None:
        self._namespace, self._name, self._init_fn = namespace, name, fn
        self._qualname = f"{namespace}::{name}"
        self._kernels: dict[str | None, _Function] = {}
        self._disabled: set[str] = set()
        self._fake: _Function | None = None
        self._backward: _Function | None = None
        self._setup_context: _Function | None = None
        before = _KEPT.pop(self._qualname, None)
        if before is not None:
            before._destroy()
        self._lib = _KEPT[self._qualname] = Library(namespace, "FRAGMENT")
        self._lib.define(name + schema, tags=tags or ())
        self._opoverload = entry(namespace, name)
        if any(a.keyword_only and a.type.name == "Tensor" for a in self.schema.arguments):
            self._lib._destroy()
            raise NotImplementedError(
                f"custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only. Got: {name}{schema}"
            )
        self._written = written_names(self.schema.arguments)
        self._lib.impl(name, autograd_kernel(self._opoverload, self._run_backward, self._run_setup), "Autograd")
        if self._written:
            self._lib.impl(name, self._count_writes, "ADInplaceOrView", with_keyset=True)
        DEFINED[self._qualname] = self

    @property
    def schema(self) -> Schema:
        found = self._opoverload._schema
        assert found is not None
        return found

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._opoverload(*args, **kwargs)

    # -- kernels

    def register_kernel(self, device_types: Any, fn: _Function | None = None, /) -> Any:
        """Register what runs for one type of device, several, or all (None)."""

        def register(function: _Function) -> _Function:
            types: Sequence[str | None]
            types = [device_types] if device_types is None or isinstance(device_types, str) else list(device_types)
            names = [a.name for a in self.schema.arguments]
            if types != [None] and not self._takes_tensors() and "device" not in names:
                raise ValueError(
                    "Functions without tensor inputs are required to have a `device: torch.device` argument"
                )
            first = not {"cpu", None} & set(self._kernels)
            self._kernels.update(dict.fromkeys(types, function))
            if first and {"cpu", None} & set(types):
                self._lib.impl(self._name, self._run, "CPU")
            return function

        return register if fn is None else register(fn)

    @contextlib.contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """Within the block, let the kernel of a type of device run, or the function that the op was made of."""
        action = "enable" if enabled else "disable"
        before = device_type in self._disabled
        if device_type not in self._kernels:
            log.warning(
                "Attempted to %s kernel for %s but no kernel was registered for this device type.", action, device_type
            )
        if before != enabled:
            log.warning("Attempted to %s kernel for %s but it was already %s.", action, device_type, f"{action}d")
        (self._disabled.discard if enabled else self._disabled.add)(device_type)
        try:
            yield
        finally:
            (self._disabled.add if before else self._disabled.discard)(device_type)

    def _takes_tensors(self) -> bool:
        return any(a.type.name == "Tensor" for a in self.schema.arguments)

    def _run(self, *args: object, **kwargs: object) -> Any:
        kernel = self._kernels.get("cpu") or self._kernels.get(None)
        if "cpu" in self._disabled or kernel is None:
            kernel = self._init_fn
        result = kernel(*args, **kwargs)
        seen = {id(t._storage) for t in tensors_in((*args, *kwargs.values()))}
        for made in tensors_in((result,)):
            if id(made._storage) in seen:
                raise RuntimeError(
                    f"{self._name} (with implementation in {_module_of(kernel)}): The output of this custom operator "
                    "(1) must not also be an input to this custom operator and (2) may not alias any inputs to this "
                    "custom operator or other returns. The most common way to trigger this error is if we have y = "
                    "custom_op(x) and y and x are the same Tensor. Please instead return a clone of the offending "
                    "output tensor(s) (e.g. return x.clone()) or refactor the custom operator to not return y."
                )
            seen.add(id(made._storage))
        return result

    def _count_writes(self, keys: Any, *args: Any, **kwargs: Any) -> Any:
        """The kernel under ADInplaceOrView: what the schema says is written to counts a write.

        The writes of the op's own function count as well, for no guard is around it but the one below Autograd.
        """
        values = self.schema.complete(args, kwargs)
        for argument, value in zip(self.schema.arguments, values, strict=True):
            if argument.name in self._written:
                for t in tensors_in((value,)):
                    t._storage[0] += 1
                    if t._version_counter is not None:
                        t._version_counter[0] += 1
        before = exclude(AUTOGRAD, "_AutoDispatchBelowAutograd")
        try:
            return self._opoverload.redispatch(keys.bits & ~(AUTOGRAD | ADINPLACEORVIEW), *args, **kwargs)
        finally:
            leave_excluded(before, "_AutoDispatchBelowAutograd")

    # -- the rest

    def register_fake(self, fn: _Function, /) -> _Function:
        """Say what the op does with tensors without memory. `opcheck` compares it with what the op does."""
        self._fake = fn
        return fn

    register_abstract = register_fake

    def register_vmap(self, func: _Function | None = None) -> Any:
        """Accepted; the shim has no vmap, so that it never runs."""
        return (lambda function: None) if func is None else None

    def register_autograd(self, backward: _Function, /, *, setup_context: _Function | None = None) -> None:
        """Give the op a gradient: `backward(ctx, *grads)` returns one for each input.

        `setup_context(ctx, inputs, output)` saves what it needs. RuntimeError if the op writes to an input.
        """
        if self._written or not self.schema.returns:
            raise RuntimeError(
                f"Cannot register autograd formula for non-functional operator {self} with schema {self.schema}. "
                "Please create a functional operator and register an autograd formula for that."
            )
        self._backward, self._setup_context = backward, setup_context

    def _run_setup(self, **given: object) -> None:
        if self._setup_context is not None:
            self._setup_context(**given)

    def _run_backward(self, ctx: object, *grads: object) -> Any:
        if self._backward is None:
            raise RuntimeError(
                f"Trying to backward through {self._opoverload} but no autograd formula was registered. Please use "
                "register_autograd to add one."
            )
        return self._backward(ctx, *grads)


def _module_of(function: _Function) -> Any:
    import inspect

    return inspect.getmodule(function)


def defined_op(op: object) -> CustomOpDef | None:
    """The op of `custom_op` that is meant by itself, by its overload or by its name."""
    if isinstance(op, CustomOpDef):
        return op
    name = op.name() if isinstance(op, OpOverload) else op
    found = DEFINED.get(name) if isinstance(name, str) else None
    return found if found is not None and found._lib is _KEPT.get(found._qualname) else None


__all__ = ["CustomOpDef", "Tensor", "custom_op", "defined_op"]
