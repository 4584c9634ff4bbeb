"""Creation, copying and conversion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from guardfix.runtime_shim import dtypes, errors
from guardfix.runtime_shim._tensor import Tensor, meta_of, new_tensor, raw_is_leaf, set_requires_grad
from guardfix.runtime_shim.arguments import public_call, wrong_type
from guardfix.runtime_shim.device import check_device
from guardfix.runtime_shim.dispatch import FUNCTIONS, composite, op, resize_output
from guardfix.runtime_shim.dtypes import Array
from guardfix.runtime_shim.kernels.views import flatten_ints, some_ints
from guardfix.runtime_shim.state import AUTOGRAD, tls


def finish(array: Any, requires_grad: bool = False, out: Tensor | None = None) -> Tensor:
    """A fresh tensor, with the flag set if asked for, or `out` with the values."""
    if out is not None:
        if requires_grad_now(out):
            called = public_call()
            raise errors.out_requires_grad(f"aten::{called[0] if called else 'empty'}")
        resize_output(out, array.shape, warn=False)
        out.copy_(new_tensor(array))
        if raw_is_leaf(out):
            set_requires_grad(out, requires_grad)
        return out
    made = new_tensor(array)
    if requires_grad:
        if made._array.dtype.kind not in "fc":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        meta_of(made).requires_grad = True
    if tls.state.tracer is not None:
        tls.state.tracer.record("create", 1, made)
    return made


def requires_grad_now(t: Tensor) -> bool:
    """Whether an op that writes to `t` would be recorded."""
    state = tls.state
    return state.grad_mode and bool(t._keys & ~state.excluded & AUTOGRAD) and t.requires_grad


def _numpy_dtype(dtype: dtypes.dtype | None, default: np.dtype[Any] | None = None) -> np.dtype[Any]:
    if dtype is None:
        return default if default is not None else dtypes.get_default_dtype().numpy
    if not isinstance(dtype, dtypes.dtype):
        if dtype in dtypes.OF_PYTHON:
            return dtypes.OF_PYTHON[dtype].numpy
        called = public_call()
        name = called[0] if called else "empty"
        raise TypeError(f"{name}(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    return dtype.numpy


def _shape(args: tuple[Any, ...]) -> tuple[int, ...]:
    shape = flatten_ints(args)
    for size in shape:
        if size < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {size}: {dtypes.sizes(shape)}")
    return shape


def _size_argument(name: str, named: dict[str, Any]) -> tuple[Any, ...]:
    size = named.pop("size", ())
    if named:
        raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(named))}'")
    return (size,)


def _filled(name: str, make: Any) -> None:
    def create(
        *size: Any,
        dtype: dtypes.dtype | None = None,
        requires_grad: bool = False,
        device: Any = None,
        layout: Any = None,
        pin_memory: bool = False,
        out: Tensor | None = None,
        names: Any = None,
        memory_format: Any = None,
        **named: Any,
    ) -> Tensor:
        check_device(device)
        if named:
            size = (*size, *_size_argument(name, named))
        if not size:
            some_ints(size, "size")
        found = make(_shape(size), _numpy_dtype(dtype))
        if out is not None and name == "empty":
            resize_output(out, found.shape, warn=False)
            return out
        return finish(found, requires_grad, out)

    def like(
        input: Tensor,
        *,
        dtype: dtypes.dtype | None = None,
        requires_grad: bool = False,
        device: Any = None,
        layout: Any = None,
        memory_format: Any = None,
    ) -> Tensor:
        check_device(device)
        if not isinstance(input, Tensor):
            raise wrong_type(f"{name}_like", "input", 1, input)
        array = input._array
        target = np.empty_like(array, dtype=_numpy_dtype(dtype, array.dtype), subok=False)
        if name in _VALUES:
            target.fill(_VALUES[name])
        return finish(target, requires_grad)

    def new(
        self: Tensor,
        *size: Any,
        dtype: dtypes.dtype | None = None,
        requires_grad: bool = False,
        device: Any = None,
        layout: Any = None,
        pin_memory: bool = False,
    ) -> Tensor:
        check_device(device)
        made = finish(make(_shape(size), _numpy_dtype(dtype, self._array.dtype)), requires_grad)
        if name != "empty":
            _leak_fill(self, made)
        return made

    composite(name, method=False)(create)
    composite(f"{name}_like", method=False)(like)
    composite(f"new_{name}", function=False)(new)


_VALUES = {"zeros": 0, "ones": 1}


def _leak_fill(source: Tensor, made: Tensor) -> None:
    """new_zeros and its kin fill a fresh tensor, which counts where no autograd kernel wraps them."""
    state = tls.state
    keys = (source._keys | state.included) & ~state.excluded
    if keys & 4 and not keys & 2 and made._version_counter is not None:
        made._version_counter[0] += 1


_filled("zeros", np.zeros)
_filled("ones", np.ones)
_filled("empty", np.zeros)  # zeros, so that programs are reproducible


@composite("full", method=False)
def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    device: Any = None,
    layout: Any = None,
    out: Tensor | None = None,
) -> Tensor:
    check_device(device)
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    if not isinstance(fill_value, int | float | complex | np.generic):
        kind = type(fill_value).__name__
        raise TypeError(f"full(): argument 'fill_value' (position 2) must be Number, not {kind}")
    target = _numpy_dtype(dtype, dtypes.of_number(fill_value))
    dtypes.check_number(fill_value, target)
    found = np.full(_shape((size,)), fill_value, target)
    return finish(found, requires_grad, out)


@composite("full_like", method=False)
def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    device: Any = None,
    layout: Any = None,
    memory_format: Any = None,
) -> Tensor:
    check_device(device)
    return finish(np.full_like(input._array, fill_value, dtype=_numpy_dtype(dtype, input._array.dtype)), requires_grad)


@composite("new_full", function=False)
def new_full(
    self: Tensor,
    size: Any,
    fill_value: Any,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    device: Any = None,
) -> Tensor:
    made = full(size, fill_value, dtype=dtype or self.dtype, requires_grad=requires_grad, device=device)
    _leak_fill(self, made)
    return made


@composite("new_tensor", function=False)
def _new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    return tensor(data, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)


@composite("empty_strided", method=False)
def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    device: Any = None,
) -> Tensor:
    """Uninitialised in PyTorch, zeros here."""
    numpy_dtype = _numpy_dtype(dtype)
    shape = tuple(size)
    extent = 1 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True)) if 0 not in shape else 0
    flat = np.zeros(extent, numpy_dtype)
    found = np.lib.stride_tricks.as_strided(flat, shape, [s * numpy_dtype.itemsize for s in stride])
    made = finish(found, requires_grad)
    made._storage[1] = flat
    return made


def _array_of(data: Any, dtype: dtypes.dtype | None) -> Array:
    if isinstance(data, Tensor):
        array = data._array
    elif isinstance(data, np.ndarray):
        dtypes.of(data)
        array = data
    else:
        array = _array_of_python(data, dtype)
    if dtype is not None and array.dtype != dtype.numpy:
        return array.astype(dtype.numpy)
    return array


def _array_of_python(data: Any, dtype: dtypes.dtype | None = None) -> Array:
    if isinstance(data, list | tuple) and _holds_tensors(data):
        data = _to_python(data)
    if isinstance(data, str | bytes):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    try:
        array = np.array(data)
    except ValueError:
        _ragged(data)
        raise
    if array.dtype.kind == "O":
        raise RuntimeError(f"Could not infer dtype of {type(_first(data)).__name__}")
    if array.dtype.kind in "US":
        raise TypeError(f"new(): invalid data type '{type(_first(data)).__name__}'")
    if isinstance(data, np.generic):
        return array
    kind = array.dtype.kind
    if kind == "f" and not _holds_numpy_scalars(data):
        # Numbers go to the wanted dtype at once: by way of float32 a float64 would be rounded.
        return array if dtype is not None else array.astype(dtypes.get_default_dtype().numpy)
    if kind == "c":
        return array if dtype is not None else array.astype(dtypes.get_default_dtype().to_complex().numpy)
    if kind in "iu" and not _holds_numpy_scalars(data):
        return array.astype(np.int64)
    return array


def _first(data: Any) -> Any:
    while isinstance(data, list | tuple) and data:
        data = data[0]
    return data


def _holds_numpy_scalars(data: Any) -> bool:
    return isinstance(_first(data), np.generic | np.ndarray)


def _holds_tensors(data: Any) -> bool:
    return any(isinstance(d, Tensor) or (isinstance(d, list | tuple) and _holds_tensors(d)) for d in data)


def _to_python(data: Any) -> Any:
    if isinstance(data, Tensor):
        return data.tolist()
    return [_to_python(d) for d in data] if isinstance(data, list | tuple) else data


def _ragged(data: Any, dim: int = 0) -> None:
    lengths = [len(d) if isinstance(d, list | tuple) else None for d in data]
    for length in lengths:
        if length != lengths[0]:
            raise ValueError(f"expected sequence of length {lengths[0]} at dim {dim + 1} (got {length})")
    for d in data:
        if isinstance(d, list | tuple):
            _ragged(d, dim + 1)


@composite("tensor", method=False)
def tensor(
    data: Any,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor holding a copy of `data` (numbers, nested lists, arrays, tensors)."""
    check_device(device)
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        dtype = dtypes.BY_CHAR[_numpy_dtype(dtype).char]
    made = finish(np.array(_array_of(data, dtype)), requires_grad)
    if isinstance(data, Tensor):
        _leak_fill(data, made)
    return made


@composite("as_tensor", method=False)
def as_tensor(data: Any, dtype: dtypes.dtype | None = None, device: Any = None) -> Tensor:
    """Like `tensor`, but shares memory (and is `data` itself) where no conversion is needed."""
    check_device(device)
    if isinstance(data, Tensor):
        return data if dtype is None or data.dtype is dtype else data.to(dtype)
    array = _array_of(data, dtype)
    return finish(array)


FUNCTIONS["asarray"] = as_tensor


@composite("scalar_tensor", method=False)
def scalar_tensor(value: Any, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    return finish(np.asarray(value, _numpy_dtype(dtype)), requires_grad)


@composite("from_numpy", method=False)
def from_numpy(array: Array) -> Tensor:
    """A tensor sharing the memory of a numpy array."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    dtypes.of(array)
    if any(s < 0 for s in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides "
            "are not "
            "currently supported. (You can probably work around this by making a copy of your array  with "
            "array.copy().) "
        )
    return finish(array if type(array) is np.ndarray else array.view(np.ndarray))


@composite("arange", method=False)
def arange(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    device: Any = None,
    layout: Any = None,
    out: Tensor | None = None,
) -> Tensor:
    check_device(device)
    if end is None:
        start, end = 0, start
    start, end, step = (x.item() if isinstance(x, Tensor) else x for x in (start, end, step))
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (step > 0 and start > end) or (step < 0 and start < end):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    floating = any(isinstance(x, float) for x in (start, end, step))
    default = dtypes.get_default_dtype().numpy if floating else np.dtype(np.int64)
    count = int(np.ceil((end - start) / step))
    target = _numpy_dtype(dtype, default)
    written = target if out is None else out._array.dtype
    if written.kind in "bc":
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{dtypes.BY_CHAR[written.char].scalar_name}'")
    if target.kind in "iu" and not floating:
        found = np.arange(start, end, step).astype(target)
    else:
        found = (start + np.arange(count) * step).astype(target)
    return finish(found, requires_grad, out)


@composite("linspace", method=False)
def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    device: Any = None,
    layout: Any = None,
    out: Tensor | None = None,
) -> Tensor:
    check_device(device)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    return finish(np.linspace(start, end, steps).astype(_numpy_dtype(dtype)), requires_grad, out)


@composite("logspace", method=False)
def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    return finish(np.logspace(start, end, steps, base=base).astype(_numpy_dtype(dtype)), requires_grad)


@composite("eye", method=False)
def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    device: Any = None,
    layout: Any = None,
    out: Tensor | None = None,
) -> Tensor:
    check_device(device)
    return finish(np.eye(n, m, dtype=_numpy_dtype(dtype)), requires_grad, out)


# -- copies
# -----------------------------------------------------------------------------------------------------


def _clone_below(self: Tensor, memory_format: Any = None) -> Tensor:
    made: Tensor = FUNCTIONS["empty_like"](self)
    if memory_format == "contiguous" and not made._array.flags.c_contiguous:
        made = finish(np.zeros(made._array.shape, made._array.dtype))
    return made.copy_(self)


@op("clone", below=_clone_below, self=lambda grad: grad)
def clone(self: Any, *, memory_format: Any = None) -> Array:
    if 0 in self.strides and not self.flags.c_contiguous:
        return self.copy("C")
    return self.copy("C" if memory_format == "contiguous" else "K")


@composite("contiguous", function=False)
def contiguous(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """The tensor itself if its elements already lie in order, else a copy."""
    if self._array.flags.c_contiguous:
        return self
    return clone(self, memory_format="contiguous")


def _to_copy_below(self: Tensor, dtype: dtypes.dtype) -> Tensor:
    return finish(np.zeros(self._array.shape, dtype.numpy)).copy_(self)


@op("_to_copy", node="ToCopyBackward0", method=False, below=_to_copy_below, self=lambda grad: grad)
def to_copy(self: Any, dtype: dtypes.dtype) -> Array:
    return self.astype(dtype.numpy)


@composite("to", function=False)
def to(
    self: Tensor,
    *args: Any,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """The tensor in another dtype; itself if that changes nothing and `copy` is false."""
    for arg in args:
        if isinstance(arg, dtypes.dtype) or arg in (float, int, bool, complex):
            dtype = dtypes.OF_PYTHON.get(arg, arg)
        elif isinstance(arg, Tensor):
            dtype = arg.dtype
        elif not isinstance(arg, bool):
            device = arg
    check_device(device)
    if dtype is None or self._array.dtype == dtype.numpy:
        return to_copy(self, self.dtype) if copy else self
    return to_copy(self, dtype)


def _converter(name: str, target: dtypes.dtype) -> None:
    def convert(self: Tensor, memory_format: Any = None) -> Tensor:
        return self if self._array.dtype == target.numpy else to_copy(self, target)

    composite(name, function=False)(convert)


for _name, _target in {
    "half": dtypes.float16,
    "float": dtypes.float32,
    "double": dtypes.float64,
    "char": dtypes.int8,
    "short": dtypes.int16,
    "int": dtypes.int32,
    "long": dtypes.int64,
    "byte": dtypes.uint8,
    "bool": dtypes.bool_,
    "cfloat": dtypes.complex64,
    "cdouble": dtypes.complex128,
}.items():
    _converter(_name, _target)


@composite("type_as", function=False)
def type_as(self: Tensor, other: Tensor) -> Tensor:
    return to(self, other.dtype)


@composite("type", function=False)
def type_(self: Tensor, dtype: dtypes.dtype | None = None) -> Any:
    if dtype is None:
        return f"torch.{self.dtype.scalar_name}Tensor"
    if isinstance(dtype, str):
        found = {f"torch.{d.scalar_name}Tensor": d for d in dtypes.ALL}
        if dtype not in found:
            raise ValueError(f"invalid type: '{dtype}'")
        return to(self, found[dtype])
    return to(self, dtype)


@composite("cpu", function=False)
def cpu(self: Tensor) -> Tensor:
    return self


@composite("is_inference", method=False)
def is_inference(input: Tensor) -> bool:
    if not isinstance(input, Tensor):
        raise TypeError(f"is_inference(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    return input.is_inference()


@composite("is_tensor", method=False)
def is_tensor(obj: Any) -> bool:
    return isinstance(obj, Tensor)


@composite("is_floating_point", method=False)
def is_floating_point(input: Tensor) -> bool:
    return input.is_floating_point()


@composite("is_complex", method=False)
def is_complex(input: Tensor) -> bool:
    return input.is_complex()


@composite("numel", method=False)
def numel(input: Tensor) -> int:
    return input.numel()


# -- random
# -----------------------------------------------------------------------------------------------------

_generator: np.random.Generator | None = None


def generator() -> np.random.Generator:
    """The generator behind rand, randn and the like; its numbers are not PyTorch's."""
    global _generator
    if _generator is None:
        _generator = np.random.default_rng()
    return _generator


class Generator:
    """`torch.Generator`: what random ops draw from. There is one stream of numbers, not PyTorch's."""

    def __init__(self, device: Any = None) -> None:
        check_device(device)
        self.seed_value = 0

    def manual_seed(self, seed: int) -> Generator:
        """Make what follows reproducible; the numbers differ from PyTorch's for the same seed."""
        global _generator
        if not isinstance(seed, int):
            raise TypeError(f"manual_seed(): argument 'seed' must be int, not {type(seed).__name__}")
        self.seed_value = seed & 0xFFFFFFFFFFFFFFFF
        _generator = np.random.default_rng(self.seed_value)
        return self

    def initial_seed(self) -> int:
        return self.seed_value


default_generator = Generator()


@composite("manual_seed", method=False)
def manual_seed(seed: int) -> Generator:
    """Make what follows reproducible; the numbers differ from PyTorch's for the same seed."""
    return default_generator.manual_seed(seed)


@composite("initial_seed", method=False)
def initial_seed() -> int:
    """The seed last given to manual_seed."""
    return default_generator.initial_seed()


def _random(name: str, draw: Any, refusal: str) -> None:
    def create(
        *size: Any,
        dtype: dtypes.dtype | None = None,
        requires_grad: bool = False,
        device: Any = None,
        generator: Any = None,
        layout: Any = None,
    ) -> Tensor:
        check_device(device)
        target = _numpy_dtype(dtype)
        if target.kind not in "fc":
            raise NotImplementedError(f"\"{refusal}\" not implemented for '{dtypes.BY_CHAR[target.char].scalar_name}'")
        return finish(draw(_shape(size)).astype(target), requires_grad)

    def like(
        input: Tensor, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False, device: Any = None
    ) -> Tensor:
        return finish(
            np.asarray(draw(input._array.shape)).astype(_numpy_dtype(dtype, input._array.dtype)),
            requires_grad,
        )

    composite(name, method=False)(create)
    composite(f"{name}_like", method=False)(like)


_random("rand", lambda shape: np.asarray(generator().random(shape)), "check_uniform_bounds")
_random("randn", lambda shape: np.asarray(generator().standard_normal(shape)), "normal_kernel_cpu")


@composite("randint", method=False)
def randint(
    low: int,
    high: Any = None,
    size: Any = None,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    device: Any = None,
) -> Tensor:
    if size is None:
        low, high, size = 0, low, high
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    return finish(
        generator().integers(low, high, _shape((size,))).astype(_numpy_dtype(dtype or dtypes.int64)),
        requires_grad,
    )


@composite("randperm", method=False)
def randperm(n: int, *, dtype: dtypes.dtype | None = None, device: Any = None) -> Tensor:
    return finish(generator().permutation(n).astype(_numpy_dtype(dtype or dtypes.int64)))
