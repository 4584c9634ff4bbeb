"""`torch.backends`: what PyTorch is built with, as switches that change nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ..core.supported_names import missing_attribute
from . import cudnn


def _library(**more: object) -> SimpleNamespace:
    return SimpleNamespace(
        is_available=lambda: False,
        enabled=False,
        allow_tf32=False,
        flags=cudnn.flags,
        version=lambda: None,
        **more,
    )


cuda = _library(matmul=SimpleNamespace(allow_tf32=False), is_built=lambda: False)
mkldnn = _library()
mkl = _library()
mps = _library(is_built=lambda: False)
openmp = _library()
cpu = SimpleNamespace(get_cpu_capability=lambda: "DEFAULT")


def __getattr__(name: str) -> Any:
    raise missing_attribute("torch.backends", name)


__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]
