"""Sums and greatest elements of the rows of small matrices, spread over the rows, by products with ones.

numpy takes more than half a microsecond for a reduction, and as long again for an operation on a matrix and a column.
`dot`, and operations on two matrices of one shape, take a third of that, which is what small layers consist of.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..core.dtypes import Array

_WIDEST = 32  # columns: beyond, the product does more work than is saved
_LARGEST = 2048  # elements
_DOUBLE = np.dtype(np.float64)


@functools.lru_cache(maxsize=64)
def _helpers(rows: int, columns: int, dtype: Any) -> tuple[Array, Array, Array]:
    """A square of ones, a row of ones, and where each row begins in memory."""
    starts = np.arange(0, rows * columns, columns)
    return np.ones((columns, columns), dtype), np.ones((1, columns), dtype), starts


@functools.lru_cache(maxsize=64)
def _averaging(rows: int, columns: int, eps: float) -> tuple[Array, Array]:
    """A square whose product with a row is its mean, and `eps` in every place."""
    return np.full((columns, columns), 1 / columns), np.full((rows, columns), eps)


def rows_of(array: Any, columns: int) -> Any:
    """The array as a matrix with rows of so many elements, if this is what the functions below are for, else None."""
    size = array.size
    if (
        1 < columns <= _WIDEST
        and 0 < size <= _LARGEST
        and type(array) is np.ndarray
        and array.flags.c_contiguous
        and array.dtype.char in "fd"
    ):
        return array if array.ndim == 2 and array.shape[1] == columns else array.reshape(-1, columns)
    return None


def softmax_of_rows(a: Array) -> Array:
    """softmax along the rows."""
    n, columns = a.shape
    ones, row, starts = _helpers(n, columns, a.dtype)
    places = a.argmax(1)
    places += starts
    found: Array = a - a.take(places).reshape(n, 1).dot(row)
    np.exp(found, found)
    found /= found.dot(ones)
    return found


def less_row_sums(grad: Array, output: Array) -> Array:
    """The gradient of softmax along the rows."""
    product = grad * output
    found: Array = grad - product.dot(_helpers(*product.shape, product.dtype)[0])
    found *= output
    return found


def moments_of_rows(a: Array, eps: float) -> tuple[Array, Array]:
    """Of each row the mean and 1 / sqrt(variance + eps), at every element of it, in double precision."""
    average, more = _averaging(*a.shape, eps)
    centred = a.astype(_DOUBLE)
    mean = centred.dot(average)
    centred -= mean
    centred *= centred
    scale = centred.dot(average)
    scale += more
    return mean, np.reciprocal(np.sqrt(scale, scale), scale)
