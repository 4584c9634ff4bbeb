"""Settings of a process that change nothing here: how many threads compute, how exactly, on which device."""

from __future__ import annotations

from .core import dtypes
from .core.device import check_device, device

_threads = {"intra": 1, "inter": 1}
_precision = "highest"
_deterministic: tuple[bool, bool] = (False, False)


def set_num_threads(num: int) -> None:
    """Remembers a number of threads; numpy's own settings decide how many there are."""
    if num <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    _threads["intra"] = num


def get_num_threads() -> int:
    return _threads["intra"]


def set_num_interop_threads(num: int) -> None:
    if num <= 0:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    _threads["inter"] = num


def get_num_interop_threads() -> int:
    return _threads["inter"]


def set_float32_matmul_precision(precision: str) -> None:
    """Remembers how exact products of matrices must be; they are always exact."""
    global _precision
    if precision in ("highest", "high", "medium"):
        _precision = precision


def get_float32_matmul_precision() -> str:
    return _precision


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Remembers the wish; all ops here give the same each time."""
    global _deterministic
    _deterministic = (mode, mode and warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    return _deterministic[0]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    return _deterministic[1]


def set_default_device(device: object) -> None:
    """Accepts the CPU and None; NotImplementedError for another device."""
    if device is not None:
        check_device(device)


def get_default_device() -> device:
    return device("cpu")


def set_default_tensor_type(t: object) -> None:
    """The dtype of new floating-point tensors, by the old name of a class of tensors ("torch.DoubleTensor")."""
    from .core.supported_names import missing

    name = t if isinstance(t, str) else getattr(t, "__name__", str(t))
    short = name.rpartition(".")[2]
    if name.startswith("torch.cuda"):
        raise TypeError(f"type {name} not available. Torch not compiled with CUDA enabled.")
    found = next((d for d in dtypes.ALL if f"{d.scalar_name}Tensor" == short), None)
    if found is None:
        missing("torch", short)  # raises
    elif not found.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    else:
        dtypes.set_default_dtype(found)


def typename(obj: object, /) -> str:
    """The name of an object's type, of a tensor's by its dtype."""
    from .core.tensor import Tensor

    if isinstance(obj, Tensor):
        return obj.type()
    kind = obj if isinstance(obj, type) else type(obj)
    module = getattr(kind, "__module__", None)
    return kind.__qualname__ if module in (None, "builtins") else f"{module}.{kind.__qualname__}"
