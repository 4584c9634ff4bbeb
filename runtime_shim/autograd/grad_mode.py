"""`torch.autograd.grad_mode`."""

from __future__ import annotations

from ..core.gradient_modes import enable_grad, inference_mode, no_grad, set_grad_enabled


class _force_original_view_tracking:
    """Kept and changing nothing: views are replayed where their strides alone cannot tell what they are."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        pass

    def clone(self) -> _force_original_view_tracking:
        return type(self)(self.mode)


__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]

for _guard in (enable_grad, inference_mode, no_grad, set_grad_enabled, _force_original_view_tracking):
    _guard.__module__ = "torch.autograd.grad_mode"
