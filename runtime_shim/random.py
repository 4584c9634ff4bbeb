"""`torch.random`: the state of the random numbers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from .aten.random_numbers import default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state

__all__ = ["default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


@contextlib.contextmanager
def fork_rng(devices: object = None, enabled: bool = True, device_type: str = "cpu") -> Iterator[None]:
    """What the block draws is forgotten when it ends."""
    state = get_rng_state() if enabled else None
    try:
        yield
    finally:
        if state is not None:
            set_rng_state(state)
