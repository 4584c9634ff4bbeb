"""`find_package(Torch)` of a CMake project: a package that stands for the shim's headers."""

from __future__ import annotations

import importlib.util
import os
import re
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..cpp.compiler_processes import workplace
from ..cpp.own_headers import cache_folder, digest, own_include_folders, write_forwarding_headers

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


VERSION = "2.13.0"
"""The version of PyTorch whose behaviour the shim has."""

KEEP_BUILDING = "GUARDFIX_KEEP_BUILDING"
"""The environment variable that is set where an extension that can't be built is left out, so that others are built."""
NOT_BUILT = "is left out, as it can't be built"

_PACKAGE = '''\
"""PyTorch's name for guardfix's runtime shim."""

from guardfix.runtime_shim.cpp.extension_module import bind_for_good

bind_for_good("guardfix.runtime_shim")
'''
_ALSO = """
import importlib

importlib.import_module("{module}")
"""
_SITE = '''\
"""Finds what installers put beside the distribution, which is where `pip install` of a contained build can write."""

import glob
import os
import site

_INSTALLED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "installed")
for _pattern in ("lib*/python*/*-packages", "local/lib/python*/*-packages"):
    for _folder in glob.glob(os.path.join(_INSTALLED, _pattern)):
        site.addsitedir(_folder)
'''
_AFTER_TORCH = """

import importlib.util
import sys


class _AfterTorch:
    # The installed PyTorch brings another module along, however often somebody asks before whether it is there.
    asks = False

    def find_spec(self, name, path=None, target=None):
        if name != "torch" or self.asks:
            return None
        self.asks = True
        try:
            found = importlib.util.find_spec(name)
        finally:
            self.asks = False
        run = None if found is None else found.loader.exec_module

        def exec_module(module):
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            run(module)
            importlib.import_module("{module}")

        if run is not None:
            found.loader.exec_module = exec_module
        return found


sys.meta_path.insert(0, _AfterTorch())
"""
_METADATA = """\
Metadata-Version: 2.1
Name: torch
Version: {version}
Summary: guardfix's runtime shim under PyTorch's name
"""
_DESCRIBED = ("pyproject.toml", "setup.cfg", "setup.py", "requirements*.txt")
_ASKED = re.compile(r"(?<![\w./-])torch[ \t]*((?:(?:===?|[<>!~]=|[<>])[ \t]*[\w.*+!-]+[ \t]*(?:,[ \t]*)?)+)")


def version_for(project: Path) -> str:
    """The version that installers see: ours, or the last release that satisfies what a project asks for.

    A project that wants `torch<2.8` can then be built. `torch.__version__` is ours in any case.
    """
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    asked = SpecifierSet()
    exact: list[str] = []
    for text in _described(project):
        for found in _ASKED.findall(text):
            try:
                asked &= SpecifierSet(found.strip().rstrip(","))
            except InvalidSpecifier:
                continue
            exact += re.findall(r"==[ \t]*([\w.+!-]+)(?![\w.+!*-])", found)
    minor = int(VERSION.split(".")[1])
    releases = [
        VERSION,
        *(f"2.{number}.0" for number in range(minor, -1, -1)),
        *(f"1.{n}.0" for n in range(13, -1, -1)),
    ]
    return next((version for version in [*releases, *exact] if asked.contains(version)), VERSION)


def _described(project: Path) -> Iterator[str]:
    for pattern in _DESCRIBED:
        for path in sorted(project.glob(pattern)):
            yield path.read_text(encoding="utf-8", errors="replace")


def write_torch_distribution(folder: Path, version: str = VERSION, *, also: str | None = None) -> Path:
    """Put the distribution into `folder`, which then goes on the PYTHONPATH; returns `folder`.

    `import torch` gives the shim there, and installers find PyTorch installed, in this version, and fetch no other.
    What pip installs with `installation_variables` is found there as well, editable installations included. `also` is
    a module that the import of `torch` brings along.
    """
    package, metadata = folder / "torch", folder / f"torch-{version}.dist-info"
    package.mkdir(parents=True, exist_ok=True)
    metadata.mkdir(exist_ok=True)
    (package / "__init__.py").write_text(
        _PACKAGE + ("" if also is None else _ALSO.format(module=also)), encoding="utf-8"
    )
    (metadata / "METADATA").write_text(_METADATA.format(version=version), encoding="utf-8")
    (metadata / "INSTALLER").write_text("guardfix\n", encoding="utf-8")
    (metadata / "RECORD").write_text("", encoding="utf-8")
    (folder / "sitecustomize.py").write_text(_SITE, encoding="utf-8")
    return folder


def write_beside_torch(folder: Path, *, also: str) -> Path:
    """The same folder for a project that is built with the installed PyTorch: what pip installs is found there, and the
    import of `torch` brings the module `also` along."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sitecustomize.py").write_text(_SITE + _AFTER_TORCH.format(module=also), encoding="utf-8")
    return folder


def installation_variables(folder: Path) -> dict[str, str]:
    """Environment variables that have pip install beside the distribution in `folder`, and not into the interpreter.

    Builds aren't isolated: an environment of their own would have no `torch`. (pip takes this option's variable for
    its opposite: 0 means without isolation.)
    """
    return {"PIP_PREFIX": str(folder / "installed"), "PIP_NO_BUILD_ISOLATION": "0"}


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
