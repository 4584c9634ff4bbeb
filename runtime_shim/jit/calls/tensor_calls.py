"""Tensor ops whose TorchScript schema differs from the Python API: one adapter each.

An adapter is built for a backend and takes the arguments as the serialized code writes them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from .call_registry import Arguments, CallFunction

Adapter = Callable[[Arguments], CallFunction]

ADAPTERS: dict[str, Adapter] = {}


class BackendLacks(Exception):
    """The backend has no function that an op needs; the message names it."""


def adapter(*names: str) -> Callable[[Adapter], Adapter]:
    def register(make: Adapter) -> Adapter:
        for name in names:
            ADAPTERS[name] = make
        return make

    return register


def backend_function(backend: object, *paths: str) -> CallFunction:
    """The first of these dotted names that the backend has. Raises BackendLacks."""
    for path in paths:
        found = backend
        for part in path.split("."):
            found = getattr(found, part, None)
            if found is None:
                break
        if callable(found):
            function: CallFunction = found
            return function
    raise BackendLacks(" or ".join(f"torch.{path}" for path in paths))


def function_for_call(arguments: Arguments, name: str) -> CallFunction:
    return backend_function(arguments.backend, f"nn.functional.{name}", name)


# Creation.


@adapter("tensor", "as_tensor")
def _tensor(arguments: Arguments) -> CallFunction:
    make = arguments.backend.tensor
    tensor_class = arguments.backend.Tensor

    def tensor(data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
        if isinstance(data, tensor_class):
            return data if dtype is None else data.to(arguments.dtype(dtype))
        keywords = arguments.keywords({"dtype": dtype, "device": device})
        if requires_grad:
            keywords["requires_grad"] = True
        return make(data, **keywords)

    return tensor


@adapter("prim.NumToTensor")
def _number_to_tensor(arguments: Arguments) -> CallFunction:
    make: CallFunction = arguments.backend.tensor
    return lambda number: number if isinstance(number, arguments.backend.Tensor) else make(number)


# Properties.


@adapter("size", "prim.shape")
def _size(arguments: Arguments) -> CallFunction:
    def size(tensor: Any, dim: int | None = None) -> Any:
        shape = tensor.shape
        if dim is None:
            return [int(extent) for extent in shape]
        return int(tensor.size(dim))

    return size


@adapter("stride")
def _stride(arguments: Arguments) -> CallFunction:
    def stride(tensor: Any, dim: int | None = None) -> Any:
        return list(tensor.stride()) if dim is None else tensor.stride(dim)

    return stride


@adapter("len")
def _len(arguments: Arguments) -> CallFunction:
    return lambda tensor: len(tensor)


def _attribute(op_name: str, attribute: str) -> None:
    @adapter(op_name)
    def make(arguments: Arguments) -> CallFunction:
        if not hasattr(arguments.backend.Tensor, attribute):
            raise BackendLacks(f"torch.Tensor.{attribute}")
        return lambda tensor: getattr(tensor, attribute)


for _name in "data device requires_grad grad is_leaf itemsize nbytes".split():
    _attribute(f"prim.{_name}", _name)
for _name in ("is_leaf", "mT", "mH"):
    _attribute(_name, _name)
_attribute("numpy_T", "T")


def _constant(value: object, *names: str) -> None:
    @adapter(*names)
    def make(arguments: Arguments) -> CallFunction:
        return lambda tensor: value


_ELSEWHERE = "cuda xpu mps sparse sparse_csr quantized mkldnn meta nested vulkan ipu mtia maia"
_constant(False, *(f"prim.is_{kind}" for kind in _ELSEWHERE.split()))
_constant(True, "prim.is_cpu")
_constant(0, "prim.layout")


@adapter("prim.dtype")
def _dtype(arguments: Arguments) -> CallFunction:
    return lambda tensor: arguments.code(tensor.dtype)


@adapter("result_type")
def _result_type(arguments: Arguments) -> CallFunction:
    function = backend_function(arguments.backend, "result_type")
    return lambda left, right: arguments.code(function(left, right))


@adapter(*"item ScalarImplicit Scalar IntImplicit FloatImplicit ComplexImplicit Int Float Bool".split())
def _item(arguments: Arguments) -> CallFunction:
    return lambda tensor: tensor.item() if isinstance(tensor, arguments.backend.Tensor) else tensor


@adapter("set_grad_enabled")
def _set_grad_enabled(arguments: Arguments) -> CallFunction:
    function = backend_function(arguments.backend, "set_grad_enabled")

    def set_grad_enabled(enabled: bool) -> None:
        function(enabled)

    return set_grad_enabled


# Conversions.


@adapter("to", "_to_copy")
def _to(arguments: Arguments) -> CallFunction:
    tensor_class = arguments.backend.Tensor

    def to(tensor: Any, *values: Any, **given: Any) -> Any:
        """`to(dtype?, non_blocking, copy, memory_format?)`, the same after a device, or after another tensor."""
        rest = list(values)
        wanted: dict[str, Any] = dict(given)
        if rest and isinstance(rest[0], tensor_class):
            wanted["dtype"] = arguments.code(rest.pop(0).dtype)
        elif rest and isinstance(rest[0], int) and not isinstance(rest[0], bool):
            wanted["dtype"] = rest.pop(0)
        elif rest and not isinstance(rest[0], bool):
            wanted["device"] = rest.pop(0)
            if rest and not isinstance(rest[0], bool):
                wanted["dtype"] = rest.pop(0)
        for name in ("non_blocking", "copy", "memory_format"):
            if rest:
                wanted[name] = rest.pop(0)
        wanted.pop("non_blocking", None)
        keywords = arguments.keywords(wanted)
        if "device" not in keywords and "dtype" not in keywords and "copy" not in keywords:
            return tensor
        return tensor.to(keywords.pop("dtype"), **keywords) if "dtype" in keywords else tensor.to(**keywords)

    return to


@adapter("is_contiguous")
def _is_contiguous(arguments: Arguments) -> CallFunction:
    return lambda tensor, memory_format=None: tensor.is_contiguous(
        **arguments.keywords({"memory_format": memory_format})
    )


@adapter("view")
def _view(arguments: Arguments) -> CallFunction:
    return lambda tensor, size: tensor.view(arguments.dtype(size) if isinstance(size, int) else size)


def _dim_then_dtype(name: str) -> None:
    @adapter(name)
    def make(arguments: Arguments) -> CallFunction:
        function = backend_function(arguments.backend, name, f"nn.functional.{name}")
        return lambda tensor, dim, dtype=None: function(tensor, dim, **arguments.keywords({"dtype": dtype}))


for _name in ("softmax", "log_softmax"):
    _dim_then_dtype(_name)


def _reducing(name: str) -> None:
    """`sum(x, *, dtype)` and `sum(x, dim?, keepdim, *, dtype)`."""

    @adapter(name)
    def make(arguments: Arguments) -> CallFunction:
        function = backend_function(arguments.backend, name)

        def reduce(tensor: Any, *values: Any, **given: Any) -> Any:
            keywords = arguments.keywords(given)
            if values and values[0] is None:
                if len(values) > 1 and values[1]:
                    keywords["keepdim"] = True
                    return function(tensor, tuple(range(tensor.dim())), **keywords)
                values = ()
            return function(tensor, *values, **keywords)

        return reduce


for _name in ("sum", "mean", "nansum", "nanmean", "prod"):
    _reducing(_name)


@adapter("norm")
def _norm(arguments: Arguments) -> CallFunction:
    function = backend_function(arguments.backend, "norm")

    def norm(tensor: object, p: object = 2, dim: object = None, keepdim: bool = False, **given: object) -> object:
        keywords = arguments.keywords(given)
        order = 2 if p is None else p
        if dim is None:
            return function(tensor, order, **keywords)
        return function(tensor, order, dim, keepdim, **keywords)

    return norm


@adapter("linalg_vector_norm")
def _vector_norm(arguments: Arguments) -> CallFunction:
    function = backend_function(arguments.backend, "linalg.vector_norm", "norm")

    def vector_norm(tensor: Any, order: Any = 2, dim: Any = None, keepdim: bool = False, **given: Any) -> Any:
        dims = list(range(tensor.dim())) if dim is None else dim
        return function(tensor, order, dims, keepdim, **arguments.keywords(given))

    return vector_norm


# Indexing.


@adapter("slice")
def _slice(arguments: Arguments) -> CallFunction:
    def take(tensor: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
        axis = dim + tensor.dim() if dim < 0 else dim
        if not 0 <= axis < tensor.dim():
            rank = tensor.dim()
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})"
            )
        return tensor[(slice(None),) * axis + (slice(start, end, step),)]

    return take


def _subscript(indices: list[object]) -> tuple[object, ...]:
    return tuple(slice(None) if index is None else index for index in indices)


@adapter("index")
def _index(arguments: Arguments) -> CallFunction:
    return lambda tensor, indices: tensor[_subscript(indices)]


@adapter("index_put_")
def _index_put_(arguments: Arguments) -> CallFunction:
    def index_put_(tensor: Any, indices: list[Any], values: Any, accumulate: bool = False) -> Any:
        if None not in [None if index is None else 0 for index in indices]:
            return tensor.index_put_(tuple(indices), values, accumulate)
        if accumulate:
            raise NotImplementedError("index_put_ with accumulate and an index left out")
        tensor[_subscript(indices)] = values
        return tensor

    return index_put_


@adapter("index_put")
def _index_put(arguments: Arguments) -> CallFunction:
    in_place = _index_put_(arguments)
    return lambda tensor, indices, values, accumulate=False: in_place(tensor.clone(), indices, values, accumulate)


# Functions of lists.


@adapter("einsum")
def _einsum(arguments: Arguments) -> CallFunction:
    function = backend_function(arguments.backend, "einsum")
    return lambda equation, operands, path=None: function(equation, *operands)


def _spread_list(name: str) -> None:
    @adapter(name)
    def make(arguments: Arguments) -> CallFunction:
        function = backend_function(arguments.backend, name)
        return lambda tensors, **given: list(function(*tensors, **given))


for _name in ("broadcast_tensors", "meshgrid", "atleast_1d", "atleast_2d", "atleast_3d"):
    _spread_list(_name)


@adapter("is_autocast_enabled", "is_autocast_cpu_enabled", "is_scripting")
def _never(arguments: Arguments) -> CallFunction:
    return lambda *device: False


@adapter("warn")
def _warn(arguments: Arguments) -> CallFunction:
    def warn(message: str, stacklevel: int = 2) -> None:
        warnings.warn(message, UserWarning, stacklevel=stacklevel)

    return warn


@adapter("ops.profiler._record_function_enter_new")
def _record_function(arguments: Arguments) -> CallFunction:
    return lambda name, args=None: name


@adapter("ops.profiler._record_function_exit")
def _record_function_exit(arguments: Arguments) -> CallFunction:
    return lambda record: None
