"""What the compiler and the linker are told for an extension: the part that does not come from its project."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

from ..cpp.own_headers import own_include_folders, write_forwarding_headers

STANDARD = "-std=c++20"
"""What PyTorch 2.13 builds extensions with that name none."""
OPENMP = "-fopenmp"
CUDA_SUFFIXES = (".cu", ".cuh", ".hip")
"""Of sources that are left out: the shim has no GPU."""

_OF_PYTORCH = frozenset("c10 c10_cuda c10_hip cudart shm torch torch_cpu torch_cuda torch_hip torch_python _C".split())
"""Libraries of PyTorch, which are headers here."""


def extension_include_folders() -> list[str]:
    """Ours, and pybind11's where it is installed. For a source that needs it, the error says what to install.

    Raises OSError if the cache, where some of our headers are, can't be written.
    """
    write_forwarding_headers()
    folders = [str(folder) for folder in own_include_folders()]
    if importlib.util.find_spec("pybind11") is not None:
        import pybind11

        folders.append(pybind11.get_include())
    return folders


def extension_defines(name: str) -> list[str]:
    """The macros that PyTorch's own builder sets. `name` is the module's, without its package."""
    return ["-DTORCH_API_INCLUDE_EXTENSION_H", f"-DTORCH_EXTENSION_NAME={name}"]


def names_a_standard(flags: Sequence[str]) -> bool:
    """Whether the flags choose the C++ standard."""
    return any(flag.startswith(("-std=", "/std:")) for flag in flags)


def without_limited_api(flags: Sequence[str]) -> list[str]:
    """Compiler flags without `-DPy_LIMITED_API=…`: our headers need all of Python's interface, and a module that keeps
    to the stable part of it does with all of it."""
    return [flag for flag in flags if flag.partition("=")[0] != "-DPy_LIMITED_API"]


def without_libraries_of_pytorch(libraries: Sequence[str]) -> list[str]:
    return [name for name in libraries if name not in _OF_PYTORCH]


def without_libraries_of_pytorch_in(flags: Sequence[str]) -> list[str]:
    """Linker flags without `-ltorch` and the like."""
    return [flag for flag in flags if not (flag.startswith("-l") and flag[2:] in _OF_PYTORCH)]


def with_openmp(linking: Sequence[str], compiling: Sequence[str]) -> list[str]:
    """Linker flags with OpenMP's runtime where the compiler's ask for OpenMP: PyTorch's library brings it along."""
    return [*linking, OPENMP] if OPENMP in compiling and OPENMP not in linking else list(linking)


def split_sources(sources: Sequence[str]) -> tuple[list[str], list[str]]:
    """The sources for the C++ compiler, and those that are left out."""
    left_out = [source for source in sources if Path(source).suffix in CUDA_SUFFIXES]
    return [source for source in sources if source not in left_out], left_out
