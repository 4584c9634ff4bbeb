"""Files of data that a program reads and that are missing, made up: the library that does it, and what it made.

The library is preloaded into the process of the program (Linux can do that) and switched on when the program begins;
`made_up_files.cpp` says what it makes of which names.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from pathlib import Path

from ..cpp.compile_cache import cache_folder, digest
from ..cpp.compiler_processes import workplace
from ..cpp.cpp_compilation import run_compiler
from ..cpp.program_errors import ProgramError
from ..cpp.toolchain import find_toolchain

FOLDER_VARIABLE = "GUARDFIX_MADE_UP_FILES"
"""Names the folder to a program that becomes a process of its own."""
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
