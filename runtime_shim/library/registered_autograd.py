"""`torch.library.register_autograd`: gradients in Python for an op that has its kernel already, in C++ perhaps.

Source of the behaviour: torch/library.py and torch/_library/autograd.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..autograd.function import Function
from ..core.gradient_modes import exclude, leave_excluded
from ..core.tensor import Tensor, requires_grad
from ..core.thread_state import AUTOGRAD, tls
from .custom_ops import OpOverload

SetupContext = Callable[..., None]
_GUARD = "_AutoDispatchBelowAutograd"


def _tensors_in(values: Any) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors_in(value)


def autograd_kernel(op: OpOverload, backward: Callable[..., Any], setup_context: SetupContext | None) -> Any:
    """A kernel for the Autograd key: the op below it, whose gradients `backward(ctx, *grads)` gives, one an input."""

    def below(args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        before = exclude(AUTOGRAD, _GUARD)
        try:
            return op(*args, **keywords)
        finally:
            leave_excluded(before, _GUARD)

    def forward(ctx: Any, keywords: dict[str, Any], *args: Any) -> Any:
        result = below(args, keywords)
        if setup_context is not None and keywords:
            setup_context(ctx=ctx, inputs=args, keyword_only_inputs=keywords, output=result)
        elif setup_context is not None:
            setup_context(ctx=ctx, inputs=args, output=result)
        return tuple(result) if isinstance(result, list) else result

    def run_backward(ctx: Any, *grads: Any) -> Any:
        found = backward(ctx, *grads)
        return (None, *(found if isinstance(found, tuple) else (found,)))

    name = f"GeneratedBackwardFor_{op.namespace}_{op._opname}_{op._overloadname}"
    body = {"forward": staticmethod(forward), "backward": staticmethod(run_backward)}
    function: Any = type(name, (Function,), body)

    def kernel(*args: Any, **keywords: Any) -> Any:
        if not (tls.state.grad_mode and any(map(requires_grad, _tensors_in((*args, *keywords.values()))))):
            return below(args, keywords)
        assert op._schema is not None
        # Backward gives a gradient for each argument of the schema that is not keyword-only: defaults count.
        completed = op._schema.complete(args, keywords)
        positional = [v for v, a in zip(completed, op._schema.arguments, strict=True) if not a.keyword_only]
        named = {a.name: v for v, a in zip(completed, op._schema.arguments, strict=True) if a.keyword_only}
        return function.apply(named, *positional)

    return kernel
