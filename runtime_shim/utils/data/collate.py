"""Samples put together to batches."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.function_table import FUNCTIONS
from ...core.tensor import Tensor

_FORMAT = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
_TEXT = re.compile("[SaUO]")


def default_collate(batch: Any) -> Any:
    """A list of samples as one batch: tensors are stacked, numbers become tensors, containers keep their form.

    TypeError for what no tensor can be made of.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return FUNCTIONS["stack"](batch, 0)
    if isinstance(first, np.ndarray):
        if _TEXT.search(first.dtype.str):
            raise TypeError(_FORMAT.format(first.dtype))
        return FUNCTIONS["stack"]([FUNCTIONS["as_tensor"](sample) for sample in batch], 0)
    if isinstance(first, np.generic) and not isinstance(first, np.str_ | np.bytes_):
        return FUNCTIONS["as_tensor"](np.array(batch))
    if isinstance(first, float):
        return FUNCTIONS["tensor"](batch, dtype=_double())
    if isinstance(first, int):
        return FUNCTIONS["tensor"](batch)
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        made = {key: default_collate([sample[key] for sample in batch]) for key in first}
        return _like(first, made)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(samples) for samples in zip(*batch, strict=True)))
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        found = [default_collate(samples) for samples in zip(*batch, strict=True)]
        return found if isinstance(first, tuple) else _like(first, found)
    raise TypeError(_FORMAT.format(type(first)))


def default_convert(data: Any) -> Any:
    """One sample with its arrays as tensors: what a loader without batches gives."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, np.ndarray | np.generic) and not isinstance(data, np.str_ | np.bytes_):
        return data if _TEXT.search(data.dtype.str) else FUNCTIONS["as_tensor"](data)
    if isinstance(data, Mapping):
        return _like(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, tuple):
        return [default_convert(value) for value in data]
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _like(data, [default_convert(value) for value in data])
    return data


def _like(container: Any, made: Any) -> Any:
    """`made` in the container's own type, if that can be built of it."""
    try:
        return type(container)(made)
    except TypeError:
        return made


def _double() -> Any:
    from ...core import dtypes

    return dtypes.float64
