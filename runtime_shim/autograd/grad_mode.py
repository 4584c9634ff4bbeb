"""`torch.autograd.grad_mode`."""

from __future__ import annotations

from ..core.gradient_modes import enable_grad, inference_mode, no_grad, set_grad_enabled


class _force_original_view_tracking:
    """Only keeps its mode: views are replayed where their strides alone cannot tell what they are."""

    enabled = False

    def __init__(self, mode: bool) -> None:
        kind = _force_original_view_tracking
        self.mode, self.before = mode, kind.enabled
        kind.enabled = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        _force_original_view_tracking.enabled = self.before

    def clone(self) -> _force_original_view_tracking:
        return type(self)(self.mode)


def is_view_replay_enabled() -> bool:
    """What `_force_original_view_tracking` asks for."""
    return _force_original_view_tracking.enabled


__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]

for _guard in (enable_grad, inference_mode, no_grad, set_grad_enabled, _force_original_view_tracking):
    _guard.__module__ = "torch.autograd.grad_mode"
