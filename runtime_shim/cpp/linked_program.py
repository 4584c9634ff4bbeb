"""From several C++ files to one shared object; each file is compiled once for its content.

An object is kept under a key of its file's text, options and place in the project, in as many variants as the headers
that it includes have had. The project's own folder is not part of the key: a file that is the same in two copies of a
project is compiled once, unless it asks for its own path.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .build_folder import workplace
from .compiler_processes import compiler_pool
from .cpp_compilation import (
    Compiled,
    CompilerOptions,
    cache_folder,
    digest,
    object_command,
    read_dependencies,
    run_compiler,
    toolchain_digest,
)
from .program_errors import CompileError
from .toolchain import INCLUDE, Toolchain, find_toolchain

_VARIANTS = 32


@dataclass(frozen=True)
class SourceUnit:
    """A further source of a program, with what it is compiled with besides the program's options."""

    path: Path
    include: tuple[Path, ...] = ()
    define: tuple[str, ...] = ()
    standard: str = ""
    """The program's own when empty."""
    on_demand: bool = False
    """Part of a library: it is linked if something of it is used."""


@dataclass(frozen=True)
class _Object:
    path: Path
    files: tuple[Path, ...]
    cached: bool


def compile_linked(
    source: Path,
    units: Sequence[SourceUnit],
    options: CompilerOptions,
    *,
    root: Path,
    meanwhile: Callable[[], object] = lambda: None,
) -> Compiled:
    """Compiles `source` and the further `units`, in parallel, and links them; or finds all that in the cache.

    `root` is the folder of the project, or of a copy. A unit on demand that does not compile is left out: whether the
    program needs it shows when it is loaded. Raises ToolchainMissing, CompileError (of the first other unit that does
    not compile), or OSError when a source can't be read or the cache can't be written.
    """
    toolchain = find_toolchain(options.compiler)
    all_units = [SourceUnit(source), *units]
    with compiler_pool(_workers()) as pool:
        found = [pool.submit(_object, unit, options, toolchain, root) for unit in all_units]
        meanwhile()
        left_out: list[CompileError] = []
        built: list[tuple[SourceUnit, _Object]] = []
        for unit, future in zip(all_units, found, strict=True):
            try:
                built.append((unit, future.result()))
            except CompileError as error:
                if not unit.on_demand:
                    raise
                left_out.append(error)
    all_units = [unit for unit, _ in built]
    objects = [one for _, one in built]
    files = tuple(dict.fromkeys(file for one in objects for file in one.files))
    link = options.for_linking()
    libraries = [Path(word).read_bytes() for word in link if os.path.isfile(word)]
    key = digest(*(str(one.path) for one in objects), *(str(unit.on_demand) for unit in all_units), *link, *libraries,
                 toolchain_digest(toolchain))  # fmt: skip
    entry = cache_folder() / key[:2] / key
    program = entry / "program.so"
    if not program.is_file():
        with workplace(options.workplace or cache_folder() / "unfinished") as temporary:
            _link(toolchain, all_units, objects, link, source, temporary)
            entry.mkdir(parents=True, exist_ok=True)
            os.replace(temporary / "program.so", program)
    cached = all(one.cached for one in objects)
    return Compiled(program, source, cached, files, left_out[0] if left_out else None)


def _workers() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _link(
    toolchain: Toolchain,
    units: Sequence[SourceUnit],
    objects: Sequence[_Object],
    link: Sequence[str],
    source: Path,
    folder: Path,
) -> None:
    whole = [str(one.path) for unit, one in zip(units, objects, strict=True) if not unit.on_demand]
    spare = [str(one.path) for unit, one in zip(units, objects, strict=True) if unit.on_demand]
    archiver = shutil.which("ar")
    if spare and archiver is not None:
        # Objects have one name each in an archive; in the cache all are called the same.
        members = []
        for number, path in enumerate(spare):
            member = folder / f"{number}.o"
            member.symlink_to(path)
            members.append(str(member))
        library = folder / "library.a"
        subprocess.run([archiver, "rcs", str(library), *members], check=True, capture_output=True)
        spare = [str(library)]
    run_compiler(
        [
            str(toolchain.compiler), "-pthread", *whole, *spare, "-shared", "-Wl,-Bsymbolic-functions", "-Wl,-u,main",
            *link, "-o", str(folder / "program.so"),
        ],
        source,
        folder,
        lambda: None,
    )  # fmt: skip


def _object(unit: SourceUnit, options: CompilerOptions, toolchain: Toolchain, root: Path) -> _Object:
    options = replace(
        options,
        include=(*unit.include, *options.include),
        define=(*options.define, *unit.define),
        standard=unit.standard or options.standard,
    )
    source = unit.path.resolve()
    text = source.read_bytes()
    command, header = object_command(text.decode(errors="replace"), toolchain, options)
    neutral = [word.replace(str(root), "<root>") for word in command]
    key = digest(_name(source, root), text, *neutral, toolchain_digest(toolchain))
    variants = cache_folder() / "objects" / key[:2] / key
    for variant in sorted(variants.glob("*/manifest.json")):
        files = _current(variant, root)
        if files is not None:
            return _Object(variant.with_name("unit.o"), (source, *files), True)
    with workplace(options.workplace or cache_folder() / "unfinished") as temporary:
        built, dependencies = temporary / "unit.o", temporary / "dependencies"
        run_compiler(
            [*command, *header, "-c", "-MMD", "-MF", str(dependencies), str(source), "-o", str(built)],
            source,
            temporary,
            lambda: None,
            options.include,
        )
        included = [path for path in read_dependencies(dependencies.read_text()) if not path.is_relative_to(INCLUDE)]
        contents = {path: path.read_bytes() for path in included}
        ours = [data for path, data in contents.items() if path.resolve().is_relative_to(root)]
        manifest = {
            "root": str(root) if any(b"__FILE__" in data for data in ours) else "",
            "files": {_name(path, root): digest(data) for path, data in contents.items()},
        }
        described = json.dumps(manifest)
        place = variants / digest(described)[:16]
        if len(list(variants.glob("*"))) >= _VARIANTS:
            shutil.rmtree(variants, ignore_errors=True)
        place.mkdir(parents=True, exist_ok=True)
        (temporary / "manifest.json").write_text(described)
        os.replace(built, place / "unit.o")
        os.replace(temporary / "manifest.json", place / "manifest.json")
    return _Object(place / "unit.o", (source, *included), False)


def _name(path: Path, root: Path) -> str:
    """A file's name in a key: within the project, wherever that lies."""
    real = path.resolve()
    return f"<root>/{real.relative_to(root)}" if real.is_relative_to(root) else str(real)


def _current(manifest: Path, root: Path) -> list[Path] | None:
    """The files that went into an object, if all are as they were."""
    try:
        known = json.loads(manifest.read_text())
        files = [root / name.removeprefix("<root>/") for name in known["files"]]
        fits = known["root"] in ("", str(root)) and manifest.with_name("unit.o").is_file()
        if fits and all(
            digest(path.read_bytes()) == known["files"][name] for path, name in zip(files, known["files"], strict=True)
        ):
            return files
    except (OSError, ValueError, KeyError):
        return None
    return None
