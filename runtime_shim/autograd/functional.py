"""`torch.autograd.functional`: products with Jacobians and Hessians, and these themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.function_table import FUNCTIONS, AnyFunction
from ..core.gradient_modes import enable_grad
from ..core.tensor import Tensor
from . import grad as _grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = tuple[Tensor, ...]
_INPUTS = "inputs"


def _as_tuple(given: Any, name: str | None = None, call: str | None = None) -> tuple[bool, Tensors]:
    """Whether it was a tuple, and the tensors; TypeError in PyTorch's words for anything else."""
    is_tuple = isinstance(given, tuple)
    values = given if is_tuple else (given,)
    for i, value in enumerate(values):
        if isinstance(value, Tensor):
            continue
        what = (
            f"{name} given to {call}"
            if name == _INPUTS or name == "v"
            else f"{name} of the user-provided function given to {call}"
        )
        if is_tuple:
            raise TypeError(
                f"The {what} must be either a Tensor or a tuple of Tensors but the value at index {i} has type "
                f"{type(value)}."
            )
        raise TypeError(
            f"The {what} must be either a Tensor or a tuple of Tensors but the given {name} has type {type(value)}."
        )
    return is_tuple, values


def _prepare(inputs: Tensors, create_graph: bool) -> Tensors:
    """Inputs that gradients can be asked of, tied to the given ones if there is to be a graph."""
    found = []
    for t in inputs:
        if create_graph and t.requires_grad:
            found.append(t.view_as(t))
        elif create_graph:
            found.append(t.detach().requires_grad_(t.requires_grad))
            found[-1].requires_grad_()
        else:
            found.append(t.detach().requires_grad_())
    return tuple(found)


def _finish(values: Any, create_graph: bool) -> Any:
    if isinstance(values, tuple | list):
        return tuple(_finish(v, create_graph) for v in values)
    return values if create_graph else values.detach()


def _unpacked(is_tuple: bool, values: Any) -> Any:
    return values if is_tuple else values[0]


def _check_v(v: Tensors, other: Tensors, other_is_tuple: bool) -> None:
    if len(v) != len(other):
        if not other_is_tuple:
            raise RuntimeError("The given v should contain a single Tensor.")
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(other)} but got {len(v)}.")
    for i, (mine, theirs) in enumerate(zip(v, other, strict=True)):
        if mine.size() != theirs.size():
            entry = f"Entry {i} in " if other_is_tuple else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {theirs.size()} but got {mine.size()}.")


def _check_outputs(outputs: Tensors, strict: bool) -> None:
    if strict:
        for i, t in enumerate(outputs):
            if not t.requires_grad:
                raise RuntimeError(
                    f"Output {i} of the user-provided function does not require gradients. The outputs must be "
                    "computed in a differentiable manner from the input when running in strict mode."
                )


_WITHOUT_GRAPH = {
    "grad_inputs": (
        "The gradient with respect to input {i} is independent of the inputs of the user-provided function. This is "
        "not allowed in strict mode."
    ),
    "jacobian": (
        "While computing the hessian, found that the jacobian of the user-provided function with respect to input {i} "
        "is independent of the input. This is not allowed in strict mode. You should ensure that your function is "
        "twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear function "
        "for example)."
    ),
    "hessian": (
        "The hessian of the user-provided function with respect to input {i} is independent of the input. This is not "
        "allowed in strict mode. You should ensure that your function is thrice differentiable and that the hessian "
        "depends on the inputs."
    ),
}


def _check_dependent(grads: Sequence[Tensor | None], what: str, strict: bool) -> None:
    """RuntimeError in strict mode unless what is to be differentiated once more depends on the inputs."""
    for i, grad in enumerate(grads if strict else ()):
        if grad is None:
            raise RuntimeError(_INDEPENDENT["back"].format(i=i))
        if not grad.requires_grad:
            raise RuntimeError(_WITHOUT_GRAPH[what].format(i=i))


def _gradients(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Any = None,
    create_graph: bool = False,
    retain_graph: bool | None = None,
) -> tuple[Any, ...]:
    given = (None,) * len(outputs) if grad_outputs is None else grad_outputs
    pairs = [(o, g) for o, g in zip(outputs, given, strict=True) if o is not None and o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    return _grad(
        tuple(o for o, _ in pairs),
        inputs,
        tuple(g for _, g in pairs),
        allow_unused=True,
        create_graph=create_graph,
        retain_graph=retain_graph,
    )


def _filled(grads: Any, refs: Tensors, strict: bool, create_graph: bool, stage: str) -> Tensors:
    """Zeros for what does not depend, which strict mode doesn't allow."""
    found = []
    for i, (value, ref) in enumerate(zip(grads, refs, strict=True)):
        if value is None:
            if strict:
                raise RuntimeError(_INDEPENDENT[stage].format(i=i))
            value = FUNCTIONS["zeros_like"](ref)
        elif strict and create_graph and not value.requires_grad:
            which = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(
                f"The {which} of the user-provided function is independent of input {i}. This is not allowed in strict "
                "mode when create_graph=True."
            )
        found.append(value)
    return tuple(found)


_INDEPENDENT = {
    "back": "The output of the user-provided function is independent of input {i}. This is not allowed in strict mode.",
    "back_trick": (
        "The gradient with respect to the input is independent of entry {i} in the grad_outputs when using the double "
        "backward trick to compute forward mode gradients. This is not allowed in strict mode."
    ),
    "double_back": (
        "The jacobian of the user-provided function is independent of input {i}. This is not allowed in strict mode."
    ),
    "double_back_trick": (
        "The hessian of the user-provided function is independent of entry {i} in the grad_jacobian. This is not "
        "allowed in strict mode as it prevents from using the double backward trick to replace forward mode AD."
    ),
}


def _called(func: Callable[..., object], inputs: Tensors, call: str, strict: bool) -> tuple[bool, Tensors]:
    found = _as_tuple(func(*inputs), "outputs", call)
    _check_outputs(found[1], strict)
    return found


def _single(outputs: Tensors, is_tuple: bool, call: str) -> Tensor:
    if is_tuple or not isinstance(outputs[0], Tensor):
        raise RuntimeError(f"The function given to {call} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {call} should contain a single element")
    return outputs[0].squeeze()


def _directions(v: object, like: Tensors, is_tuple: bool, call: str, what: str) -> Tensors:
    """The given v, or ones where there is a single element."""
    if v is not None:
        found = _as_tuple(v, "v", call)[1]
        _check_v(found, like, is_tuple)
        return found
    if len(like) != 1 or like[0].nelement() != 1:
        raise RuntimeError(f"The vector v can only be None if {what} ")
    return tuple(FUNCTIONS["ones_like"](t) for t in like)


def vjp(
    func: AnyFunction, inputs: object, v: object = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The outputs of `func`, and v times its Jacobian."""
    with enable_grad():
        is_tuple, given = _as_tuple(inputs, _INPUTS, "vjp")
        given = _prepare(given, create_graph)
        out_is_tuple, outputs = _called(func, given, "vjp", strict)
        what = "the user-provided function returns a single Tensor with a single element."
        v = (
            _directions(v, outputs, out_is_tuple, "vjp", what)
            if v is None
            else _prepared_v(v, outputs, out_is_tuple, "vjp", create_graph)
        )
        found = _gradients(outputs, given, v, create_graph)
        products = _filled(found, given, strict, create_graph, "back")
    return _unpacked(out_is_tuple, _finish(outputs, create_graph)), _unpacked(is_tuple, _finish(products, create_graph))


def _prepared_v(v: object, like: Tensors, is_tuple: bool, call: str, create_graph: bool) -> Tensors:
    found = tuple(t if create_graph else t.detach() for t in _as_tuple(v, "v", call)[1])
    _check_v(found, like, is_tuple)
    return found


def jvp(
    func: AnyFunction, inputs: object, v: object = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The outputs of `func`, and its Jacobian times v, by going backward twice."""
    with enable_grad():
        is_tuple, given = _as_tuple(inputs, _INPUTS, "jvp")
        given = _prepare(given, create_graph)
        what = "the input to the user-provided function is a single Tensor with a single element."
        v = (
            _directions(v, given, is_tuple, "jvp", what)
            if v is None
            else _prepared_v(v, given, is_tuple, "jvp", create_graph)
        )
        out_is_tuple, outputs = _called(func, given, "jvp", strict)
        weights = tuple(FUNCTIONS["zeros_like"](o, requires_grad=True) for o in outputs)
        first = _gradients(outputs, given, weights, create_graph=True)
        _check_dependent(first, "grad_inputs", strict)
        found = _gradients(first, weights, v, create_graph)
        products = _filled(found, outputs, strict, create_graph, "back_trick")
    return (
        _unpacked(out_is_tuple, _finish(outputs, create_graph)),
        _unpacked(out_is_tuple, _finish(products, create_graph)),
    )


def jacobian(
    func: AnyFunction,
    inputs: object,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian: for each output and input a tensor of the output's sizes followed by the input's.

    It is the same whichever way it is computed, so both strategies go backward.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode" and create_graph:
        raise NotImplementedError(
            'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported '
            'together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.'
        )
    if vectorize and strict:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
            "Please either set `strict=False` or `vectorize=False`."
        )
    with enable_grad():
        is_tuple, given = _as_tuple(inputs, _INPUTS, "jacobian")
        given = _prepare(given, create_graph)
        out_is_tuple, outputs = _called(func, given, "jacobian", strict)
        rows: list[Any] = []
        for i, out in enumerate(outputs):
            parts: list[list[Tensor]] = [[] for _ in given]
            flat = out.reshape(-1)
            for j in range(out.nelement()):
                found = _gradients((flat[j],), given, None, create_graph, retain_graph=True)
                for nr, (value, ref) in enumerate(zip(found, given, strict=True)):
                    if value is not None:
                        if strict and create_graph and not value.requires_grad:
                            raise RuntimeError(
                                "The jacobian of the user-provided function is independent of input "
                                f"{nr}. This is not allowed in strict mode when create_graph=True."
                            )
                        parts[nr].append(value)
                    else:
                        if strict:
                            raise RuntimeError(
                                f"Output {i} of the user-provided function is independent of input {nr}. This is not "
                                "allowed in strict mode."
                            )
                        parts[nr].append(FUNCTIONS["zeros_like"](ref))
            rows.append(
                tuple(
                    FUNCTIONS["stack"](values, 0).view(out.size() + ref.size())
                    for values, ref in zip(parts, given, strict=True)
                )
            )
        found_all = _finish(tuple(rows), create_graph)
    inner = tuple(_unpacked(is_tuple, row) for row in found_all)
    return _unpacked(out_is_tuple, inner)


def hessian(
    func: Callable[..., object],
    inputs: object,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a function that returns one element."""
    is_tuple, given = _as_tuple(inputs, _INPUTS, "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def checked(*args: object) -> Any:
        out_is_tuple, outputs = _as_tuple(func(*args), "outputs", "hessian")
        _check_outputs(outputs, strict)
        if out_is_tuple or not isinstance(outputs[0], Tensor):
            raise RuntimeError("The function given to hessian should return a single Tensor")
        if outputs[0].numel() != 1:
            raise RuntimeError("The Tensor returned by the function given to hessian should contain a single element")
        return outputs[0].squeeze()

    def slopes(*args: object) -> Any:
        found = jacobian(checked, args, create_graph=True)
        _check_dependent(found, "jacobian", strict)
        return found

    found = jacobian(
        slopes, given, create_graph=create_graph, strict=strict, vectorize=vectorize, strategy=outer_jacobian_strategy
    )
    return found if is_tuple else found[0][0]


def _slopes(
    func: AnyFunction, inputs: object, v: Any, create_graph: bool, strict: bool, name: str
) -> tuple[bool, Any, Any, Any, Any]:
    """What the Hessian is asked of: whether the inputs are a tuple, these, v, the outputs, and their gradients."""
    is_tuple, given = _as_tuple(inputs, _INPUTS, name)
    given = _prepare(given, create_graph)
    what = "the input to the user-provided function is a single Tensor with a single element."
    if v is None:
        v = _directions(v, given, is_tuple, name, what)
    else:
        v = _prepared_v(v, given, is_tuple, name, create_graph)
    out_is_tuple, outputs = _called(func, given, name, strict)
    first = _gradients((_single(outputs, out_is_tuple, name),), given, create_graph=True)
    _check_dependent(first, "jacobian", strict)
    return is_tuple, given, v, outputs, first


def vhp(
    func: AnyFunction, inputs: object, v: object = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The output of `func`, and v times its Hessian."""
    with enable_grad():
        is_tuple, given, v, outputs, first = _slopes(func, inputs, v, create_graph, strict, "vhp")
        found = _gradients(first, given, v, create_graph)
        products = _filled(found, given, strict, create_graph, "double_back")
    return _finish(outputs[0], create_graph), _unpacked(is_tuple, _finish(products, create_graph))


def hvp(
    func: AnyFunction, inputs: object, v: object = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The output of `func`, and its Hessian times v, by going backward twice."""
    with enable_grad():
        is_tuple, given, v, outputs, first = _slopes(func, inputs, v, create_graph, strict, "hvp")
        weights = tuple(FUNCTIONS["zeros_like"](t, requires_grad=True) for t in given)
        second = _gradients(first, given, weights, create_graph=True)
        _check_dependent(first, "hessian", strict)
        found = _gradients(second, weights, v, create_graph)
        products = _filled(found, given, strict, create_graph, "double_back_trick")
    return _finish(outputs[0], create_graph), _unpacked(is_tuple, _finish(products, create_graph))
