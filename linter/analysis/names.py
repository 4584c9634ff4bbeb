"""Names of C++ as they are written and as they are qualified, and PyTorch's that mean the same in both languages."""

from __future__ import annotations

from typing import Final

CPP_AUTOGRAD_FUNCTION: Final = ("torch", "autograd", "Function")
"""The template from which a custom function derives (torch/csrc/autograd/custom_function.h)."""
PYTHON_AUTOGRAD_FUNCTION: Final = (("torch", "autograd", "Function"), ("torch", "autograd", "function", "Function"))
"""The class from which a custom function derives (torch/autograd/function.py), and where it is defined."""


def names_agree(written: tuple[str, ...], qualified: tuple[str, ...]) -> bool:
    """Whether a name as written can mean the qualified one: one is a tail of the other."""
    short, long = sorted((written, qualified), key=len)
    return long[len(long) - len(short) :] == short
