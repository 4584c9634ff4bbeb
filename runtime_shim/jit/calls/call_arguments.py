"""TorchScript's way of writing arguments, turned into the backend's Python way.

In serialized code a dtype, a layout and a memory format are integers, `None` stands for a keyword that was
not given, and reductions of losses are integers.
"""

from __future__ import annotations

from typing import Any

from ..archived_tensors import DTYPE_CODES

_REDUCTIONS = ("none", "mean", "sum")
_MEMORY_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
_STRIDED = 0


class Arguments:
    """Conversions that need the backend."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self._dtypes = {code: getattr(backend, name, None) for code, name in DTYPE_CODES.items()}
        self._codes = {dtype: code for code, dtype in self._dtypes.items() if dtype is not None}

    def dtype(self, code: Any) -> Any:
        """The backend's dtype for TorchScript's integer. NotImplementedError when the backend has none."""
        found = self._dtypes.get(code)
        if found is None:
            raise NotImplementedError(f"dtype {DTYPE_CODES.get(code, code)} is not supported here")
        return found

    def code(self, dtype: Any) -> int:
        return self._codes[dtype]

    def device(self, text: str, index: int | None = None) -> Any:
        """A device of the backend; the text itself where it has no devices."""
        make = getattr(self.backend, "device", None)
        name = text if index is None else f"{text}:{index}"
        return name if make is None else make(name)

    def keywords(self, given: dict[str, Any]) -> dict[str, Any]:
        """Keyword-only arguments as the backend wants them; what is at its default is left out."""
        out: dict[str, Any] = {}
        for name, value in given.items():
            if value is None or (name in ("pin_memory", "non_blocking", "copy") and value is False):
                continue
            if name == "dtype":
                out[name] = self.dtype(value)
            elif name == "layout":
                if value != _STRIDED:
                    raise NotImplementedError("only strided tensors are supported")
            elif name == "memory_format":
                if value > 1:
                    out[name] = self.memory_format(value)
            elif name == "device":
                if not is_cpu(value):
                    out[name] = value
            else:
                out[name] = value
        return out

    def memory_format(self, code: int) -> Any:
        found = getattr(self.backend, _MEMORY_FORMATS[code], None)
        if found is None:
            raise NotImplementedError(f"torch.{_MEMORY_FORMATS[code]} is not supported here")
        return found

    def factory(self, values: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
        """Keywords of a function that makes a tensor."""
        if values:
            raise TypeError(f"{len(values)} positional arguments too many")
        return self.keywords(given)


def reduction(code: int) -> str:
    """The name of a loss's reduction (`at::Reduction`)."""
    return _REDUCTIONS[code]


def is_cpu(device: Any) -> bool:
    return str(device) in ("cpu", "cpu:0")
