"""The dtypes of the parameters of a normalization."""

from __future__ import annotations

import numpy as np

from ..core.tensor import Tensor


def check_mixed_dtypes(input: Tensor, *parameters: Tensor | None) -> None:
    """The parameters have the input's dtype, or are all float32 beside an input of half the width.

    Source of the behaviour: aten/src/ATen/native/cpu/mixed_data_type.h.
    """
    given = [t for t in parameters if t is not None]
    if not given:
        return
    dtype, expected = input._array.dtype, given[0]._array.dtype
    if expected != dtype:
        if any(t._array.dtype != np.float32 for t in given):
            raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
        if dtype.itemsize != 2:
            raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")
    for t in given:
        if t._array.dtype != expected:
            raise RuntimeError(f"expected scalar type {given[0].dtype.scalar_name} but found {t.dtype.scalar_name}")
