"""Zeros for which PyTorch allocates no memory (`at::_efficientzerotensor`): the gradient of `sgn` is made of them.

Products of them, quotients and sums of two are such zeros again; all else that is computed with them is an ordinary
array, and so is what they are converted to. Nothing can be written to them. The shim's have memory, which nothing shows
but the methods that PyTorch refuses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_ndarray = np.ndarray


def _immutable(*args: Any) -> Any:
    raise RuntimeError(
        "ZeroTensors are immutable. Please use the materialized zero tensor obtained using .clone() if you want a "
        "mutable tensor."
    )


class ZeroArray(np.ndarray[Any, Any]):
    """Zeros without memory of their own, as PyTorch has it."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        plain = [i.view(_ndarray) if type(i) is ZeroArray else i for i in inputs]
        if out is not None:
            if any(type(o) is ZeroArray for o in out):
                _immutable()
            options["out"] = out
        found = getattr(ufunc, method)(*plain, **options)
        if out is not None:
            return out[0] if len(out) == 1 else out
        stays = ufunc is np.multiply or (ufunc is np.true_divide and type(inputs[0]) is ZeroArray)
        stays = stays or (ufunc is np.add and all(type(i) is ZeroArray for i in inputs))
        return found.view(ZeroArray) if stays and isinstance(found, _ndarray) else found

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is np.copyto and type(args[0]) is ZeroArray:
            _immutable()
        return super().__array_function__(function, types, args, kwargs)

    fill = __setitem__ = _immutable  # type: ignore[assignment]

    def copy(self, order: Any = "C") -> Any:
        return self.view(_ndarray).copy(order)

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        return self.view(_ndarray).astype(dtype, *args, **options)


def check_allocated(array: Any) -> None:
    """RuntimeError, in PyTorch's words, if `tolist` is asked for zeros without memory."""
    if type(array) is ZeroArray:
        raise RuntimeError("tolist() shouldn't be called on a tensor with unallocated storage")


def check_readable(array: Any) -> None:
    """RuntimeError, in PyTorch's words, if numpy is to see zeros without memory."""
    if type(array) is ZeroArray:
        raise RuntimeError(" Cannot convert a ZeroTensor to numpy. Set force=True if you need the zero array.")
