"""numpy's names of parameters, which PyTorch's parser takes as well (torch/csrc/utils/python_arg_parser.cpp)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}
NUMPY_NAMES = frozenset(_NAMES) | {"input"}  # which kernels call self


def with_torch_names(params: Sequence[str], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keywords, those of numpy as PyTorch calls them where the function has such a parameter."""
    found = {}
    for name, value in kwargs.items():
        wanted = _NAMES.get(name, name) if name not in params else name
        if wanted == "input" and wanted not in params and params[:1] == ("self",):
            wanted = "self"
        found[wanted if wanted in params else name] = value
    return found
