"""The process of one program: its limits, its compilation, its end."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import random
import resource
import runpy
import signal
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .events import Writer


@dataclass(frozen=True)
class Specification:
    """One program and how it is to be run."""

    source: str
    shown: str
    """What the program is told that it is called: the same before and after, wherever the copy lies."""
    recording: str
    """The file that the recording goes to."""
    arguments: tuple[str, ...] = ()
    backend: str = "shim"
    """`shim`, or `torch`: the installed PyTorch."""
    legacy_since19: bool = False
    uncovered: bool = False
    """With `torch`: no guard hides view tracking and version counting. What the program does then and not
    otherwise was hidden from it."""
    include: tuple[str, ...] = ()
    quoted_include: tuple[str, ...] = ()
    """Folders for `#include "…"` alone: where the program's own headers lie when it is a copy."""
    define: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    standard: str = "c++17"
    compiler: str | None = None
    workplace: str | None = None
    """Where the compiler works; by default in the cache."""
    memory: int | None = None
    """Bytes that the program may take on top of what the shim needs."""
    seconds: float | None = None

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, path: str) -> Specification:
        with open(path, encoding="utf-8") as file:
            read: dict[str, Any] = json.load(file)
        fields: dict[str, Any] = {k: tuple(value) if isinstance(value, list) else value for k, value in read.items()}
        return cls(**fields)


def main(path: str, tell: int | None = None) -> int:
    """Run the program that the file `path` specifies; the exit status is the program's.

    The file descriptor `tell` is closed when the program is ready to run.
    """
    _die_with_parent()
    if tell is not None:
        os.set_inheritable(tell, False)  # a compiler's server would keep it open
    specification = Specification.read(path)
    with open(specification.recording, "w", encoding="utf-8") as stream:
        writer = Writer(stream, ready=tell)
        is_python = specification.source.endswith((".py", ".pyw"))
        if specification.backend == "torch":
            from .real_torch import run_cpp, run_python

            return run_python(specification, writer) if is_python else run_cpp(specification, writer)
        return _run_python(specification, writer) if is_python else _run_cpp(specification, writer)


def _run_cpp(specification: Specification, writer: Writer) -> int:
    from ..native import Options, ProgramError
    from ..native import backend as backends
    from ..native.compile import compile_program
    from ..native.program import call_main

    options = Options(
        include=tuple(Path(folder) for folder in specification.include),
        define=specification.define,
        link=specification.link,
        standard=specification.standard,
        flags=tuple(word for folder in specification.quoted_include for word in ("-iquote", folder)),
        compiler=specification.compiler,
        workplace=Path(specification.workplace) if specification.workplace else None,
    )
    try:
        compiled = compile_program(Path(specification.source), options, meanwhile=_prepare)
        from .backend import RecordingBackend

        backend = RecordingBackend(legacy_since19=specification.legacy_since19)
        backends.use(backend)
        seed(backend.torch)
        with backend.recording(writer):
            limit(specification)
            writer.is_ready()
            status = call_main(compiled, specification.arguments, name=specification.shown)
        writer.close()
        writer.write("ended", status=status, error=None, message="")
        return status
    except (ProgramError, OSError) as error:
        return failed(writer, error)


def _prepare() -> None:
    from . import backend

    assert backend


def _run_python(specification: Specification, writer: Writer) -> int:
    from ..native.program import SHIM
    from ..native.python_module import bound_to
    from .recorder import Recorder, watching

    seed(importlib.import_module(SHIM))
    recorder = Recorder(writer, specification.source)
    with bound_to(SHIM), watching(recorder), _as_script(specification):
        limit(specification)
        writer.is_ready()
        return execute(specification, writer)


def seed(torch: Any) -> None:
    """The same random numbers in each run, for a program that does not ask for its own: a network that nobody seeded
    starts from the same weights before and after."""
    random.seed(0)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)
    torch.manual_seed(0)


def failed(writer: Writer, error: Exception) -> int:
    """Records why a program could not be run."""
    from ..native import CompileError, LoadError, ToolchainMissing
    from .real_torch import PyTorchMissing

    kinds = {CompileError: "compile", LoadError: "load", ToolchainMissing: "toolchain", PyTorchMissing: "toolchain"}
    kind = next((kind for cls, kind in kinds.items() if isinstance(error, cls)), "internal")
    writer.write("failed", kind=kind, message=str(error), missing=getattr(error, "missing", None))
    return 2


@contextlib.contextmanager
def _as_script(specification: Specification) -> Iterator[None]:
    before, sys.argv = sys.argv, [specification.shown, *specification.arguments]
    folder = os.path.dirname(specification.source)
    sys.path.insert(0, folder)
    sys.path[1:1] = specification.quoted_include
    try:
        yield
    finally:
        sys.argv = before
        sys.path.remove(folder)


as_script = _as_script


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
        import traceback

        status, error, message = 1, type(raised).__name__, str(raised)
        trace = raised.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != specification.source:
            trace = trace.tb_next
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        traceback.print_exception(type(raised), raised, trace or raised.__traceback__)
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    writer.close()
    writer.write("ended", status=status, error=error, message=message)
    return status


def limit(specification: Specification, *, more: int = 0) -> None:
    """Sets the limits of the program: what comes before it (compiler, imports) does not count.

    `more` is what a program that is not this process needs by itself.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
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


def _die_with_parent() -> None:
    pr_set_pdeathsig = 1
    with contextlib.suppress(AttributeError, OSError):  # Linux only
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL, 0, 0, 0)


def read_events(path: Path) -> Iterator[dict[str, Any]]:
    """The events of a recording; a last line that was cut short is left out."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.endswith("\n"):
                    yield json.loads(line)
    except FileNotFoundError:
        return
