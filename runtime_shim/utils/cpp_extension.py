"""`torch.utils.cpp_extension`: building C++ extensions of a program against the shim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..extension.cmake_package import extension_include_folders
from ..extension.inline_modules import load, load_inline

if TYPE_CHECKING:
    from ..extension.extension_builder import BuildExtension, CppExtension, CUDAExtension

CUDA_HOME = None
ROCM_HOME = None
CUDNN_HOME = None
IS_HIP_EXTENSION = False


def include_paths(device_type: str = "cpu", torch_include_dirs: bool = True) -> list[str]:
    """The folders of the headers that an extension needs."""
    return extension_include_folders()


def library_paths(
    device_type: str = "cpu", torch_include_dirs: bool = True, cross_target_platform: object = None
) -> list[str]:
    """Empty: the shim is headers alone."""
    return []


def check_compiler_abi_compatibility(compiler: str) -> bool:
    """True: there is no library of ours whose ABI a compiler could miss."""
    return True


def is_ninja_available() -> bool:
    """False: objects are compiled in parallel without it."""
    return False


def __getattr__(name: str) -> Any:
    if name in ("BuildExtension", "CppExtension", "CUDAExtension"):  # these need setuptools
        from ..extension import extension_builder

        return getattr(extension_builder, name)
    from ..core.supported_names import missing

    return missing("torch.utils.cpp_extension", name)


__all__ = ["BuildExtension", "CUDAExtension", "CppExtension", "include_paths", "library_paths", "load", "load_inline"]
