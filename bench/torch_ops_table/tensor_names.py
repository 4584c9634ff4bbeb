"""Names of Tensor: attributes that are read without a call, and methods that no other common type has."""

from __future__ import annotations

import decimal
import logging
import pathlib
import re
import warnings
from collections.abc import Iterator

import numpy
import torch

_OTHERS = (
    numpy.ndarray,
    numpy.generic,
    *(str, bytes, list, tuple, dict, set, int, float, complex, decimal.Decimal),
    *(logging.Logger, re.Pattern, re.Match, pathlib.Path),
)
_DATA_FRAMES = """
    abs ceil cov cummax cummin diff div divide eq floor ge gt le lt median mode mul multiply ne pow quantile select sub
    subtract unique where
""".split()
"""Methods of pandas that Tensor has as well, and none of the others: pandas isn't installed for this."""


def attribute_lines() -> Iterator[str]:
    """A line for each attribute: its name, and what reading it gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in sorted(dir(torch.Tensor)):
            if not name.startswith("__") and not callable(getattr(torch.Tensor, name)):
                yield f"{name}\t{_attribute(name)}"


def _attribute(name: str) -> str:
    kinds = set()
    for tensor in (torch.ones(2, 3), torch.ones(2, 3, dtype=torch.complex64)):
        try:
            value = getattr(tensor, name)
        except RuntimeError:
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


def method_lines() -> Iterator[str]:
    """The methods that only tensors have, and those of them that modules have too."""
    taken = {name for other in _OTHERS for name in dir(other)} | {*_DATA_FRAMES}
    own = {name for name in dir(torch.Tensor) if not name.startswith("_") and callable(getattr(torch.Tensor, name))}
    yield " ".join(sorted(own - taken))
    yield " ".join(sorted(own & {*dir(torch.nn.Module)}))
