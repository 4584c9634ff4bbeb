"""The module `torch.autograd.gradcheck`, which can be called: PyTorch has the function of that name in its place."""

from __future__ import annotations

import sys
import types
from typing import Any

from .gradient_checks import GradcheckError, gradcheck, gradgradcheck

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class _CallableModule(types.ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> bool:
        return gradcheck(*args, **kwargs)


sys.modules[__name__].__class__ = _CallableModule
