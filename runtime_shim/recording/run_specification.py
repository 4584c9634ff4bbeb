"""What one run is given, and the file that it is written to."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..cpp.compiler_diagnostics import ProgramError
from ..cpp.compiler_processes import workplace
from ..cpp.cpp_compilation import run_compiler
from ..cpp.header_precompilation import find_toolchain
from ..cpp.own_headers import cache_folder, digest


@dataclass(frozen=True)
class Specification:
    """One program and how it is to be run."""

    source: str
    shown: str
    """The name that the program sees as its own: the same before and after, wherever the copy is."""
    recording: str
    """The file that the recording goes to."""
    arguments: tuple[str, ...] = ()
    backend: str = "shim"
    """`shim`, or `torch`: the installed PyTorch."""
    legacy_since19: bool = False
    uncovered: bool = False
    """With `torch`: no guard hides view tracking and version counting. What the program does then and not
    otherwise was hidden from it."""
    detailed: bool = False
    """Record which tensor is which, and the autograd graph, as far as the shim is what the program runs on."""
    include: tuple[str, ...] = ()
    quoted_include: tuple[str, ...] = ()
    """Folders for `#include "…"` alone: where the program's own headers lie when it is a copy."""
    units: tuple[dict[str, Any], ...] = ()
    """Further C++ sources of the program: the fields of `linked_program.SourceUnit`, with texts for paths."""
    root: str = ""
    """The copy of the project that contains the program, if it has further sources."""
    define: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    standard: str = "c++17"
    compiler: str | None = None
    workplace: str | None = None
    """Where the compiler works; by default in the cache."""
    guard_table: str | None = None
    """The file in which entered guards are counted (see `guard_table`)."""
    writable: tuple[str, ...] = ()
    """The folders that the program may write to; it is contained if there are any (see `containment`)."""
    temporary: str = ""
    """Its private folder for temporary files."""
    memory: int | None = None
    """Bytes that the program may take on top of what the shim needs."""
    seconds: float | None = None
    made_up: str = ""
    """The folder in which missing files of data are made up (see `made_up_files`); empty if none are."""

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, path: str) -> Specification:
        with open(path, encoding="utf-8") as file:
            read: dict[str, Any] = json.load(file)
        fields: dict[str, Any] = {k: tuple(value) if isinstance(value, list) else value for k, value in read.items()}
        return cls(**fields)


def read_events(path: Path) -> Iterator[dict[str, object]]:
    """The events of a recording; a last line that was cut short is left out."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.endswith("\n"):
                    yield json.loads(line)
    except FileNotFoundError:
        return


FOLDER_VARIABLE = "GUARDFIX_MADE_UP_FILES"
"""Names the folder to a program that becomes its own process."""
_SOURCE = Path(__file__).parents[1] / "cpp" / "preloaded" / "made_up_files.cpp"


def preloaded_library() -> Path | None:
    """The library, compiled if the cache hasn't got it; None where there is no compiler, or no preloading."""
    if sys.platform != "linux":
        return None
    with contextlib.suppress(ProgramError, OSError):
        toolchain = find_toolchain()
        library = cache_folder() / "preloaded" / digest(_SOURCE.read_bytes(), toolchain.identity) / "made_up_files.so"
        if not library.is_file():
            with workplace(cache_folder() / "unfinished") as temporary:
                built = temporary / library.name
                options = ["-std=c++17", "-O1", "-w", "-fPIC", "-shared"]
                command = [str(toolchain.compiler), *options, str(_SOURCE), "-o", str(built), "-ldl"]
                run_compiler(command, _SOURCE, temporary, lambda: None)
                library.parent.mkdir(parents=True, exist_ok=True)
                os.replace(built, library)
        return library
    return None


def make_up_files(folder: str) -> None:
    """From now on what this process doesn't find is made up in `folder`, if the library is preloaded."""
    begin = getattr(ctypes.CDLL(None), "guardfix_make_up_files", None)
    if folder and begin is not None:
        begin(os.fsencode(folder))


def made_up_in(folder: Path) -> tuple[tuple[str, str], ...]:
    """What was made up: for each file its kind, and its path as the program asked for it."""
    try:
        lines = (folder / "list").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    parts = [line.partition("\t") for line in dict.fromkeys(lines)]
    return tuple((kind, path) for kind, _, path in parts)
