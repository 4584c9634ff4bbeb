"""What a project uses of PyTorch that the shim lacks, all at once and without running anything."""

from __future__ import annotations

import ast
import contextlib
import importlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from guardfix.linter.files.workspace import DISK
from guardfix.runtime_shim.cpp import CompilerOptions, cache_folder
from guardfix.runtime_shim.cpp.compiler_diagnostics import CompileError, ProgramError
from guardfix.runtime_shim.cpp.compiler_processes import compiler_pool, workplace
from guardfix.runtime_shim.cpp.cpp_compilation import object_command, run_compiler
from guardfix.runtime_shim.cpp.header_precompilation import Toolchain, find_toolchain
from guardfix.runtime_shim.extension.cmake_package import extension_defines, extension_include_folders

from ..judging.verdicts import VerificationFailed
from .included_sources import ProjectFiles, project_above
from .project_builds import Build

_SHIM = "guardfix.runtime_shim"
_OF_TORCH = ("torch/", "ATen/", "c10/")


@dataclass(frozen=True)
class CheckedFile:
    """A file, and the names that it uses and the shim lacks."""

    path: str
    names: tuple[str, ...] = ()
    error: str = ""
    """Why it does not compile, when that has other reasons."""


def check_files(paths: Sequence[str], builds: Mapping[Path, Build], options: CompilerOptions) -> list[CheckedFile]:
    """What each C++ and Python file that uses torch lacks, in the order of `paths`; other files are passed over.

    A C++ file uses torch if it includes a header of PyTorch's, or one of the project that does.
    Raises `VerificationFailed` when there is a C++ file and no compiler.
    """
    toolchain: Toolchain | None = None
    projects: dict[Path, ProjectFiles] = {}
    jobs: list[tuple[str, str, Build | None]] = []
    for path in paths:
        source = DISK.read_or_none(path)
        text = "" if source is None else source.text.decode("utf-8", "replace")
        if path.endswith(".py"):
            if "torch" in text:
                jobs.append((path, text, None))
            continue
        file = Path(path).resolve()
        root = project_above(file)
        project = projects.setdefault(root, ProjectFiles(root, lambda _: False))
        included = project.included_by(file, with_sources=False)
        if any(name.startswith(_OF_TORCH) for name in included.others):
            jobs.append((path, text, builds.get(file, Build(include=included.folders))))
            if toolchain is None:
                try:
                    toolchain = find_toolchain(options.compiler)
                except ProgramError as error:
                    raise VerificationFailed(str(error)) from None

    with compiler_pool(os.cpu_count() or 1) as pool:
        compiled = {}
        for path, text, build in jobs:
            if build is not None and toolchain is not None:
                compiled[path] = pool.submit(_checked_cpp, path, text, build, options, toolchain)
        # Looking names up is for one thread: the shim imports what is asked for.
        return [
            CheckedFile(path, tuple(missing_python_names(text))) if build is None else compiled[path].result()
            for path, text, build in jobs
        ]


def _checked_cpp(path: str, text: str, build: Build, options: CompilerOptions, toolchain: Toolchain) -> CheckedFile:
    options = replace(
        options,
        include=(*options.include, *build.include, *map(Path, extension_include_folders())),
        define=(*options.define, *build.define),
        standard=build.standard or options.standard,
        workplace=None,
    )
    command, header = object_command(text, toolchain, options)
    with workplace(cache_folder() / "unfinished") as folder:
        try:
            words = [*command, *extension_defines("extension"), *header, "-w", "-fsyntax-only", path]
            run_compiler(words, Path(path), folder, lambda: None, options.include)
        except CompileError as error:
            if error.all_missing:
                return CheckedFile(path, error.all_missing)
            lines = error.diagnostics.splitlines()
            return CheckedFile(path, (), next((line.strip() for line in lines if "error:" in line), "does not compile"))
        except (ProgramError, OSError) as error:
            return CheckedFile(path, (), str(error))
    return CheckedFile(path)


def missing_python_names(text: str) -> Iterator[str]:
    """The names of PyTorch that Python text uses by their full path, or by an import, and the shim lacks."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    bound: dict[str, str] = {}
    seen: set[str] = set()
    for dotted in [*_imported(tree, bound), *_used(tree, bound)]:
        missing = _missing_part(dotted)
        if missing is not None and missing not in seen:
            seen.add(missing)
            yield missing


def _imported(tree: ast.Module, bound: dict[str, str]) -> Iterator[str]:
    """What is imported of torch; the names that this binds go to `bound`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "torch":
                    bound[alias.asname or "torch"] = alias.name if alias.asname else "torch"
                    yield alias.name
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == "torch":
            for alias in node.names:
                if alias.name != "*":
                    bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                    yield f"{node.module}.{alias.name}"


def _used(tree: ast.Module, bound: Mapping[str, str]) -> Iterator[str]:
    """Each chain of attributes that begins with such a name."""
    inner: set[int] = set()
    for node in ast.walk(tree):  # from the outside in
        if not isinstance(node, ast.Attribute) or id(node) in inner:
            continue
        parts: list[str] = []
        value: ast.expr = node
        while isinstance(value, ast.Attribute):
            inner.add(id(value))
            parts.append(value.attr)
            value = value.value
        if isinstance(value, ast.Name) and value.id in bound:
            yield ".".join([bound[value.id], *reversed(parts)])


def _missing_part(dotted: str) -> str | None:
    """The first part of a name that PyTorch has and the shim lacks; None when there is none."""
    from guardfix.runtime_shim.core.error_texts import UnsupportedError
    from guardfix.runtime_shim.core.supported_names import is_placeholder, may_be_pytorchs

    found: object = importlib.import_module(_SHIM)
    path = "torch"
    for part in dotted.split(".")[1:]:
        if not isinstance(found, ModuleType | type):
            return None
        path = f"{path}.{part}"
        try:
            found = getattr(found, part)
            if is_placeholder(found):  # since somebody imported it
                return path
        except UnsupportedError:
            return path
        except AttributeError:
            if not isinstance(found, ModuleType):
                return None
            module = None
            with contextlib.suppress(ImportError):
                module = importlib.import_module(f"{_SHIM}{path.removeprefix('torch')}")
            if module is None:
                return path if may_be_pytorchs(path) else None
            found = module
        except Exception:
            return None
    return None


def names_by_use(files: Iterable[CheckedFile]) -> dict[str, list[str]]:
    """The missing names with the files that use them, the most wanted first."""
    found: dict[str, list[str]] = {}
    for file in files:
        for name in file.names:
            found.setdefault(name, []).append(file.path)
    return dict(sorted(found.items(), key=lambda item: (-len(item[1]), item[0])))
