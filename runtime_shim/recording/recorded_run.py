"""The process of one program: its limits, its compilation, its end."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from . import guard_table
from .program_execution import as_script, contained, execute, failed, limit, seed_generators
from .run_specification import Specification, make_up_files
from .trace_events import Writer

if TYPE_CHECKING:
    pass


def run_program(path: str, tell: int | None = None) -> int:
    """Run the program that the file `path` specifies; the exit status is the program's.

    The file descriptor `tell` is closed when the program is ready to run.
    """
    die_with_parent()
    if tell is not None:
        os.set_inheritable(tell, False)  # a compiler's server would keep it open
    specification = Specification.read(path)
    if specification.guard_table is not None:
        os.environ[guard_table.VARIABLE] = specification.guard_table
    with open(specification.recording, "w", encoding="utf-8") as stream:
        writer = Writer(stream, ready=tell)
        is_python = specification.source.endswith((".py", ".pyw"))
        if specification.backend == "torch":
            from .real_torch import run_cpp_on_torch, run_python_on_torch

            return run_python_on_torch(specification, writer) if is_python else run_cpp_on_torch(specification, writer)
        return _run_python(specification, writer) if is_python else _run_cpp(specification, writer)


def _run_cpp(specification: Specification, writer: Writer) -> int:
    from ..cpp import CompilerOptions, ProgramError, torch_backend
    from ..cpp.cpp_compilation import compile_program
    from ..cpp.cpp_program import call_main
    from ..cpp.linked_program import SourceUnit, compile_linked

    options = CompilerOptions(
        include=tuple(Path(folder) for folder in specification.include),
        define=specification.define,
        link=specification.link,
        standard=specification.standard,
        quoted_include=tuple(map(Path, specification.quoted_include)),
        start_precompiling=False,  # whoever waits for the programs sees to that
        compiler=specification.compiler,
        workplace=Path(specification.workplace) if specification.workplace else None,
    )
    try:
        source = Path(specification.source)
        if specification.units:
            units = [SourceUnit.read(fields) for fields in specification.units]
            compiled = compile_linked(source, units, options, root=Path(specification.root), meanwhile=_prepare)
        else:
            compiled = compile_program(source, options, meanwhile=_prepare)
        from .recorder import RecordingBackend

        writer.write("compiled", files=list(map(str, compiled.files)), program=str(compiled.path))
        contained(specification, writer)
        backend = RecordingBackend(
            legacy_since19=specification.legacy_since19,
            guard_table=guard_table.table_of(specification),
            detailed=specification.detailed,
        )
        torch_backend.use(backend)
        seed_generators(backend.torch)
        with backend.recording(writer, compiled.path):
            limit(specification)
            writer.is_ready()
            make_up_files(specification.made_up)
            status = call_main(compiled, specification.arguments, name=specification.shown)
        writer.close()
        writer.write("ended", status=status, error=None, message="")
        return status
    except (ProgramError, OSError) as error:
        return failed(writer, error)


def _prepare() -> None:
    from . import recorder

    assert recorder


def _run_python(specification: Specification, writer: Writer) -> int:
    from ..cpp import torch_backend
    from ..cpp.cpp_program import SHIM
    from ..cpp.extension_module import bound_to
    from .recorder import Recorder, watching

    shim = importlib.import_module(SHIM)
    contained(specification, writer)
    seed_generators(shim)  # after the fork, which makes Python seed its own numbers again
    table = guard_table.table_of(specification)
    torch_backend.current().guard_table = table  # guards of extension modules count there
    recorder = Recorder(writer, specification.source, table, detailed=specification.detailed)
    with bound_to(SHIM), watching(recorder), as_script(specification), guard_table.within_reach(table):
        limit(specification)
        writer.is_ready()
        make_up_files(specification.made_up)
        return execute(specification, writer)


def die_with_parent() -> None:
    """This process is killed when the one ends that started it, where the system can do that."""
    pr_set_pdeathsig = 1
    with contextlib.suppress(AttributeError, OSError):  # Linux only
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL, 0, 0, 0)
