"""What `Module.to` is asked for, in the forms that PyTorch's parser accepts."""

from __future__ import annotations

from typing import Any

from ..core import dtypes
from ..core.device import check_device
from ..core.tensor import Tensor

COMPLEX_MODULE = (
    "Complex modules are a new feature under active development whose design may change, and some modules might not "
    "work as expected when using complex tensors as parameters or buffers. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a complex module does not work as "
    "expected."
)


def parsed_target(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The dtype and the memory format. TypeError for arguments in another order than `(device, dtype, non_blocking,
    copy)`, `(dtype, non_blocking, copy)` or `(tensor, non_blocking, copy)`; RuntimeError for `copy`.
    """
    given = dict(kwargs)
    names = ["device", "dtype", "non_blocking", "copy"]
    if args and isinstance(args[0], dtypes.dtype):
        names = names[1:]
    elif args and isinstance(args[0], Tensor):
        given["dtype"] = args[0].dtype
        names = ["tensor", *names[2:]]
    for name, value in zip(names, args, strict=False):
        given[name] = value
    dtype, copy = given.get("dtype"), given.get("copy", False)
    flags = isinstance(given.get("non_blocking", False), bool) and isinstance(copy, bool)
    if len(args) > len(names) or not flags or not (dtype is None or isinstance(dtype, dtypes.dtype)):
        kinds = ", ".join([type(a).__name__ for a in args] + [f"{k}={type(v).__name__}" for k, v in kwargs.items()])
        raise TypeError(
            f"to() received an invalid combination of arguments - got ({kinds}), but expected one of:\n"
            " * (torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, bool copy = False, "
            "*, torch.memory_format memory_format = None)\n"
            " * (torch.dtype dtype, bool non_blocking = False, bool copy = False, *, torch.memory_format "
            "memory_format = None)\n"
            " * (Tensor tensor, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = "
            "None)\n"
        )
    if copy:
        raise RuntimeError(".to() does not accept copy argument")
    check_device(given.get("device"))
    return dtype, given.get("memory_format")
