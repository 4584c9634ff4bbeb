"""`torch.library.register_autograd`: gradients in Python for an op that has its kernel already, in C++ perhaps.

Source of the behaviour: torch/library.py and torch/_library/autograd.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..autograd.function import Function
from ..core.gradient_modes import exclude, leave_excluded
from ..core.tensor import Tensor, requires_grad
from ..core.thread_state import AUTOGRAD, tls
from .custom_ops import OpOverload

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


def _lengths(values: Sequence[Any]) -> list[int | None]:
    return [len(value) if isinstance(value, list | tuple) else None for value in values]


def _flat(values: Sequence[Any]) -> list[Any]:
    return [v for value in values for v in (value if isinstance(value, list | tuple) else (value,))]


def _nested(values: Sequence[Any], lengths: Sequence[int | None]) -> list[Any]:
    """The opposite of `_flat`."""
    rest = iter(values)
    return [next(rest) if n is None else [next(rest) for _ in range(n)] for n in lengths]


def autograd_kernel(op: OpOverload, backward: Callable[..., Any], setup_context: SetupContext | None) -> Any:
    """A kernel for the Autograd key: the op below it, whose gradients `backward(ctx, *grads)` gives, one an input.

    The gradient of a list of tensors is a list.
    """

    def below(args: Sequence[Any], keywords: dict[str, Any]) -> Any:
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

    def kernel(*args: Any, **keywords: Any) -> Any:
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
