"""What runs on the shim and on PyTorch alike: limits, random numbers, how a program ends."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..cpp.own_headers import cache_folder
from .containment import PROCESSES
from .open_files import FILE_LIMIT
from .run_specification import Specification
from .trace_events import Writer


def seed_generators(torch: Any) -> None:
    """The same random numbers in each run, for a program that does not ask for its own: a network that no one seeded
    starts from the same weights before and after."""
    random.seed(0)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)
    torch.manual_seed(0)


def failed(writer: Writer, error: Exception) -> int:
    """Records why a program could not be run."""
    from ..cpp.compiler_diagnostics import CompileError, LoadError, PyTorchMissing, ToolchainMissing

    kinds = {CompileError: "compile", LoadError: "load", ToolchainMissing: "toolchain", PyTorchMissing: "toolchain"}
    kind = next((kind for cls, kind in kinds.items() if isinstance(error, cls)), "internal")
    missing = getattr(error, "missing", None)
    all_missing = getattr(error, "all_missing", [missing] if missing else [])
    writer.write("failed", kind=kind, message=str(error), missing=missing, all_missing=all_missing)
    return 2


def _loaded_files() -> list[str]:
    """The files of all modules of Python code that have been imported."""
    found = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    return sorted(path for path in found if path)


@contextlib.contextmanager
def as_script(specification: Specification) -> Iterator[None]:
    before, sys.argv = sys.argv, [specification.shown, *specification.arguments]
    folder = os.path.dirname(specification.source)
    sys.path.insert(0, folder)
    sys.path[1:1] = specification.quoted_include
    try:
        yield
    finally:
        sys.argv = before
        sys.path.remove(folder)


def execute(specification: Specification, writer: Writer) -> int:
    """Runs the Python program in this interpreter and records how it ends."""
    status, error, message = 0, None, ""
    try:
        runpy.run_path(specification.source, run_name="__main__")
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            status = stop.code or 0
        else:
            print(stop.code, file=sys.stderr)
            status = 1
    except BaseException as raised:  # whatever leaves the program is how it ended
        from ..cpp.compiler_diagnostics import traceback_text

        status, error, message = 1, type(raised).__name__, str(raised)
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        print(traceback_text(raised, specification.source), end="", file=sys.stderr)
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    writer.close()
    writer.write("compiled", files=[specification.source, *_loaded_files()])
    writer.write("ended", status=status, error=error, message=message)
    return status


def contained(specification: Specification, writer: Writer) -> None:
    """Contains this process if the specification wants that, and records what is contained."""
    if not specification.writable:
        return
    from .containment import contain

    held = [] if writer.ready is None else [writer.ready]
    needed = [Path(specification.source), cache_folder(), *map(Path, specification.include)]
    folders = [Path(folder) for folder in specification.writable]
    aspects = contain(folders, Path(specification.temporary), needed=needed, held=held)
    writer.write("contained", aspects=sorted(aspects))
    if PROCESSES in aspects:
        lower_limit(resource.RLIMIT_NPROC, PROCESS_LIMIT)  # in a namespace of its own it counts these alone


PROCESS_LIMIT = 512
"""Processes and threads of a program."""
OPEN_FILES_LIMIT = 4096


def lower_limit(kind: int, most: int) -> None:
    """Lowers a limit of this process (`resource.RLIMIT_…`) to `most`, unless it is lower."""
    hard = resource.getrlimit(kind)[1]
    allowed = most if hard < 0 else min(most, hard)
    resource.setrlimit(kind, (allowed, allowed))


def limit(specification: Specification, *, more: int = 0) -> None:
    """Sets the limits of the program: what comes before it (compiler, imports) does not count.

    `more` is what a program that is not this process needs by itself.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    lower_limit(resource.RLIMIT_FSIZE, FILE_LIMIT)
    lower_limit(resource.RLIMIT_NOFILE, OPEN_FILES_LIMIT)
    if specification.memory is not None:
        total = _taken() + specification.memory + more
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (total if hard < 0 else min(total, hard), hard))
    if specification.seconds is not None:
        # Should the process that waits for this one be killed, this one still ends.
        used = sum(os.times()[:2])
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        allowed = int(used + 2 * specification.seconds + 10)
        resource.setrlimit(resource.RLIMIT_CPU, (allowed if hard < 0 else min(allowed, hard), hard))


def _taken() -> int:
    """The address space that this process has now, in bytes."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 1 << 30  # no /proc: a generous guess
