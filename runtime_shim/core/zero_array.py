"""Zeros for which PyTorch allocates no memory (`at::_efficientzerotensor`): the gradient of `sgn` is made of them.

Products of them, quotients and sums of two are such zeros again; all else that is computed with them is an ordinary
array, and so is what they are converted to. The
shim's have memory, which nothing shows but the methods that PyTorch refuses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_ndarray = np.ndarray


class ZeroArray(np.ndarray[Any, Any]):
    """Zeros without memory of their own, as PyTorch has it."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        plain = [i.view(_ndarray) if type(i) is ZeroArray else i for i in inputs]
        if out is not None:
            options["out"] = tuple(o.view(_ndarray) if type(o) is ZeroArray else o for o in out)
        found = getattr(ufunc, method)(*plain, **options)
        if out is not None:
            return out[0] if len(out) == 1 else out
        stays = ufunc is np.multiply or (ufunc is np.true_divide and type(inputs[0]) is ZeroArray)
        stays = stays or (ufunc is np.add and all(type(i) is ZeroArray for i in inputs))
        return found.view(ZeroArray) if stays and isinstance(found, _ndarray) else found

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
