"""`torch.cuda`: there is no GPU."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any, NoReturn

__path__: list[str] = []  # so that `import torch.cuda.amp` looks for it here


_initialized = False  # some programs look at it before they ask for the state of random numbers


def is_available() -> bool:
    return False


def device_count() -> int:
    return 0


def is_initialized() -> bool:
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    return False


def manual_seed(seed: int) -> None:
    """Without a GPU there is nothing to seed, in PyTorch either."""


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Nothing is cached."""


def memory_allocated(device: object = None) -> int:
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_cached = max_memory_cached = memory_allocated


def get_arch_list() -> list[str]:
    return []


get_rng_state_all = get_arch_list


def seed() -> None:
    """Without a GPU there is nothing to seed."""


seed_all = seed


def _without_cuda(*args: object, **kwargs: object) -> NoReturn:
    raise AssertionError("Torch not compiled with CUDA enabled")


synchronize = current_device = get_device_name = get_device_capability = get_device_properties = _without_cuda
current_stream = default_stream = ipc_collect = init = mem_get_info = get_rng_state = _without_cuda


class Event:
    """An event on a GPU: RuntimeError, as there is none."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        raise RuntimeError("Tried to instantiate dummy base class Event")


class Stream:
    """A stream of a GPU: RuntimeError, as there is none."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        raise RuntimeError("torch.cuda.Stream requires CUDA support")


class OutOfMemoryError(RuntimeError):
    """What PyTorch raises when a GPU has no memory left; programs catch it."""


def _legacy(name: str) -> type[object]:
    """A class of tensors on a GPU, which can be named but not made."""

    def refuse(cls: type[object], *args: object, **kwargs: object) -> NoReturn:
        raise TypeError(f"type torch.cuda.{name} not available. Torch not compiled with CUDA enabled.")

    return type(name, (), {"__new__": refuse, "__module__": "torch.cuda"})


def _amp() -> ModuleType:
    """`torch.cuda.amp`, whose classes are those of `torch.amp` for this device."""
    from . import amp

    made = ModuleType("torch.cuda.amp")

    class autocast(amp.autocast):
        def __init__(self, enabled: bool = True, dtype: object = None, cache_enabled: bool = True) -> None:
            super().__init__("cuda", dtype, enabled, cache_enabled)

    class GradScaler(amp.GradScaler):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__("cuda", *args, **kwargs)

    made.__dict__.update(
        autocast=autocast,
        GradScaler=GradScaler,
        custom_fwd=functools.partial(amp.custom_fwd, device_type="cuda"),
        custom_bwd=functools.partial(amp.custom_bwd, device_type="cuda"),
    )
    return made


_LEGACY = frozenset(f"{kind}Tensor" for kind in "BFloat16 Bool Byte Char Double Float Half Int Long Short".split())


def __getattr__(name: str) -> Any:
    if name in _LEGACY:
        made = globals()[name] = _legacy(name)
        return made
    if name == "amp":
        found = globals()[name] = _amp()
        return found
    from .core.supported_names import missing

    return missing("torch.cuda", name)
