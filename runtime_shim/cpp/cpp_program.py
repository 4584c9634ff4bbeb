"""Running a program in this process: its `main`, its output, its status."""

from __future__ import annotations

import contextlib
import ctypes
import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from . import torch_backend
from .compiler_diagnostics import LoadError, ProgramError, is_of_torch, undefined_symbol
from .compiler_processes import ended_in_order
from .cpp_backend import Backend
from .cpp_compilation import Compiled, CompilerOptions, compile_program
from .extension_module import bound_to

SHIM = "guardfix.runtime_shim"


def run_cpp(
    source: Path,
    arguments: Sequence[str] = (),
    *,
    options: CompilerOptions | None = None,
    module: str = SHIM,
    trace: bool = False,
    legacy_since19: bool = False,
    at_error: Callable[[str], None] | None = None,
) -> int:
    """Compiles the C++ file `source`, calls its main and returns its status.

    `module` is the Python module whose tensors the program's are. `at_error` is called with what was printed of an
    error of PyTorch's that ends the program, and this process. Raises ProgramError and OSError as `compile_program`
    does, and LoadError when there is no main.
    """
    chosen: list[Backend] = []
    with ended_in_order():
        compiled = compile_program(
            source,
            options,
            # importing the module takes as long as a small compilation: at the same time it costs nothing
            meanwhile=lambda: chosen.append(torch_backend.make(module, legacy_since19=legacy_since19)),
        )
    backend = chosen[0] if chosen else torch_backend.make(module, legacy_since19=legacy_since19)
    torch_backend.use(backend)
    with backend.tracing(sys.stderr) if trace else contextlib.nullcontext():
        return call_main(compiled, arguments, at_error=at_error)


def run_python(
    source: Path,
    arguments: Sequence[str] = (),
    *,
    module: str = SHIM,
    trace: bool = False,
    legacy_since19: bool = False,
    all_frames: bool = False,
    at_error: Callable[[str], object] | None = None,
) -> int:
    """Executes the Python file `source` as `__main__` with `torch` bound to `module`; returns its exit status.

    When an exception leaves the program, `at_error` gets its traceback, without the shim's frames unless `all_frames`
    are wanted, and prints it; by default, it is printed as it is. The status is then 1.
    """
    backend = torch_backend.make(module, legacy_since19=legacy_since19)
    before, sys.argv = sys.argv, [str(source), *arguments]
    folder = str(source.resolve().parent)
    sys.path.insert(0, folder)
    try:
        with bound_to(module), backend.tracing(sys.stderr) if trace else contextlib.nullcontext():
            runpy.run_path(str(source), run_name="__main__")
        return 0
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        print(stop.code, file=sys.stderr)
        return 1
    except Exception as error:
        from .compiler_diagnostics import traceback_text

        sys.stdout.flush()
        (at_error or sys.stderr.write)(traceback_text(error, str(source), all_frames=all_frames))
        return 1
    finally:
        sys.argv = before
        with contextlib.suppress(ValueError):  # the program's own doing
            sys.path.remove(folder)
        sys.stdout.flush()


def leave(status: int) -> NoReturn:
    """Ends this process, in which a C++ program has run, as the end of `main` does: by C's `exit`.

    What the program registered with `atexit` is called, and its static objects are destroyed, while the interpreter
    still lives. Taking that apart would take a tenth of a small program's time, for nothing that anybody sees.
    """
    import atexit
    import threading

    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as the interpreter's own end does
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    ctypes.CDLL(None).exit(status)
    raise AssertionError("exit came back")


def call_main(
    compiled: Compiled,
    arguments: Sequence[str] = (),
    *,
    name: str | None = None,
    at_error: Callable[[str], None] | None = None,
) -> int:
    """Loads the program and calls `main(argc, argv)`; `argv[0]` is `name`, or the path of the source.

    An exception that leaves `main` ends the process as it ends any C++ program: with a message on stderr and
    SIGABRT. Returns the status of `main`. Raises LoadError when the program can't be loaded or has no `main`, and
    CompileError when a source that would define what it lacks was left out.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        # PyDLL to load: the program's static objects may make tensors, under the interpreter lock.
        library = ctypes.PyDLL(str(compiled.path))
    except OSError as error:
        raise _load_error(compiled, str(error)) from None
    if not hasattr(library, "main"):
        raise LoadError(f"{compiled.source} defines no main(): there is nothing to run")
    words = [(name or str(compiled.source)).encode(), *(word.encode() for word in arguments)]
    argv = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    # Functions of these types give up the lock while they run, so that the program's threads can have it.
    main = ctypes.cast(library.main, _MAIN)
    if not hasattr(library, "guardfix_run"):  # a program that includes none of our headers
        status = int(main(len(words), argv))
        ctypes.CDLL(None).fflush(None)
        return status
    run = ctypes.cast(library.guardfix_run, _RUN)
    told = _TOLD(lambda shown: at_error(shown.decode("utf-8", "replace")) if at_error is not None else None)
    if at_error is not None:
        library.guardfix_at_error(told)
    with _warnings_of(library):
        return int(run(ctypes.cast(main, ctypes.c_void_p), len(words), argv))


@contextlib.contextmanager
def _warnings_of(library: ctypes.PyDLL) -> Iterator[None]:
    """Inside, the shim's warnings go to the program's handler, each time, as C++ has no place to remember."""
    import warnings

    warn = ctypes.cast(library.guardfix_warn, _WARN)

    def show(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object, **__: object
    ) -> None:
        warn(filename.encode(), lineno, str(message).encode())

    with warnings.catch_warnings():
        warnings.filterwarnings("always", "indexing with dtype torch.uint8")
        warnings.showwarning = show
        yield


_MAIN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p))
_RUN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p))


_TOLD = ctypes.CFUNCTYPE(None, ctypes.c_char_p)
_WARN = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_uint, ctypes.c_char_p)


def _load_error(compiled: Compiled, message: str) -> ProgramError:
    name = undefined_symbol(message)
    if name is not None and compiled.left_out is not None:
        return compiled.left_out
    if name is None:
        return LoadError(f"{compiled.source} was compiled and could not be loaded: {message}")
    if name == "main":
        return LoadError(f"{compiled.source} defines no main(): there is nothing to run")
    if is_of_torch(name):
        return LoadError(
            f"the shim's C++ headers lack {name}, which {compiled.source} declares itself and nothing defines", name
        )
    return LoadError(
        f"{compiled.source} uses {name}, which nothing defines: name the library or object file that does by --link, "
        "or include its source"
    )
