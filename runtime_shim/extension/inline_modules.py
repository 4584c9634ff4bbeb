"""`torch.utils.cpp_extension.load` and `load_inline`: C++ that is compiled and imported while the program runs."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import platform
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from ..cpp.compiler_diagnostics import CompileError, ProgramError
from ..cpp.compiler_processes import compiler_pool, workplace
from ..cpp.cpp_compilation import included_umbrella, precompiled, read_dependencies, run_compiler
from ..cpp.header_precompilation import Toolchain, find_toolchain
from ..cpp.own_headers import cache_folder, digest, entry_is_current, headers_digest, is_own_header
from ..library.script_classes import load_library, raise_failures
from .cmake_package import (
    STANDARD,
    extension_defines,
    extension_include_folders,
    names_a_standard,
    split_sources,
    with_openmp,
    without_libraries_of_pytorch_in,
)

_OBJECT = "unit.o"
Source = TypeVar("Source")


def compiled_object(source: Path, command: Sequence[str], toolchain: Toolchain, *, defines: Sequence[str] = ()) -> Path:
    """The object file of `source`, which `command` compiles (compiler and options, without input and output).

    `defines` differ from module to module; the large headers are precompiled without them. The file is in the cache:
    it is compiled again only when it, a file that it includes, our headers, the compiler or the command changed.
    Raises CompileError, or OSError when `source` can't be read or the cache can't be written.
    """
    text = source.read_bytes()
    environment = f"{toolchain.identity} {platform.python_version()} {headers_digest()}"
    key = digest(str(source.resolve()), os.getcwd(), text, *command, "--", *defines, environment)
    entry = cache_folder().with_name("extensions") / key[:2] / key
    if entry_is_current(entry, _OBJECT):
        return entry / _OBJECT
    with workplace(cache_folder() / "unfinished") as temporary:
        header = included_umbrella(text.decode(errors="replace"))
        use: list[str] = []
        if header is not None:
            folder = cache_folder() / "headers" / digest(header, *command, environment)
            use = precompiled(folder, f"#include <{header}>\n", list(command), toolchain, programs=1)
        built, dependencies = temporary / _OBJECT, temporary / "dependencies"
        run_compiler(
            [*command, *use, *defines, "-MMD", "-MF", str(dependencies), "-c", str(source), "-o", str(built)],
            source,
            temporary,
            lambda: None,
        )
        included = [path for path in read_dependencies(dependencies.read_text()) if not is_own_header(path)]
        manifest = {str(path.absolute()): digest(path.read_bytes()) for path in included}
        (temporary / "manifest.json").write_text(json.dumps(manifest))
        entry.mkdir(parents=True, exist_ok=True)
        os.replace(built, entry / _OBJECT)
        os.replace(temporary / "manifest.json", entry / "manifest.json")
    return entry / _OBJECT


def in_parallel(compile_one: Callable[[Source], Path], sources: Sequence[Source]) -> list[Path]:
    """The object of each source, in order. The first error is raised when all are done."""
    jobs = int(os.environ.get("MAX_JOBS") or os.cpu_count() or 1)
    with compiler_pool(max(1, min(jobs, len(sources)))) as pool:
        return list(pool.map(compile_one, sources))


def copied(built: Path, target: Path) -> Path:
    """`target`, which holds what `built` holds."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(built, target)
    return target


def load(
    name: str,
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_sycl_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: str | Sequence[str] | None = None,
    build_directory: str | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    with_sycl: bool | None = None,
    is_python_module: bool = True,
    is_standalone: bool = False,
    keep_intermediates: bool = True,
) -> Any:
    """Compile C++ files to the module `name` and import it.

    With `is_python_module=False` the library is loaded for the ops that it registers, and its path is returned; a
    standalone program is built, and its path is returned. CUDA sources are left out, and said so on standard error.
    RuntimeError if compiling or registering fails, ImportError or OSError if loading does, NotImplementedError if all
    sources are for a GPU.
    """
    given = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    kept, left_out = split_sources([os.fspath(source) for source in given])
    for source in left_out:
        print(f"{name}: {source} is left out: the shim has no GPU", file=sys.stderr)
    if left_out and not kept:
        raise NotImplementedError(f"{name}: the shim has no GPU; all sources are for one")
    includes = [extra_include_paths] if isinstance(extra_include_paths, str) else list(extra_include_paths or ())
    try:
        built = _built(name, kept, list(extra_cflags or ()), list(extra_ldflags or ()), includes, is_standalone)
    except ProgramError as error:
        raise RuntimeError(f"Error building extension '{name}': {error}") from error
    if build_directory is not None:
        built = Path(shutil.copy2(built, build_directory))
    if verbose:
        print(f"Loading extension module {name}...")
    if is_standalone:
        return str(built)
    if not is_python_module:
        load_library(built)
        return str(built)
    return import_extension(name, built)


def load_inline(
    name: str,
    cpp_sources: str | Sequence[str],
    cuda_sources: str | Sequence[str] | None = None,
    sycl_sources: str | Sequence[str] | None = None,
    functions: str | Sequence[str] | Mapping[str, str] | None = None,
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_sycl_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: str | Sequence[str] | None = None,
    build_directory: str | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    with_sycl: bool | None = None,
    is_python_module: bool = True,
    with_pytorch_error_handling: bool = True,
    keep_intermediates: bool = True,
    use_pch: bool = False,
    no_implicit_headers: bool = False,
) -> object:
    """Compile C++ text to the module `name`, which has the `functions` that are listed, and import it.

    As for `load`. NotImplementedError for CUDA sources.
    """
    if cuda_sources or sycl_sources:
        raise NotImplementedError(f"{name}: the shim has no GPU; give load_inline C++ sources only")
    texts = [cpp_sources] if isinstance(cpp_sources, str) else list(cpp_sources)
    if not no_implicit_headers:
        texts.insert(0, "#include <torch/extension.h>")
    if functions is not None:
        texts += _bindings(functions)
    text = "\n".join(texts) + "\n"
    folder = cache_folder().with_name("extensions") / "inline" / digest(name, text)
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "main.cpp"
    if not source.is_file() or source.read_text(encoding="utf-8") != text:
        source.write_text(text, encoding="utf-8")
    return load(
        name,
        [source],
        extra_cflags=extra_cflags,
        extra_ldflags=extra_ldflags,
        extra_include_paths=extra_include_paths,
        build_directory=build_directory,
        verbose=verbose,
        is_python_module=is_python_module,
    )


def _bindings(functions: str | Sequence[str] | Mapping[str, str]) -> list[str]:
    if isinstance(functions, str):
        functions = [functions]
    documented = functions if isinstance(functions, Mapping) else {function: function for function in functions}
    lines = ["PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {"]
    lines += [f'm.def("{name}", torch::wrap_pybind_function({name}), "{doc}");' for name, doc in documented.items()]
    return [*lines, "}"]


def import_extension(name: str, path: Path) -> ModuleType:
    """The extension module `name` in the file at `path`. ImportError if it can't be loaded."""
    loader = importlib.machinery.ExtensionFileLoader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    raise_failures()
    return module


def _built(
    name: str, sources: list[str], cflags: list[str], ldflags: list[str], includes: list[str], is_standalone: bool
) -> Path:
    toolchain = find_toolchain()
    command = [
        str(toolchain.compiler),
        *([] if names_a_standard(cflags) else [STANDARD]),
        "-fPIC",
        "-pthread",
        *(f"-I{folder}" for folder in extension_include_folders()),
        *(f"-I{os.path.abspath(folder)}" for folder in includes),
        "-isystem",
        str(toolchain.python_include),
        "-DTORCH_API_INCLUDE_EXTENSION_H",
        *cflags,
    ]
    defines = [define for define in extension_defines(name) if define not in command]
    objects = in_parallel(
        lambda source: compiled_object(Path(source), command, toolchain, defines=defines), list(sources)
    )
    linking = with_openmp(without_libraries_of_pytorch_in(ldflags), cflags)
    return _linked(name, objects, linking, toolchain, is_standalone)


def _linked(name: str, objects: list[Path], flags: list[str], toolchain: Toolchain, is_standalone: bool) -> Path:
    """The library, kept under a key of the objects' contents: what is loaded once is never written to again."""
    contents = [digest(path.read_bytes()) for path in objects]
    key = digest(name, *contents, *flags, toolchain.identity, str(is_standalone))
    target = cache_folder().with_name("extensions") / "linked" / key / (name if is_standalone else f"{name}.so")
    if target.is_file():
        return target
    with workplace(cache_folder() / "unfinished") as temporary:
        built = temporary / target.name
        shape = [] if is_standalone else ["-shared"]
        run_compiler(
            [str(toolchain.compiler), *map(str, objects), *shape, "-pthread", *flags, "-o", str(built)],
            Path(name),
            temporary,
            lambda: None,
        )
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(built, target)
    return target


__all__ = ["CompileError", "import_extension", "load", "load_inline"]
