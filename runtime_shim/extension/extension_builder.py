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

from ..cpp.header_precompilation import Toolchain, find_toolchain
from .cmake_package import (
    KEEP_BUILDING,
    NOT_BUILT,
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
from .inline_modules import compiled_object, copied, in_parallel

_STAND_IN = "# In the place of an extension that can't be built.\n"


def CppExtension(name: str, sources: Sequence[str], *args: Any, **kwargs: Any) -> setuptools.Extension:
    """A setuptools.Extension in C++ with the headers that it needs."""
    kwargs["include_dirs"] = [*kwargs.get("include_dirs", ()), *extension_include_folders()]
    kwargs["libraries"] = without_libraries_of_pytorch(kwargs.get("libraries") or ())
    kwargs["language"] = "c++"
    return setuptools.Extension(name, list(map(os.fspath, sources)), *args, **kwargs)


def CUDAExtension(name: str, sources: Sequence[str], *args: object, **kwargs: object) -> setuptools.Extension:
    """The C++ part of an extension with a part for GPUs, which is left out: the builder says so."""
    kwargs.pop("dlink", None)
    kwargs.pop("dlink_libraries", None)
    return CppExtension(name, sources, *args, **kwargs)


class BuildExtension(build_ext):
    """setuptools' build_ext for extensions of PyTorch: flags for C++ among flags for others, and no GPU."""

    @classmethod
    def with_options(cls, **options: object) -> type[BuildExtension]:
        """A subclass with these options set: `no_python_abi_suffix`, `use_ninja`."""

        class WithOptions(cls):  # type: ignore[valid-type, misc]
            def __init__(self, *args: object, **kwargs: object) -> None:
                super().__init__(*args, **{**options, **kwargs})

        return WithOptions

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.no_python_abi_suffix = bool(kwargs.pop("no_python_abi_suffix", False))
        self.use_ninja = bool(kwargs.pop("use_ninja", True))
        self._stand_ins: dict[str, str] = {}
        """By the name of an extension that can't be built, the module that says so when it is imported."""
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
        self.extensions = [extension for extension in self.extensions if _has_sources(extension)]
        super().build_extensions()

    def build_extension(self, ext: Any) -> None:
        """With `$GUARDFIX_KEEP_BUILDING`, one that can't be built stops what imports it, and nothing else."""
        try:
            super().build_extension(ext)
        except Exception as error:
            if not os.environ.get(KEEP_BUILDING):
                raise
            print(f"{ext.name} {NOT_BUILT}: {error}", file=sys.stderr)
            ext.optional = True
            message = f"{ext.name} can't be built: {str(error)[:2000]}"
            self._stand_ins[ext.name] = f"{_STAND_IN}raise ImportError({message!r})\n"
            self._stand_in(ext.name, Path(self.get_ext_fullpath(ext.name)).parent)

    def copy_extensions_to_source(self) -> None:
        super().copy_extensions_to_source()
        build_py: Any = self.get_finalized_command("build_py")
        for name in self._stand_ins:
            self._stand_in(name, Path(build_py.get_package_dir(name.rpartition(".")[0])))

    def _stand_in(self, name: str, folder: Path) -> None:
        """Put the module in the place of the extension, and of one that was built earlier."""
        folder.mkdir(parents=True, exist_ok=True)
        last = name.rpartition(".")[2]
        for built in [*folder.glob(f"{last}.*.so"), folder / f"{last}.so"]:
            built.unlink(missing_ok=True)
        module = folder / f"{last}.py"
        if not module.exists() or module.read_text(encoding="utf-8").startswith(_STAND_IN):
            module.write_text(self._stand_ins[name], encoding="utf-8")


def _adapt(extension: Any) -> None:
    """Turn the project's settings into the C++ compiler's options."""
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


def _has_sources(extension: Any) -> bool:
    if not extension.sources:
        print(f"{extension.name} is left out: all its sources are for a GPU, and the shim has none", file=sys.stderr)
    return bool(extension.sources)


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
