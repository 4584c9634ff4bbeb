"""What a project's setup.py takes from `torch.utils.cpp_extension`: extensions for setuptools, and their builder."""

from __future__ import annotations

import copy
import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import setuptools
from setuptools.command.build_ext import build_ext

from ..cpp.toolchain import Toolchain, find_toolchain
from .compiled_objects import compiled_object, copied, in_parallel
from .extension_flags import (
    STANDARD,
    extension_defines,
    extension_include_folders,
    names_a_standard,
    split_sources,
    with_openmp,
    without_libraries_of_pytorch,
    without_libraries_of_pytorch_in,
    without_limited_api,
)


def CppExtension(name: str, sources: Sequence[str], *args: Any, **kwargs: Any) -> setuptools.Extension:
    """A setuptools.Extension in C++ with the headers that it needs."""
    kwargs["include_dirs"] = [*kwargs.get("include_dirs", ()), *extension_include_folders()]
    kwargs["libraries"] = without_libraries_of_pytorch(kwargs.get("libraries") or ())
    kwargs["language"] = "c++"
    return setuptools.Extension(name, list(map(os.fspath, sources)), *args, **kwargs)


def CUDAExtension(name: str, sources: Sequence[str], *args: Any, **kwargs: Any) -> setuptools.Extension:
    """The C++ part of an extension with a part for GPUs, which is left out: the builder says so."""
    kwargs.pop("dlink", None)
    kwargs.pop("dlink_libraries", None)
    return CppExtension(name, sources, *args, **kwargs)


class BuildExtension(build_ext):
    """setuptools' build_ext for extensions of PyTorch: flags for C++ among flags for others, and no GPU."""

    @classmethod
    def with_options(cls, **options: Any) -> type[BuildExtension]:
        """A subclass with these options set: `no_python_abi_suffix`, `use_ninja`."""

        class WithOptions(cls):  # type: ignore[valid-type, misc]
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                super().__init__(*args, **{**options, **kwargs})

        return WithOptions

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.no_python_abi_suffix = bool(kwargs.pop("no_python_abi_suffix", False))
        self.use_ninja = bool(kwargs.pop("use_ninja", True))
        super().__init__(*args, **kwargs)

    def get_ext_filename(self, fullname: str) -> str:
        """With `no_python_abi_suffix`, `name.so` instead of `name.cpython-312-….so`."""
        filename: str = super().get_ext_filename(fullname)  # type: ignore[no-untyped-call]
        if not self.no_python_abi_suffix:
            return filename
        return re.sub(r"\.(?:cpython|abi3|pypy)[^./]*(?=\.[^./]+$)", "", filename)

    def build_extensions(self) -> None:
        toolchain = find_toolchain()
        _compile_through_the_cache(self.compiler, toolchain)
        for extension in self.extensions:
            _adapt(extension)
        super().build_extensions()


def _adapt(extension: Any) -> None:
    """Make of what the project says what the C++ compiler is told."""
    extension.sources, left_out = split_sources(list(map(os.fspath, extension.sources)))
    for source in left_out:
        print(f"{extension.name}: {source} is left out: the shim has no GPU", file=sys.stderr)
    flags = extension.extra_compile_args
    flags = without_limited_api(flags.get("cxx", ()) if isinstance(flags, dict) else flags or ())
    extension.define_macros = [macro for macro in extension.define_macros if macro[0] != "Py_LIMITED_API"]
    if not names_a_standard(flags):
        flags.append(STANDARD)
    extension.extra_compile_args = [*flags, *extension_defines(extension.name.rpartition(".")[2])]
    extension.extra_link_args = with_openmp(without_libraries_of_pytorch_in(extension.extra_link_args or ()), flags)
    extension.libraries = without_libraries_of_pytorch(extension.libraries or ())
    ours = extension_include_folders()
    # Ours come first: an include folder may be a checkout of PyTorch, whose headers those are.
    extension.include_dirs = [*ours, *(folder for folder in extension.include_dirs if folder not in ours)]
    extension.language = "c++"


def _compile_through_the_cache(compiler: Any, toolchain: Toolchain) -> None:
    """Have setuptools' compiler take C++ objects from the cache, and compile the others several at a time."""
    plain = copy.copy(compiler)

    def compile_all(
        sources: Sequence[str], output_dir: str | None = None, macros: Any = None, include_dirs: Any = None,
        debug: bool = False, extra_preargs: Any = None, extra_postargs: Any = None, depends: Any = None,
    ) -> list[str]:  # fmt: skip
        if not all(Path(source).suffix in (".cpp", ".cc", ".cxx", ".c++", ".C") for source in sources):
            made: list[str] = plain.compile(
                sources, output_dir, macros, include_dirs, debug, extra_preargs, extra_postargs, depends
            )
            return made
        _, objects, extra, options, build = compiler._setup_compile(
            output_dir, macros, include_dirs, list(sources), depends, extra_postargs
        )
        program = [str(toolchain.compiler), *_position_independent(compiler)]
        command = [*program, *options, *(extra_preargs or ()), *extra]

        def one(target: str) -> Path:
            return copied(compiled_object(Path(build[target][0]), command, toolchain), Path(target))

        in_parallel(one, [target for target in objects if target in build])
        return list(objects)

    compiler.compile = compile_all


def _position_independent(compiler: Any) -> list[str]:
    """The interpreter's own flags for an extension, without the name of its compiler and its debugging symbols."""
    given = list(compiler.compiler_so)
    if len(given) == 1:
        given = shlex.split(given[0])
    return [flag for flag in given[1:] if flag.startswith("-") and not re.fullmatch(r"-g\d?|-Wstrict-prototypes", flag)]
