"""`torch.hub`: the shim uses no network."""

from __future__ import annotations

import os
from typing import Any

from .core.error_texts import UnsupportedError
from .core.supported_names import refuses_missing

_folder: str | None = None


def get_dir() -> str:
    """The folder of downloads: as set, or `hub` in $TORCH_HOME."""
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.join("~", ".cache")), "torch")
    return _folder or os.path.join(os.path.expanduser(os.environ.get("TORCH_HOME", cache)), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    global _folder
    _folder = os.path.expanduser(d)


def load_state_dict_from_url(url: str, model_dir: str | None = None, *args: Any, **kwargs: Any) -> Any:
    """The state dict of a file that was downloaded before. NotImplementedError if it isn't there."""
    from .serialization import load

    name = kwargs.get("file_name") or url.partition("?")[0].rpartition("/")[2]
    path = os.path.join(model_dir or os.path.join(get_dir(), "checkpoints"), name)
    if not os.path.isfile(path):
        raise UnsupportedError(f"the shim downloads nothing: put {name} into {os.path.dirname(path)}")
    return load(path, map_location=kwargs.get("map_location"), weights_only=True)


__getattr__ = refuses_missing("torch.hub")
