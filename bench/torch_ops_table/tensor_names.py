"""Names of Tensor: attributes that are read without a call, and methods that no other common type has."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy
import torch


def property_lines() -> Iterator[str]:
    """A line for each attribute: its name, and what reading it gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in sorted(dir(torch.Tensor)):
            if name.startswith("__") or callable(getattr(torch.Tensor, name)):
                continue
            yield f"{name}\t{_property(name)}"


def _property(name: str) -> str:
    kinds = set()
    for tensor in (torch.ones(2, 3), torch.ones(2, 3, dtype=torch.complex64)):
        try:
            value = getattr(tensor, name)
        except Exception:
            continue
        if value is tensor:
            kinds.add("alias")
        elif isinstance(value, torch.Tensor):
            kinds.add("view" if value.untyped_storage()._cdata == tensor.untyped_storage()._cdata else "new")
        else:
            kinds.add("number" if isinstance(value, (bool, int, float)) else "other")
    if len(kinds) == 1:
        return kinds.pop()
    return "view" if kinds == {"alias", "view"} else "other"


def tensor_only_line() -> Iterator[str]:
    others = (numpy.ndarray, numpy.generic, str, bytes, list, tuple, dict, set, int, float, complex)
    taken = {name for other in others for name in dir(other)}
    own = {name for name in dir(torch.Tensor) if not name.startswith("_") and callable(getattr(torch.Tensor, name))}
    modules = set(dir(torch.nn.Module))
    yield " ".join(sorted(own - taken))
    yield " ".join(sorted((own - taken) & modules))
