"""`torch.amp`: mixed precision, which nothing here computes in. What PyTorch turns off without a GPU is accepted."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from .core.error_texts import UnsupportedError
from .core.supported_names import refuses_missing


class autocast:
    """A context or decorator in which ops run as ever: off, or for a device that isn't there.

    NotImplementedError where PyTorch would compute in another dtype: on the CPU.
    """

    def __init__(
        self, device_type: str, dtype: object = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device, self.fast_dtype = device_type, dtype
        if enabled and device_type == "cpu":
            raise UnsupportedError("the shim has no torch.autocast on the CPU; supported: enabled=False")
        if enabled and device_type == "cuda":
            warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=2)
        elif enabled:
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self._enabled = False

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __call__(self, func: Any) -> Any:
        @functools.wraps(func)
        def called(*args: Any, **kwargs: Any) -> Any:
            return func(*args, **kwargs)

        return called


class GradScaler:
    """Scales nothing: without a GPU PyTorch turns it off, with a warning.

    NotImplementedError for `device="cpu"`, where it would scale.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if enabled and device == "cpu":
            raise UnsupportedError("the shim has no GradScaler on the CPU; supported: enabled=False")
        if enabled:
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2)

    def is_enabled(self) -> bool:
        return False

    def get_scale(self) -> float:
        return 1.0

    def scale(self, outputs: object) -> object:
        return outputs

    def unscale_(self, optimizer: object) -> None:
        """Nothing was scaled."""

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: object = None) -> None:
        """Nothing is scaled."""

    def state_dict(self) -> dict[str, object]:
        return {}

    def load_state_dict(self, state_dict: dict[str, object]) -> None:
        """Does nothing: without a GPU no state is kept."""


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: Any = None) -> Any:
    """Marks the forward of an autograd function for autocast, which is off here."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def called(*args: Any, **kwargs: Any) -> Any:
        args[0]._fwd_used_autocast = False
        return fwd(*args, **kwargs)

    return called


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """Marks the backward of an autograd function for autocast."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def called(*args: Any, **kwargs: Any) -> Any:
        return bwd(*args, **kwargs)

    return called


def is_autocast_available(device_type: str) -> bool:
    return device_type == "cpu"


def is_autocast_enabled(device_type: str | None = None) -> bool:
    return False


__getattr__ = refuses_missing("torch.amp")
