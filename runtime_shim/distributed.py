"""`torch.distributed`: there is, and can be, no process group."""

from __future__ import annotations

from typing import NoReturn

from .core.supported_names import refuses_missing


def is_available() -> bool:
    """Whether the package is there, as in PyTorch; a group can't be made."""
    return True


def is_initialized() -> bool:
    return False


def is_nccl_available() -> bool:
    return False


is_mpi_available = is_ucc_available = is_gloo_available = is_torchelastic_launched = is_nccl_available


def _no_group(*args: object, **kwargs: object) -> NoReturn:
    raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


get_rank = get_world_size = barrier = all_reduce = broadcast = all_gather = reduce = _no_group


__getattr__ = refuses_missing("torch.distributed")
