"""`torch.autograd.grad_mode`."""

from ..core.gradient_modes import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]

for _guard in (enable_grad, inference_mode, no_grad, set_grad_enabled):
    _guard.__module__ = "torch.autograd.grad_mode"
