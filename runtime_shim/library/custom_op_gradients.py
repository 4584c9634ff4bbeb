"""Gradients of the ops of `torch._custom_ops`: by the name of each input, out of what a function saved."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from ..core.gradient_modes import exclude, leave_excluded
from ..core.tensor import Tensor, requires_grad
from ..core.thread_state import AUTOGRAD, tls
from .custom_ops import OpOverload
from .registered_autograd import autograd_kernel, tensors_in

_GUARD = "_AutoDispatchBelowAutograd"


def without_gradient(op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call what is below autograd. RuntimeError if a gradient would be asked for."""
    if tls.state.grad_mode and any(map(requires_grad, tensors_in((*args, *kwargs.values())))):
        raise RuntimeError("Autograd has not been implemented for operator")
    before = exclude(AUTOGRAD, _GUARD)
    try:
        return op(*args, **kwargs)
    finally:
        leave_excluded(before, _GUARD)


def gradient_kernel(custom_op: Any) -> Any:
    """The Autograd kernel of a CustomOp that has its `save_for_backward` and its `backward`."""
    schema = custom_op._schema
    names = [argument.name for argument in schema.arguments]
    make: Any = namedtuple
    inputs_of: Any = make(f"{schema.name}_args", names)
    save, backward = custom_op._get_impl("save_for_backward").func, custom_op._get_impl("backward").func

    def setup_context(ctx: Any, inputs: Sequence[Any], output: Any, keyword_only_inputs: Any = None) -> None:
        given = inputs_of(*inputs, **(keyword_only_inputs or {}))
        tensors: list[Tensor] = []
        ctx.rest, ctx.given = _without_tensors(save(given, output), tensors), given
        ctx.save_for_backward(*tensors)
        _mark(ctx, output, custom_op._output_differentiability)

    def run(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        found = backward(object(), _with_tensors(ctx.rest, ctx.saved_tensors), *grads)
        _Answer(custom_op, ctx.given).check(found)
        return tuple(found.get(a.name) for a in schema.arguments if not a.keyword_only)

    return autograd_kernel(custom_op._ophandle, run, setup_context)


class _Place(NamedTuple):
    """Stands for a saved tensor."""

    number: int


def _without_tensors(value: Any, tensors: list[Tensor]) -> Any:
    """`value` with places for the tensors in it, which are added to `tensors`: autograd keeps those."""
    if isinstance(value, Tensor):
        tensors.append(value)
        return _Place(len(tensors) - 1)
    return _mapped(value, lambda inner: _without_tensors(inner, tensors))


def _with_tensors(value: Any, tensors: Sequence[Any]) -> Any:
    """The opposite."""
    if isinstance(value, _Place):
        return tensors[value.number]
    return _mapped(value, lambda inner: _with_tensors(inner, tensors))


def _mapped(value: Any, call: Callable[[Any], Any]) -> Any:
    """A list, tuple or dictionary with `call` of what is in it; anything else itself."""
    if isinstance(value, dict):
        return type(value)((key, call(inner)) for key, inner in value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(call, value))
    return type(value)(map(call, value)) if isinstance(value, list | tuple) else value


def _mark(ctx: Any, output: Any, differentiability: list[bool] | None) -> None:
    if differentiability is None:
        return
    without: list[Tensor] = []
    for i, (differentiable, made) in enumerate(
        zip(differentiability, output if isinstance(output, tuple) else (output,), strict=True)
    ):
        if isinstance(made, Tensor | list):
            if not differentiable:
                without += [made] if isinstance(made, Tensor) else made
        elif differentiable:
            raise RuntimeError(
                f"With output_differentiability={differentiability}. At idx {i}, we received an object of type "
                f"{type(made)} that is not a Tensor, so it cannot have be marked as differentiable in "
                "output_differentiability."
            )
    if without:
        ctx.mark_non_differentiable(*without)


class _Answer:
    """What a backward function returned, against the inputs that forward was given."""

    def __init__(self, custom_op: Any, given: Any) -> None:
        self.custom_op, self.given = custom_op, given

    def fail(self, what: str) -> NoReturn:
        location = self.custom_op._get_impl("backward").location
        raise RuntimeError(
            f"In the backward function defined for {self.custom_op} at {location} using the CustomOp API, {what}"
        )

    def check(self, found: Any) -> None:
        """RuntimeError unless there is a gradient or None for each input that may be a tensor, or a list of them."""
        if not isinstance(found, dict):
            self.fail(f"expected the output of the backward function to be a dict but got {type(found)}")
        expected = {a.name for a in self.custom_op._schema.arguments if a.type.name == "Tensor"}
        if expected != found.keys():
            self.fail(
                f"expected the returned grad_input dict to have keys {expected} but got {found.keys()}. The backward "
                "function must return a gradient (can be None) for each arg to the CustomOp that may be a Tensor or "
                "Sequence[Tensor]. Args declared to be non-Tensor-like types should not appear in the grad_input dict"
            )
        for name, grad in found.items():
            value = getattr(self.given, name)
            if isinstance(value, list | tuple):
                self.check_list(name, grad, value)
            elif grad is not None and not isinstance(grad, Tensor):
                self.fail(
                    f"got object of type {type(grad)} as the gradient for input '{name}', but expected the gradient to "
                    "be either None or a Tensor"
                )
            elif grad is not None and not isinstance(value, Tensor):
                self.fail(
                    f"got a Tensor as the gradient for input '{name}' but expected None as the gradient because input "
                    f"'{name}' was not a Tensor (it was type {type(value)})."
                )

    def check_list(self, name: str, grads: Any, values: Sequence[Any]) -> None:
        start = f"for input '{name}' expected the grad_input dict to hold a list of "
        if not isinstance(grads, list | tuple):
            self.fail(f"{start}gradients but got object of type {type(grads)}.")
        if len(grads) != len(values):
            self.fail(f"{start}{len(values)} gradients but got {len(grads)}")
        for i, (grad, value) in enumerate(zip(grads, values, strict=True)):
            if grad is not None and not isinstance(grad, Tensor):
                self.fail(f"{start}None or Tensor gradients but got object of {type(grad)} at index {i}")
            if grad is not None and not isinstance(value, Tensor):
                self.fail(
                    f"for input '{name}', got a Tensor as the gradient for the {i}-th value but expected None because "
                    f"the {i}-th value was not a Tensor (it was type {[type(v) for v in values]}"
                )
