"""The lines that register ops, and how an op becomes `torch.<name>` and a method of Tensor."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..core.error_texts import PUBLIC_CODE
from ..core.function_table import FUNCTIONS, AnyFunction
from ..core.tensor import WHEN_PUBLISHED, Tensor
from ..core.thread_state import tls
from .functional_layers import functional
from .kernel_forms import with_numpy_names
from .op_description import (
    ANY_DTYPE,
    ELEMENTWISE,
    OPS,
    RESIZED,
    KernelFunction,
    Op,
    OutRule,
    describe,
    said,
)
from .writing_layers import inplace, run_out, with_out


def op(
    name: str,
    /,
    *,
    inplace: bool = False,
    method: bool = True,
    function: bool = True,
    out: OutRule | tuple[OutRule, ...] = ELEMENTWISE,
    **facts: object,
) -> Callable[[KernelFunction], AnyFunction]:
    """Register a functional op whose kernel takes and returns numpy arrays, as `torch.name` and `Tensor.name`.

    `inplace` also makes `name_`, with its own kernel if `inplace_kernel` is given, and its own node if
    `recorded_in_place` is (see `recorded_write`). What the op takes is said by
    `tensor_params`, `numbers` (see `describe`), `lists`, `computes` and `out`; it refuses the rest. `leak`, `refuses`
    and `below` say what shows of PyTorch's kernel where no autograd kernel wraps it: versions left on the results, the
    out= form that refuses, the ops it is made of. What `describe` has no option for are the gradients, by parameter.
    """

    def register(kernel: KernelFunction) -> AnyFunction:
        if name in OPS and (function or method):
            raise ValueError(f"{kernel.__module__} registers {name}, but there is an op of that name already")
        made = OPS[name] = describe(
            name,
            kernel,
            public=function or method or "title" in facts,
            out=out if isinstance(out, OutRule) else out[0],
            **said(facts),
        )
        call = _generic(made)
        call.__doc__ = kernel.__doc__
        publish(name, call, method, function)
        if function and "outputs" in facts:
            FUNCTIONS[name] = with_out(FUNCTIONS[name], made.title, out)
        if inplace:
            call.inplace = _generic_inplace(made)  # type: ignore[attr-defined]
            call.inplace.__doc__ = kernel.__doc__  # type: ignore[attr-defined]
            publish(name + "_", call.inplace, method, function)  # type: ignore[attr-defined]
        return call

    return register


def inner_op(name: str, /, **options: Any) -> Callable[[KernelFunction], AnyFunction]:
    """`op` for what is no function of `torch` and no method: of every dtype, unless `computes` says less."""
    return op(name, **{"computes": ANY_DTYPE, "out": RESIZED, "method": False, "function": False, **options})


def publish(name: str, call: Callable[..., object], method: bool = True, function: bool = True) -> None:
    """Make `call` available as `torch.<name>` and as a method of Tensor."""
    if function:
        FUNCTIONS[name] = _form(call, name, "torch")
    if method:
        setattr(Tensor, name, _form(call, name, "Tensor"))
    for told in WHEN_PUBLISHED:
        told(call)


def _form(call: AnyFunction, name: str, owner: str) -> AnyFunction:
    """`call` as a function, whose first parameter is called `input`, or as a method.

    Both run the same code at the same speed, each as its own code object, by which errors tell how the op was
    called.
    """
    code = call.__code__
    renamed: dict[str, Any] = {}
    if owner == "torch" and code.co_argcount and code.co_varnames[0] == "self":
        for field in ("co_varnames", "co_cellvars"):
            renamed[field] = tuple("input" if v == "self" else v for v in getattr(code, field))
    code = code.replace(co_name=name, **renamed)
    positions, defaults = code.co_argcount, call.__defaults__ or ()
    if not positions and isinstance(described := getattr(call, "op", None), Op):
        positions = len(described.params)
        defaults = tuple(described.defaults[p] for p in described.params if p in described.defaults)
    PUBLIC_CODE[id(code)] = code, owner, name, positions - len(defaults), defaults
    made = FunctionType(code, call.__globals__, name, call.__defaults__, call.__closure__)
    made.__kwdefaults__ = call.__kwdefaults__
    made.__doc__, made.__module__, made.__qualname__ = call.__doc__, call.__module__, name
    made.__dict__.update(call.__dict__)
    return with_numpy_names(name, made)


def composite(
    name: str | None = None,
    *,
    method: bool = True,
    function: bool = True,
    out: OutRule | tuple[OutRule, ...] | None = None,
    out_title: str | None = None,
    computed_in_out: Callable[..., bool] | None = None,
) -> Callable[[AnyFunction], AnyFunction]:
    """Publish a function made of other ops; it passes no layer of its own.

    With `out`, the function has an `out=` by that rule; see `with_out`. `out_title` is what its messages say.
    """

    def register(call: AnyFunction) -> AnyFunction:
        published = name or call.__name__
        call.__name__ = call.__qualname__ = published
        publish(published, call, method, function)
        if out is not None:
            title = out_title or published
            FUNCTIONS[published] = with_out(FUNCTIONS[published], title, out, computed_in_out)
        return call

    return register


def _generic(op: Op) -> AnyFunction:
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            out = kwargs.pop("out", None)
            args = op.bind(args, kwargs)
            if out is not None:
                return run_out(op, args, out)
        elif len(args) != count:
            args = op.bind(args, kwargs)
        return functional(op, tls.state, args)

    count = len(op.params)
    call.op = op  # type: ignore[attr-defined]
    return call


def _generic_inplace(op: Op) -> AnyFunction:
    def call(*args: object, **kwargs: object) -> Any:
        bound = op.bind(args, kwargs) if kwargs or len(args) != len(op.params) else args
        return inplace(op, tls.state, bound)

    call.op = op  # type: ignore[attr-defined]
    return call
