"""Copies and conversions: clone, contiguous, to."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.argument_errors import require_tensors
from ..core.device import check_device
from ..core.dtypes import Array
from ..core.function_table import FUNCTIONS
from ..core.memory_layout import blank_like, is_laid_out, laid_out
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED
from ..dispatch.registration import composite, op
from .creation import finish


def _clone_below(self: Tensor, memory_format: Any = None) -> Tensor:
    made: Tensor = FUNCTIONS["empty_like"](self, memory_format=memory_format)
    return made.copy_(self)


@op("clone", computes=ANY_DTYPE, out=RESIZED, below=_clone_below, self=lambda grad: grad)
def clone(self: Any, *, memory_format: Any = None) -> Array:
    return laid_out(self, memory_format)


@composite("contiguous", function=False)
def contiguous(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """The tensor itself if its elements already lie in the order of the format, else a copy."""
    if self._array.flags.c_contiguous if memory_format is None else is_laid_out(self._array, memory_format):
        return self
    if memory_format == "preserve":
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return clone(self, memory_format=memory_format or "contiguous")


def _to_copy_below(self: Tensor, dtype: dtypes.dtype) -> Tensor:
    made = blank_like(self._array, dtype.numpy)
    made.fill(0)
    return finish(made).copy_(self)


@op(
    "_to_copy",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="ToCopyBackward0",
    method=False,
    below=_to_copy_below,
    self=lambda grad: grad,
)
def to_copy(self: Any, dtype: dtypes.dtype) -> Array:
    if self.flags.c_contiguous and 1 not in self.shape:
        return self.astype(dtype.numpy)
    made = blank_like(self, dtype.numpy)
    np.copyto(made, self, casting="unsafe")
    return made


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
    if memory_format is not None and memory_format != "preserve" and not is_laid_out(self._array, memory_format):
        return clone(self if dtype in (None, self.dtype) else to_copy(self, dtype), memory_format=memory_format)
    if dtype is None or self.dtype is dtype:
        return to_copy(self, self.dtype) if copy else self
    return to_copy(self, dtype)


def _converter(name: str, target: dtypes.dtype) -> None:
    def convert(self: Tensor, memory_format: Any = None) -> Tensor:
        return self if self.dtype is target else to_copy(self, target)

    composite(name, function=False)(convert)


for _name, _target in {
    "half": dtypes.float16,
    "bfloat16": dtypes.bfloat16,
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
    require_tensors("type_as", self=self, other=other)
    return to(self, other.dtype)


@composite("type", function=False)
def type_(self: Tensor, dtype: dtypes.dtype | None = None) -> Any:
    if dtype is None:
        return f"torch.{self.dtype.scalar_name}Tensor"
    if isinstance(dtype, str):
        found = {f"torch.{d.scalar_name}Tensor": d for d in (*dtypes.ALL, dtypes.bfloat16)}
        if dtype not in found:
            raise ValueError(f"invalid type: '{dtype}'")
        return to(self, found[dtype])
    return to(self, getattr(dtype, "dtype", dtype))


@composite("to_dense", function=False)
def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: Any = None) -> Tensor:
    """The tensor itself, which is dense, in the given dtype."""
    return self if dtype is None else self.to(dtype)


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
