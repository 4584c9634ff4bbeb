"""`torch.serialization`: save and load."""

from __future__ import annotations

import pickle
from typing import Any


def save(obj: Any, f: Any, pickle_module: Any = pickle, pickle_protocol: int = 2, **kwargs: Any) -> None:
    """Write `obj` to a path or binary file; the format is the shim's own (a pickle), not PyTorch's."""
    if hasattr(f, "write"):
        pickle.dump(obj, f, protocol=4)
    else:
        with open(f, "wb") as file:
            pickle.dump(obj, file, protocol=4)


#: What a file may name where only weights are to be read: the shim's own, and plain containers and numbers.
ALLOWED = {
    "guardfix.runtime_shim.aten.pickling": {"rebuild"},
    "guardfix.runtime_shim.nn.parameter": {"rebuild_buffer", "rebuild_parameter"},
    "guardfix.runtime_shim.core.dtypes": {"Size", "by_name"},
    "guardfix.runtime_shim.core.device": {"device"},
    "guardfix.runtime_shim.nn.state_dict": {"StateDict"},
    "collections": {"OrderedDict", "Counter", "defaultdict"},
    "builtins": {"set", "frozenset", "complex", "slice", "range", "bytearray"},
    "numpy": {"ndarray", "dtype"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy.core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
    "numpy.core.numeric": {"_frombuffer"},
    "_codecs": {"encode"},
}


class _WeightsOnly(pickle.Unpickler):
    """Refuses every global that is not on the list: unpickling others can run any code."""

    def find_class(self, module: str, name: str) -> Any:
        if name in ALLOWED.get(module, ()):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(
            "Weights only load failed. The file is not trusted: it refers to the global "
            f"{module}.{name}, which is not among those that torch.load reads by default. If you trust where "
            "the file comes from, call torch.load(..., weights_only=False), which can run any code in it."
        )


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Read what `save` wrote: tensors, containers and numbers alone, unless `weights_only` is false.

    pickle.UnpicklingError if the file names anything else. With `weights_only=False` the file can run code.
    """
    if not hasattr(f, "read"):
        with open(f, "rb") as file:
            return load(file, weights_only=weights_only)
    return pickle.load(f) if weights_only is False else _WeightsOnly(f).load()
