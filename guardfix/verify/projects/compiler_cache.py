"""ccache, where it is installed, for the builds of projects."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

_COMPILERS = ("cc", "gcc", "clang", "c++", "g++", "clang++")


def with_ccache(folder: Path, variables: Mapping[str, str], *, by_name: bool) -> dict[str, str]:
    """Environment variables by which a build uses ccache, if it is installed; what it has is in our cache.

    CMake starts it in front of compilers. With `by_name`, compilers are it by their names, for builders of PyTorch's
    extensions; the shim's builder has a cache of its own.
    """
    path = variables.get("PATH", "")
    ccache = shutil.which("ccache", path=path)
    if ccache is None:
        return {}
    found = {"CCACHE_DIR": str(Path(variables["GUARDFIX_CACHE_DIR"], "ccache"))}
    if not by_name:
        return found | {f"CMAKE_{language}_COMPILER_LAUNCHER": ccache for language in ("C", "CXX")}
    folder.mkdir()
    for name in _COMPILERS:
        if shutil.which(name, path=path) is not None:
            (folder / name).symlink_to(ccache)
    return found | {"PATH": f"{folder}{os.pathsep}{path}"}
