"""Object files, compiled once for each content, several at a time."""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ..cpp.compile_cache import cache_folder, digest, entry_is_current
from ..cpp.compiler_processes import compiler_pool, workplace
from ..cpp.cpp_compilation import included_umbrella, precompiled, read_dependencies, run_compiler
from ..cpp.own_headers import headers_digest, is_own_header
from ..cpp.toolchain import Toolchain

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
    header = included_umbrella(text.decode(errors="replace"))
    use: list[str] = []
    if header is not None:
        folder = cache_folder() / "headers" / digest(header, *command, environment)
        use = precompiled(folder, f"#include <{header}>\n", list(command), toolchain, programs=1)
    with workplace(cache_folder() / "unfinished") as temporary:
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
