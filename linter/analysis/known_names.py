"""PyTorch's names that mean the same in both languages."""

from __future__ import annotations

from typing import Final

CPP_AUTOGRAD_FUNCTION: Final = ("torch", "autograd", "Function")
"""The template from which a custom function derives (torch/csrc/autograd/custom_function.h)."""
PYTHON_AUTOGRAD_FUNCTION: Final = (("torch", "autograd", "Function"), ("torch", "autograd", "function", "Function"))
"""The class from which a custom function derives (torch/autograd/function.py), and where it is defined."""
