"""The kinds of tensors, their states in words, and the messages.

N   normal                      Nr  normal leaf that requires grad      Nh  normal with history
I   inference                   Ir  inference tensor that requires grad
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

# torch-like modules have no common type that a checker could follow.
Torch = Any
Tensor = Any
Op = Callable[[Torch, Tensor], Any]

INFERENCE = "inference leaf untracked"
INFERENCE_LEAF = "inference requires_grad leaf untracked"
NORMAL = "normal leaf v0"
RECORDED = "normal requires_grad grad_fn v0"
MUTABLE = "inference leaf v0"

INPLACE = "Inplace update to inference tensor outside InferenceMode is not allowed."
SAVED = "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode"
VERSION = "Inference tensors do not track version counter."
REQUIRES = "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
VIEW_OF_LEAF = "a view of a leaf Variable that requires grad is being used in an in-place operation."
DETACH_VIEW = "Can't detach views in-place. Use detach() instead."
DIRECT = "A view was created in {} and is being modified inplace {}."
INDIRECT = "A view was created in {} and its base or another view of its base has been modified inplace {}."
INFERENCE_NORMAL = ("inference mode", "in normal mode")
NO_GRAD_GRAD = ("no_grad mode", "with grad mode enabled")


GUARDS: dict[str, Callable[[Torch], Any]] = {
    "no guard": lambda torch: torch.enable_grad(),
    "no_grad": lambda torch: torch.no_grad(),
    "below autograd": lambda torch: torch._C._AutoDispatchBelowAutograd(),
    "below in-place or view": lambda torch: torch._C._AutoDispatchBelowADInplaceOrView(),
}


def make(torch: Torch, kind: str) -> Tensor:
    """A 2x2 tensor of 0.5, of the given kind."""
    if kind.startswith("I"):
        with torch.inference_mode():
            return torch.full((2, 2), 0.5, requires_grad=kind == "Ir")
    leaf = torch.full((2, 2), 0.5, requires_grad=kind != "N")
    return leaf * 1 if kind == "Nh" else leaf


def state(tensor: Tensor) -> str:
    """What a user can see of a tensor, in words."""
    try:
        version = f"v{tensor._version}"
    except RuntimeError:
        version = "untracked"
    words = [
        "inference" if tensor.is_inference() else "normal",
        "requires_grad" if tensor.requires_grad else "",
        "leaf" if tensor.is_leaf else "",
        "view" if tensor._is_view() else "",
        "grad_fn" if tensor.grad_fn is not None else "",
        version,
    ]
    return " ".join(filter(None, words))


def refused(message: str) -> Any:
    """The call raises RuntimeError with a text that begins so."""
    return pytest.raises(RuntimeError, match=f"^{re.escape(message)}")
