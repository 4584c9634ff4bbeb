"""guardfix: checks, migrates and verifies PyTorch's gradient-mode guards in C++ and Python code."""

__version__ = "0.1.0"
