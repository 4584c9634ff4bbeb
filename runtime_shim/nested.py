"""`torch.nested`: tensors of tensors that differ in size, in the strided layout.

A nested tensor keeps its tensors apart, each with a history of its own; a function of it is one of each. That is less
than PyTorch has: what isn't in the table is refused by name.
Source: ATen/native/nested/*.cpp, torch/nested/__init__.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from .aten import FUNCTIONS
from .aten.autograd_test_ops import nested_formula, nested_formula_alone
from .autograd import backward
from .core.device import strided
from .core.error_texts import UnsupportedError
from .core.tensor import Tensor, new_tensor, of_class
from .dispatch.function_overrides import name_of
from .dispatch.op_description import ANY_DTYPE
from .dispatch.registration import op
from .dispatch.tensor_subclasses import DisableTorchFunction
from .dispatch.view_layers import view_op

__all__ = ["as_nested_tensor", "nested_tensor", "to_padded_tensor"]


class NestedTensor(Tensor):
    """What `nested_tensor` returns. In PyTorch its type is Tensor."""

    _parts: list[Tensor]

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = name_of(func).removeprefix("torch.").removeprefix("Tensor.").removeprefix("nn.functional.")
        name = name.removesuffix(".__get__")
        handler = _HANDLERS.get(name)
        if handler is None:
            raise UnsupportedError(
                f"the shim has no {name_of(func)} of nested tensors; supported: {', '.join(sorted(_HANDLERS))}"
            )
        with DisableTorchFunction():
            return handler(*args, **(kwargs or {}))


def _nested(parts: Sequence[Tensor]) -> NestedTensor:
    made: NestedTensor = of_class(new_tensor(FUNCTIONS["empty"](0)._array), NestedTensor)
    made._parts = list(parts)
    return made


def _checked(parts: list[Tensor]) -> list[Tensor]:
    for i, part in enumerate(parts):
        if part.dim() != parts[0].dim():
            raise RuntimeError(
                "All Tensors given to nested_tensor must have the same dimension. Found dimension "
                f"{part.dim()} for Tensor at index {i} and dimension {parts[0].dim()} for Tensor at index 0."
            )
    return parts


def _arguments(tensor_list: Any, layout: Any, device: Any, pin_memory: bool) -> None:
    if layout is not None and layout is not strided:
        raise UnsupportedError("the shim has no nested tensors in that layout; supported: torch.strided")
    if device is not None:
        FUNCTIONS["empty"](0, device=device)
    if pin_memory:
        raise UnsupportedError("the shim has no pinned memory")


def nested_tensor(
    tensor_list: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A nested tensor of copies of the tensors or lists of numbers, a leaf. RuntimeError if their dimensions differ."""
    _arguments(tensor_list, layout, device, pin_memory)
    if not isinstance(tensor_list, (list, tuple)):
        raise TypeError("Only lists (List[Tensor] and List[List...[Scalar]]) are accepted in nested_tensor")
    parts: list[Any] = []
    for value in tensor_list:
        part = value.detach().clone() if isinstance(value, Tensor) else FUNCTIONS["tensor"](value)
        parts.append(part.to(dtype or (parts[0].dtype if parts else part.dtype)))
    for part in _checked(parts):
        part.requires_grad_(requires_grad)
    return _nested(parts)


def as_nested_tensor(ts: Any, dtype: Any = None, device: Any = None, layout: Any = None) -> Tensor:
    """A nested tensor of the tensors, with their history. RuntimeError if their dimensions differ."""
    _arguments(ts, layout, device, False)
    if isinstance(ts, NestedTensor):
        return ts
    if not isinstance(ts, (list, tuple, Tensor)):
        raise TypeError("as_nested_tensor(): Expected first argument to be a tensor or a list / tuple of tensors ")
    if isinstance(ts, (list, tuple)) and not all(isinstance(t, Tensor) for t in ts):
        raise TypeError("as_nested_tensor(): Expected list elements to be tensors")
    return _nested(_checked([_from_list(t if dtype is None else t.to(dtype)) for t in ts]))


# -- functions
# -----------------------------------------------------------------------------------------------------


def _each(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: NestedTensor, *args: Any, **kwargs: Any) -> NestedTensor:
        return _nested([function(part, *args, **kwargs) for part in self._parts])

    return call


def _each_in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: NestedTensor, *args: Any, **kwargs: Any) -> NestedTensor:
        for i, part in enumerate(self._parts):
            function(part, *(a._parts[i] if isinstance(a, NestedTensor) else a for a in args), **kwargs)
        return self

    return call


def _each_pair(name: str) -> Callable[..., Any]:
    function = FUNCTIONS[name]

    def call(self: Any, other: Any, **kwargs: Any) -> NestedTensor:
        for value in (self, other):
            if isinstance(value, Tensor) and not isinstance(value, NestedTensor) and value.dim():
                nested, not_nested = ("self", "other") if value is other else ("other", "self")
                raise RuntimeError(
                    "Expected both self and other to be nested, but got a "
                    f"{'nested' if nested == 'self' else 'non-nested'} self and "
                    f"{'non-nested' if not_nested == 'other' else 'nested'} other"
                )
        if not isinstance(other, NestedTensor):
            return _nested([function(part, other, **kwargs) for part in self._parts])
        if not isinstance(self, NestedTensor):
            return _nested([function(self, part, **kwargs) for part in other._parts])
        if [p.shape for p in self._parts] != [p.shape for p in other._parts]:
            raise RuntimeError(f"{name} does not support broadcasting when given a NestedTensor")
        return _nested([function(a, b, **kwargs) for a, b in zip(self._parts, other._parts, strict=True)])

    return call


@op("_nested_from_list", method=False, function=False, computes=ANY_DTYPE, node="NestedTensorFromTensorListBackward0",
    self=lambda grad: grad)  # fmt: skip
def _from_list(self: Any) -> Any:
    return self.copy()


@view_op("_nested_unbind", method=False, function=False, node="UnbindBackwardAutogradNestedTensor0",
         self=lambda grad: grad)  # fmt: skip
def _unbound(self: Any) -> Any:
    return self[...]


@view_op("_nested_select", method=False, function=False, node="SelectBackwardAutogradNestedTensor0",
         self=lambda grad: grad)  # fmt: skip
def _selected(self: Any) -> Any:
    return self[...]


@op("_nested_sum", method=False, function=False, computes=ANY_DTYPE, node="SumBackwardAutogradNestedTensor1",
    self=lambda grad, self: grad.expand(self._array.shape))  # fmt: skip
def _sum_of_last(self: Any) -> Any:
    """The sum over the last dimension. PyTorch saves its input, of a nested tensor alone."""
    return self.sum(axis=-1, keepdims=True)


def _sum(self: NestedTensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> NestedTensor:
    if dim is None:
        raise UnsupportedError("the shim has no torch.sum of whole nested tensors; supported: dim=-1, keepdim=True")
    dims = [dim] if isinstance(dim, int) else list(dim)
    if not keepdim:
        raise RuntimeError("NestedTensor always requires keepdim=True for now.")
    last = _dim(self) - 1
    if len(dims) != 1 or dims[0] not in (-1, last):
        raise RuntimeError(
            f"NestedTensor can only be reduced across the last dimension for now got dimension {dims[0]} instead."
        )
    return _nested([_sum_of_last(part if dtype is None else part.to(dtype)) for part in self._parts])


def _dim(self: NestedTensor) -> int:
    return self._parts[0].dim() + 1 if self._parts else 1


def _size(self: NestedTensor, dim: int | None = None) -> int:
    if dim is None:
        _no_sizes()
    dim = dim + _dim(self) if dim < 0 else dim
    if dim == 0:
        return len(self._parts)
    found = {part.shape[dim - 1] for part in self._parts}
    if len(found) != 1:
        raise RuntimeError(f"Given dimension {dim} is irregular and does not have a size.")
    return int(found.pop())


def _no_sizes(*_: Any) -> NoReturn:
    raise RuntimeError("Internal error: NestedTensorImpl doesn't support sizes. Please file an issue.")


def _no_strides(*_: Any) -> NoReturn:
    raise RuntimeError("Internal error: NestedTensorImpl doesn't support strides. Please file an issue.")


def _backward(
    self: NestedTensor, gradient: Any = None, retain_graph: Any = None, create_graph: bool = False, inputs: Any = None
) -> None:
    if gradient is None:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if inputs is not None:
        raise UnsupportedError("the shim has no backward of nested tensors with inputs")
    grads = gradient._parts
    if [g.shape for g in grads] != [p.shape for p in self._parts]:
        raise RuntimeError("Mismatch in shape: grad_output and output have tensors of different shapes")
    backward(self._parts, grads, retain_graph, create_graph)


def _grad(self: NestedTensor) -> NestedTensor | None:
    grads = [part.grad for part in self._parts]
    return None if None in grads or not grads else _nested(grads)  # type: ignore[arg-type]


def _requires_grad_(self: NestedTensor, requires_grad: bool = True) -> NestedTensor:
    for part in self._parts:
        part.requires_grad_(requires_grad)
    return self


def to_padded_tensor(self: Any, padding: float, output_size: Any = None, out: Any = None) -> Any:
    """A tensor with room for the largest of the tensors in each dimension, filled up with `padding`."""
    if not isinstance(self, NestedTensor):
        raise RuntimeError("at::to_padded_tensor is not implemented for tensors that are not nested")
    if output_size is not None or out is not None:
        raise UnsupportedError("the shim has no to_padded_tensor with output_size or out")
    with DisableTorchFunction():
        shape = [max(sizes) for sizes in zip(*(part.shape for part in self._parts), strict=True)]
        pad = FUNCTIONS["constant_pad_nd"] if "constant_pad_nd" in FUNCTIONS else _late_padding()
        padded = []
        for part in self._parts:
            missing = [amount for n, most in zip(part.shape, shape, strict=True) for amount in (most - n, 0)]
            padded.append(pad(part, missing[::-1], padding))
        return FUNCTIONS["stack"](padded)


def _late_padding() -> Any:
    import importlib

    importlib.import_module("guardfix.runtime_shim.aten.padding")
    return FUNCTIONS["constant_pad_nd"]


def _shown(self: NestedTensor, *, tensor_contents: Any = None) -> str:
    flag = any(part.requires_grad for part in self._parts)
    lines = []
    for part in self._parts:
        lines.append("  " + repr(part.detach().requires_grad_(flag)).replace("\n", "\n  "))
    grad_fn = _grad_fn(self)
    end = f", grad_fn=<{type(grad_fn).__name__}>" if grad_fn is not None else ", requires_grad=True" if flag else ""
    return "nested_tensor([\n" + ",\n".join(lines) + f"\n]{end})"


def _grad_fn(self: NestedTensor) -> Any:
    return self._parts[0].grad_fn if self._parts else None


def _dispatched(self: NestedTensor, b: bool | None = None) -> NestedTensor:
    return _each(nested_formula if b is None else nested_formula_alone)(self)


def _of_first(name: str) -> Callable[[NestedTensor], Any]:
    return lambda self: getattr(self._parts[0], name) if self._parts else getattr(FUNCTIONS["empty"](0), name)


_relu = _each(FUNCTIONS["relu"]), _each_in_place(vars(Tensor)["relu_"])
_UNARY = "abs clone contiguous cos detach gelu neg relu sgn silu sin sqrt tanh logical_not isnan to double float half"
_HANDLERS: dict[str, Callable[..., Any]] = {
    **{name: _each(getattr(Tensor, name, None) or FUNCTIONS[name]) for name in _UNARY.split() if name in FUNCTIONS},
    **{name: _each(getattr(Tensor, name)) for name in ("contiguous", "to", "double", "float", "half", "detach")},
    **{name: _each_pair(name) for name in ("add", "sub", "mul", "div")},
    **{name: _each_in_place(getattr(Tensor, name)) for name in "add_ sub_ mul_ div_ zero_ fill_ copy_ neg_".split()},
    "__rsub__": lambda self, other: _each(lambda part: other - part)(self),
    "__rtruediv__": lambda self, other: _each(lambda part: other / part)(self),
    "softmax": lambda self, dim, dtype=None, **_: _each(lambda part: FUNCTIONS["softmax"](part, -1, dtype))(self),
    "relu": lambda self, inplace=False: (
        _each_in_place(vars(Tensor)["relu_"]) if inplace else _each(FUNCTIONS["relu"])
    )(self),
    "sum": _sum,
    "dim": _dim,
    "ndim": _dim,
    "size": _size,
    "shape": _no_sizes,
    "__len__": _no_sizes,
    "stride": _no_strides,
    "numel": lambda self: sum(part.numel() for part in self._parts),
    "unbind": lambda self, dim=0: tuple(_unbound(part) for part in self._parts),
    "__getitem__": lambda self, index: _selected(self._parts[index]),
    "backward": _backward,
    "grad": _grad,
    "grad_fn": _grad_fn,
    "requires_grad": lambda self: any(part.requires_grad for part in self._parts),
    "requires_grad_": _requires_grad_,
    "is_leaf": lambda self: all(part.is_leaf for part in self._parts),
    "is_contiguous": lambda self: all(part.is_contiguous() for part in self._parts),
    "data": _each(vars(Tensor)["detach"]),
    **{name: _of_first(name) for name in ("dtype", "device", "layout", "_version")},
    "to_padded_tensor": to_padded_tensor,
    "__repr__": _shown,
    "_test_autograd_multiple_dispatch": _dispatched,
}
NestedTensor.is_nested = True
NestedTensor.to_padded_tensor = to_padded_tensor  # type: ignore[attr-defined]
