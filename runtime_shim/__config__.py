"""`torch.__config__`: how the shim computes, in the words in which PyTorch says it of itself."""

from __future__ import annotations

import os


def show() -> str:
    """A description of the build."""
    return "PyTorch built with:\n  - guardfix's runtime shim on numpy\n"


def parallel_info() -> str:
    """How loops of C++ run in parallel."""
    return f"ATen/Parallel:\n\tat::get_num_threads() : {os.cpu_count()}\nATen parallel backend: native thread pool\n"
