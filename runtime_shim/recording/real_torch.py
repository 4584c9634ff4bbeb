"""The same for the installed PyTorch: the ground truth.

A Python program is recorded through PyTorch's own hook for every public call. A C++ program is compiled against the
headers of the installed package and run as its own process, which nothing looks into: its output and its
status are what there is to compare.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from ..cpp import ProgramError
from ..cpp.compiler_diagnostics import CompileError, PyTorchMissing
from ..cpp.compiler_processes import workplace
from ..cpp.cpp_compilation import included_umbrella, precompiled
from ..cpp.header_precompilation import find_toolchain
from ..cpp.linked_program import ObjectMaker, SourceUnit, compile_objects, link_objects, linked_digest
from ..cpp.own_headers import INCLUDE, cache_folder, digest
from . import guard_table, run_specification, trace_events
from .guard_table import GuardTable
from .program_execution import as_script, contained, execute, failed, limit, seed_generators
from .run_specification import Specification
from .trace_events import SHOWN_ELEMENTS, Writer, plain

TORCH_ADDRESS_SPACE = 8 << 30
"""What a process with libtorch reserves by itself, generously."""

# PyTorch 1.9 to 2.13 ship the old guard with the meaning that it has since 1.9. This gives it the one before, under
# its name, for programs that were written for that.
_LEGACY_GUARD = """\
#pragma once
#if defined(__cplusplus) && __has_include(<ATen/core/LegacyTypeDispatch.h>)
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/GradMode.h>
#include <c10/macros/Export.h>
#include <c10/util/Exception.h>
#include <optional>
namespace torch::autograd {{
TORCH_API int get_current_graph_task_id();
}}
namespace at {{
struct GuardfixOldGuard {{
  GuardfixOldGuard(bool enabled = true) {{
    TORCH_INTERNAL_ASSERT(enabled);
    if ({unless}) return;
    guard_.emplace();
  }}
  GuardfixOldGuard(const GuardfixOldGuard&) = delete;
  GuardfixOldGuard& operator=(const GuardfixOldGuard&) = delete;
  std::optional<{below}> guard_;
}};
}}
#define AutoNonVariableTypeMode GuardfixOldGuard
{more}
#endif
"""
_UNCOVERED = "#define AutoDispatchBelowADInplaceOrView AutoDispatchBelowAutograd"
_IN_BACKWARD_WITH_GRAPH = "torch::autograd::get_current_graph_task_id() != -1 && c10::GradMode::is_enabled()"
"""Where a guard keeps a gradient from having one of its own, though create_graph asked for it."""


_HEADERS = "#include <torch/torch.h>\n#include <torch/script.h>\n"
"""What is precompiled for programs that include one of PyTorch's large headers."""

_PRECOMPILED_AFTER = 4
"""Precompiling PyTorch's headers takes as long as three programs do, and 0.7 GB of the cache."""

_COUNTER = INCLUDE / "guardfix" / "guard_counter.h"
"""Counts the program's ops, and those below its guards that have counters."""

_MODES = frozenset({"_set_grad_enabled", "set_grad_enabled"})
"""What a guard calls by itself: which guard is there is not what is compared."""


def torch_folder() -> Path:
    """Where PyTorch is installed. Raises PyTorchMissing."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        raise PyTorchMissing(
            "--backend torch needs PyTorch beside guardfix; install it with `pip install torch==2.13.0`"
        )
    return Path(found.origin).parent


def run_cpp_on_torch(specification: Specification, writer: Writer) -> int:
    """Compiles the program against libtorch and becomes it: what is returned is that it could not be run."""
    try:
        program, files = compile_against(torch_folder(), specification)
        writer.write("compiled", files=list(map(str, files)))
    except (ProgramError, OSError) as error:
        return failed(writer, error)
    return _become(program, specification, writer)


def _become(program: Path, specification: Specification, writer: Writer) -> NoReturn:
    contained(specification, writer)
    limit(specification, more=TORCH_ADDRESS_SPACE)
    writer.is_ready()
    writer.stream.flush()
    sys.stdout.flush()
    if specification.made_up:
        os.environ[run_specification.FOLDER_VARIABLE] = specification.made_up
    os.execv(program, [specification.shown, *specification.arguments])


def compile_against(folder: Path, specification: Specification) -> tuple[Path, list[Path]]:
    """The program, compiled against the PyTorch in `folder`, and the files that it is made of.

    Its parts are kept by what goes into them, as those of the shim's programs are.
    """
    toolchain = find_toolchain(specification.compiler)
    source = Path(specification.source)
    torch = ["-isystem", str(folder / "include"), "-isystem", str(folder / "include/torch/csrc/api/include")]
    version = (folder / "version.py").read_bytes()
    guard = old_guard_header(since19=specification.legacy_since19, uncovered=specification.uncovered)
    work = Path(specification.workplace) if specification.workplace else cache_folder() / "unfinished"

    def command(unit: SourceUnit, text: str) -> tuple[list[str], list[str]]:
        words = [
            str(toolchain.compiler),
            f"-std={unit.standard or specification.standard}",
            "-O0",
            "-w",
            "-pthread",
            *(f"-D{define}" for define in (*specification.define, *unit.define)),
            *(f"-I{include}" for include in (*unit.include, *specification.include)),
            *(word for quoted in specification.quoted_include for word in ("-iquote", quoted)),
            *torch,
        ]
        further: list[str] = []
        if included_umbrella(text):
            place = cache_folder() / "headers" / digest(version, *words, toolchain.identity)
            further = precompiled(place, _HEADERS, words, toolchain, programs=_PRECOMPILED_AFTER, work=work)
        if not specification.legacy_since19:
            further += ["-include", str(guard)]
        return words, [*further, "-include", str(_COUNTER)]

    identity = digest(guard.read_bytes(), str(specification.legacy_since19), _COUNTER.read_bytes(), version,
                      toolchain.identity)  # fmt: skip
    root = Path(specification.root or source.parent)
    maker = ObjectMaker(command, identity, root, work, tuple(map(Path, specification.include)))
    units = [SourceUnit.read(fields) for fields in specification.units]
    objects = compile_objects([SourceUnit(source), *units], maker)
    link = [f"-l{name}" if "/" not in name else name for name in specification.link]
    if "gtest" in specification.link:
        link += ["-lgtest_main", "-lgtest"]
    library = folder / "lib"
    link += [f"-L{library}", "-Wl,--no-as-needed", "-ltorch", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{library}"]
    key = digest(linked_digest(objects, link), version, toolchain.identity)
    entry = cache_folder() / key[:2] / key
    program = entry / "program.so"
    if not program.is_file():
        with workplace(work) as temporary:
            try:
                link_objects(toolchain, objects, link, source, temporary / "program.so")
            except CompileError as error:  # what is undefined may be in a source that didn't compile
                raise objects.left_out or error from None
            entry.mkdir(parents=True, exist_ok=True)
            os.replace(temporary / "program.so", program)
    return program, list(dict.fromkeys(file for one in objects.all for file in one.files))


def old_guard_header(*, since19: bool, uncovered: bool = False, cache: Path | None = None) -> Path:
    """A header that gives the old guard the meaning that is asked for; kept in the cache."""
    cache = cache or cache_folder()
    text = _LEGACY_GUARD.format(
        below="AutoDispatchBelowAutograd" if since19 or uncovered else "AutoDispatchBelowADInplaceOrView",
        more=_UNCOVERED if uncovered else "",
        unless=_IN_BACKWARD_WITH_GRAPH if uncovered else "false",
    )
    header = cache / "old_guards" / digest(text) / "old_guard.h"
    if not header.is_file():
        header.parent.mkdir(parents=True, exist_ok=True)
        with workplace(cache / "unfinished") as temporary:
            made = temporary / header.name
            made.write_text(text)
            os.replace(made, header)
    return header


def run_python_on_torch(specification: Specification, writer: Writer) -> int:
    """Runs the Python program with the installed PyTorch, each public call recorded."""
    try:
        torch_folder()
        contained(specification, writer)  # before PyTorch starts threads
        torch = ready_to_record()
    except (ProgramError, ImportError) as error:
        return failed(writer, error if isinstance(error, ProgramError) else PyTorchMissing(str(error)))
    seed_generators(torch)
    if specification.uncovered:
        torch._C._AutoDispatchBelowADInplaceOrView = torch._C._AutoDispatchBelowAutograd
    with as_script(specification):
        limit(specification, more=TORCH_ADDRESS_SPACE)
        writer.is_ready()
        run_specification.make_up_files(specification.made_up)
        table = guard_table.table_of(specification)
        with recording(writer, specification.source, table), guard_table.within_reach(table):
            return execute(specification, writer)


def ready_to_record() -> Any:
    """The installed PyTorch, which from now on computes the same in each run."""
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    torch.utils.deterministic.fill_uninitialized_memory = True
    return torch


@contextlib.contextmanager
def recording(writer: Writer, source: str | None, table: GuardTable | None = None) -> Iterator[None]:
    """Inside, this thread's calls of PyTorch's public functions are written to `writer`, with lines of `source`."""
    from .recorder import UNINITIALISED, UNSEEN

    torch = importlib.import_module("torch")
    overrides = importlib.import_module("torch.overrides")
    base: Any = overrides.TorchFunctionMode

    class Mode(base):  # type: ignore[misc]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name = (overrides.resolve_name(function) or getattr(function, "__name__", "call")).removesuffix(".__get__")
            name = name.rpartition(".")[2]
            if name in UNSEEN or name in _MODES:
                return function(*args, **(kwargs or {}))
            shown = name.strip("_") if name.startswith("__") else name
            line = None if source is None else _line(source)
            where, guards = {} if line is None else {"line": line}, _guards(torch)
            try:
                if table is None:
                    result = function(*args, **(kwargs or {}))
                else:
                    result = table.run_op(function, args, kwargs or {})
            except Exception as error:
                kind = type(error).__name__
                writer.write(
                    "raised", thread=0, op=shown, **where, error=kind, message=str(error)[:2000], guards=guards
                )
                raise
            with torch._C.DisableTorchFunction():
                if name in UNINITIALISED and isinstance(result, torch.Tensor):
                    with contextlib.suppress(RuntimeError):  # `vmap` forbids access to the data
                        result.data.zero_()  # the same garbage in every run
                shown_results = _results(torch, result)
            writer.write("step", thread=0, op=shown, **where, kernels=(), guards=guards, results=shown_results)
            return result

    mode = Mode()
    engine = "_engine_run_backward"
    run: Any = getattr(torch.autograd, engine, None)

    def within(*args: Any, **kwargs: Any) -> Any:
        # What custom Functions do in backward are the program's steps; the mode is off while `backward` itself runs.
        with mode:
            return run(*args, **kwargs)

    if run is not None:
        setattr(torch.autograd, engine, within)
    try:
        with mode:
            yield
    finally:
        if run is not None:
            setattr(torch.autograd, engine, run)


def _guards(torch: Any) -> tuple[str, ...]:
    """The guard that the modes show; several aren't distinguished."""
    inference = torch.is_inference_mode_enabled()
    return ("inference_mode",) if inference else () if torch.is_grad_enabled() else ("no_grad",)


def _line(source: str) -> int | None:
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != source:
        frame = frame.f_back
    return None if frame is None else int(frame.f_lineno)


def _results(torch: Any, result: Any) -> list[Any]:
    if isinstance(result, torch.Tensor):
        inference = result.is_inference()
        data, first = _values(torch, result)
        return [
            {
                "shape": tuple(result.shape),
                "dtype": str(result.dtype).removeprefix("torch."),
                "requires_grad": result.requires_grad,
                "grad_fn": _grad_fn(result),
                "inference": inference,
                "view": result._is_view(),
                "version": None if inference else result._version,
                "data": data,
                "first": first,
            }
        ]
    if isinstance(result, list | tuple) and any(isinstance(item, torch.Tensor) for item in result):
        return [found for item in result for found in _results(torch, item)]
    return [plain(result)]


def _values(torch: Any, result: Any) -> tuple[str, list[str]]:
    """The digest of a tensor's data, and its first elements."""
    try:
        flat = result.detach().contiguous().reshape(-1)
        data = bytes(flat.view(torch.uint8).numpy().tobytes()) if flat.numel() else b""
        return trace_events.data_digest(data), [str(x) for x in flat[:SHOWN_ELEMENTS].tolist()]
    except (RuntimeError, TypeError):  # no memory that can be read: sparse, a batch within vmap, on device "meta"
        return "", []


def _grad_fn(result: Any) -> str | None:
    try:
        node = result.grad_fn
    except RuntimeError:  # a view whose base was written to where it must not be
        return "Invalid"
    return None if node is None else str(node.name())
