"""`torch.backends`: what PyTorch is built with, as switches that change nothing."""

from __future__ import annotations

from types import SimpleNamespace

from ..core.supported_names import refuses_missing
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


__getattr__ = refuses_missing("torch.backends")


__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]
