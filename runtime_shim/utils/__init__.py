"""`torch.utils`."""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = frozenset("_pytree cpp_extension checkpoint data dlpack hooks".split())


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name == "cmake_prefix_path":
        from ..extension.cmake_package import cmake_prefix_path

        return cmake_prefix_path()
    from ..core.supported_names import missing

    return missing("torch.utils", name)
