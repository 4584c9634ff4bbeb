"""`torch.nn.attention`: which kernel computes attention. Here it is one, whatever is chosen."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..core.supported_names import refuses_missing


class SDPBackend(enum.IntEnum):
    """The kernels that PyTorch has."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """Inside, one of these is used. Their results differ in the last digits only."""
    chosen = [backends] if isinstance(backends, SDPBackend) else list(backends)
    if not all(isinstance(backend, SDPBackend) for backend in chosen):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances")
    yield


__getattr__ = refuses_missing("torch.nn.attention")
