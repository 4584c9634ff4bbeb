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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .compiler_diagnostics import CompileError
from .compiler_processes import compiler_pool, workplace
from .cpp_compilation import (
    Compiled,
    CompilerOptions,
    object_command,
    read_dependencies,
    run_compiler,
    toolchain_digest,
)
from .header_precompilation import Toolchain, find_toolchain
from .own_headers import cache_folder, digest, is_own_header

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

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> SourceUnit:
        """From its fields, with texts for paths."""
        include = tuple(map(Path, fields["include"]))
        return cls(Path(fields["path"]), include, tuple(fields["define"]), fields["standard"], fields["on_demand"])


@dataclass(frozen=True)
class Object:
    """A compiled source in the cache."""

    path: Path
    files: tuple[Path, ...]
    """The source, and what it includes but for headers of the system and the shim."""
    cached: bool


@dataclass(frozen=True)
class ObjectMaker:
    """How each file of a program is compiled."""

    command: Callable[[SourceUnit, str], tuple[list[str], Sequence[str]]]
    """For a source and its text the compiler's command, and further options that `identity` stands for."""
    identity: str
    """What decides on an object besides its text and the command."""
    root: Path
    """The folder of the project, or of a copy."""
    work: Path
    """Where the compiler works."""
    include: tuple[Path, ...] = ()
    """The project's own folders of headers, which may contain one of PyTorch's."""


@dataclass(frozen=True)
class Objects:
    """What a program is linked from."""

    whole: tuple[Object, ...]
    spare: tuple[Object, ...]
    """Those on demand."""
    left_out: CompileError | None
    """Why one on demand is not among them: the first that does not compile."""

    @property
    def all(self) -> tuple[Object, ...]:
        return (*self.whole, *self.spare)


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

    def command(unit: SourceUnit, text: str) -> tuple[list[str], Sequence[str]]:
        own = replace(
            options,
            include=(*unit.include, *options.include),
            define=(*options.define, *unit.define),
            standard=unit.standard or options.standard,
        )
        return object_command(text, toolchain, own)

    work = options.workplace or cache_folder() / "unfinished"
    maker = ObjectMaker(command, toolchain_digest(toolchain), root, work, options.include)
    objects = compile_objects([SourceUnit(source), *units], maker, meanwhile)
    link = options.for_linking()
    key = digest(linked_digest(objects, link), toolchain_digest(toolchain))
    entry = cache_folder() / key[:2] / key
    program = entry / "program.so"
    if not program.is_file():
        with workplace(work) as temporary:
            shared = ["-shared", "-Wl,-Bsymbolic-functions", "-Wl,-u,main"]
            link_objects(toolchain, objects, [*shared, *link], source, temporary / "program.so")
            entry.mkdir(parents=True, exist_ok=True)
            os.replace(temporary / "program.so", program)
    files = tuple(dict.fromkeys(file for one in objects.all for file in one.files))
    return Compiled(program, source, all(one.cached for one in objects.all), files, objects.left_out)


def compile_objects(
    units: Sequence[SourceUnit], maker: ObjectMaker, meanwhile: Callable[[], object] = lambda: None
) -> Objects:
    """Compiles sources in parallel, or finds them compiled. Raises CompileError of the first that must compile."""
    whole: list[Object] = []
    spare: list[Object] = []
    left_out: list[CompileError] = []
    with compiler_pool(_workers()) as pool:
        found = [pool.submit(_object, unit, maker) for unit in units]
        meanwhile()
        for unit, future in zip(units, found, strict=True):
            try:
                (spare if unit.on_demand else whole).append(future.result())
            except CompileError as error:
                if not unit.on_demand:
                    raise
                left_out.append(error)
    return Objects(tuple(whole), tuple(spare), left_out[0] if left_out else None)


def linked_digest(objects: Objects, link: Sequence[str]) -> str:
    """What decides on a linked program: its objects, and the libraries and options of `link`."""
    libraries = [Path(word).read_bytes() for word in link if os.path.isfile(word)]
    return digest(*(str(one.path) for one in objects.whole), "", *(str(one.path) for one in objects.spare), "", *link,
                  *libraries)  # fmt: skip


def link_objects(toolchain: Toolchain, objects: Objects, link: Sequence[str], source: Path, program: Path) -> None:
    """Links `program`, in whose folder the linker works. Raises CompileError with what it says."""
    spare = [str(one.path) for one in objects.spare]
    archiver = shutil.which("ar")
    if spare and archiver is not None:
        # Objects have one name each in an archive; in the cache all are called the same.
        members = []
        for number, path in enumerate(spare):
            member = program.with_name(f"{number}.o")
            member.symlink_to(path)
            members.append(str(member))
        library = program.with_name("library.a")
        subprocess.run([archiver, "rcs", str(library), *members], check=True, capture_output=True)
        spare = [str(library)]
    whole = [str(one.path) for one in objects.whole]
    command = [str(toolchain.compiler), "-pthread", *whole, *spare, *link, "-o", str(program)]
    run_compiler(command, source, program.parent, lambda: None)


def _workers() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _object(unit: SourceUnit, maker: ObjectMaker) -> Object:
    root = maker.root
    source = unit.path.resolve()
    text = source.read_bytes()
    command, further = maker.command(unit, text.decode(errors="replace"))
    neutral = [word.replace(str(root), "<root>") for word in command]
    key = digest(_name(source, root), text, *neutral, maker.identity)
    variants = cache_folder() / "objects" / key[:2] / key
    for variant in sorted(variants.glob("*/manifest.json")):
        files = _current(variant, root)
        if files is not None:
            return Object(variant.with_name("unit.o"), (source, *files), True)
    with workplace(maker.work) as temporary:
        built, dependencies = temporary / "unit.o", temporary / "dependencies"
        run_compiler(
            [*command, *further, "-c", "-MMD", "-MF", str(dependencies), str(source), "-o", str(built)],
            source,
            temporary,
            lambda: None,
            (*unit.include, *maker.include),
        )
        included = [
            path
            for path in read_dependencies(dependencies.read_text())
            if not is_own_header(path) and not path.is_relative_to(cache_folder())
        ]
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
    return Object(place / "unit.o", (source, *included), False)


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
