"""`find_package(Torch)` of a CMake project: a package that stands for the shim's headers."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

from ..cpp.compile_cache import cache_folder, digest
from ..cpp.compiler_processes import workplace
from .extension_flags import extension_include_folders
from .torch_distribution import VERSION

_CONFIG = """\
# guardfix's runtime shim under PyTorch's name: headers alone, so that there is nothing to link.
set(TORCH_FOUND TRUE)
set(Torch_FOUND TRUE)
set(TORCH_INSTALL_PREFIX "${{CMAKE_CURRENT_LIST_DIR}}")
set(TORCH_INCLUDE_DIRS {folders})
set(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI=1")
set(TORCH_CUDA_LIBRARIES "")
set(TORCH_LIBRARIES torch)
foreach(_target torch torch_library torch_cpu torch_python c10)
  if(NOT TARGET ${{_target}})
    add_library(${{_target}} INTERFACE IMPORTED)
    set_target_properties(${{_target}} PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${{TORCH_INCLUDE_DIRS}}"
      INTERFACE_COMPILE_DEFINITIONS TORCH_API_INCLUDE_EXTENSION_H
      # The headers need all of Python's interface; a module that keeps to the stable part of it does with all of it.
      INTERFACE_COMPILE_OPTIONS -UPy_LIMITED_API
      INTERFACE_COMPILE_FEATURES cxx_std_17)
  endif()
endforeach()
# Projects look for these libraries by name: what is set is not looked for.
set(TORCH_LIBRARY torch)
set(C10_LIBRARY c10)
set(TORCH_PYTHON_LIBRARY torch_python)
"""
_VERSION = """\
set(PACKAGE_VERSION "{version}")
if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
"""


def cmake_prefix_path() -> str:
    """The folder for `CMAKE_PREFIX_PATH`: `torch.utils.cmake_prefix_path`. It is made where it isn't there.

    What it holds depends on the interpreter, whose headers ours include. Raises OSError if the cache can't be written.
    """
    folders = [*extension_include_folders(), sysconfig.get_path("include")]
    files = {
        "TorchConfig.cmake": _CONFIG.format(folders=" ".join(f'"{Path(folder).as_posix()}"' for folder in folders)),
        "TorchConfigVersion.cmake": _VERSION.format(version=VERSION),
    }
    prefix = cache_folder() / "cmake" / digest(*files.values())
    if not (prefix / "Torch").is_dir():
        with workplace(cache_folder() / "unfinished") as temporary:
            package = temporary / "Torch"
            package.mkdir()
            for name, text in files.items():
                (package / name).write_text(text, encoding="utf-8")
            prefix.mkdir(parents=True, exist_ok=True)
            try:
                os.rename(package, prefix / "Torch")
            except OSError:
                if not (prefix / "Torch").is_dir():  # another process was faster
                    raise
    return str(prefix)
