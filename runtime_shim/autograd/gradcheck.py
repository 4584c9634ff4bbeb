"""The module `torch.autograd.gradcheck`, which can be called: PyTorch has the function of that name in its place."""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.tensor import Tensor, new_tensor, requires_grad
from . import _as_tuple, gradient_checks
from .gradient_checks import GradcheckError, gradcheck, gradgradcheck

__all__ = ["GradcheckError", "get_analytical_jacobian", "get_numerical_jacobian", "gradcheck", "gradgradcheck"]


def get_numerical_jacobian(
    fn: Callable[..., Any], inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> tuple[Tensor, ...]:
    """The Jacobian of the first output of `fn(inputs)` for each input that requires grad, or for `target`."""
    _begin("numerical", grad_out)

    def unpacked(*values: Any) -> Any:
        return fn(values)

    wanted = _as_tuple(inputs if target is None else target)
    outputs = gradient_checks._differentiable(unpacked(*inputs))
    return tuple(
        new_tensor(gradient_checks._numerical(unpacked, inputs, t, outputs, eps)[0])
        for t in wanted
        if isinstance(t, Tensor) and requires_grad(t)
    )


def get_analytical_jacobian(
    inputs: Any, output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[tuple[Tensor, ...], bool, bool, bool]:
    """The Jacobian of `output` for each input that requires grad, and whether two runs gave the same, sizes fit, and
    dtypes fit. ValueError for a complex output.
    """
    _begin("analytical", grad_out)
    if output.is_complex():
        raise ValueError(
            "Expected output to be non-complex. get_analytical_jacobian no longer supports functions that return "
            "complex outputs."
        )
    checked = [t for t in _as_tuple(inputs) if isinstance(t, Tensor) and requires_grad(t)]
    first, again = (gradient_checks._analytical(output, checked, False) for _ in range(2))
    same = all(not a.size or float(np.max(np.abs(a - b))) <= nondet_tol for a, b in zip(first, again, strict=True))
    dtypes_fit = True
    try:
        gradient_checks._analytical(output, checked, True)
    except GradcheckError:
        dtypes_fit = False
    return tuple(map(new_tensor, first)), same, True, dtypes_fit


def _begin(kind: str, grad_out: float) -> None:
    name = f"get_{kind}_jacobian"
    warnings.warn(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are deprecating it and it will be "
        "removed in a future version of PyTorch. If you have a specific use for this or feature request for this to be "
        "a stable API, please file us an issue at https://github.com/pytorch/pytorch/issues/new",
        FutureWarning,
        stacklevel=3,
    )
    if grad_out != 1.0:
        raise ValueError(f"Expected grad_out to be 1.0. {name} no longer supports values of grad_out != 1.0.")


class _CallableModule(types.ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> bool:
        return gradcheck(*args, **kwargs)


sys.modules[__name__].__class__ = _CallableModule
