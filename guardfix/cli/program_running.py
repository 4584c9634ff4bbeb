"""What `guardfix run` does, once its arguments are known; without click, which takes longer than Python's own start."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from guardfix.regular_files import read_regular

from ..foreign_text import printed
from ..output.plain_echo import echo
from .ending_signals import end_as_interrupted
from .unexpected_errors import status_after

if TYPE_CHECKING:
    import threading

    from guardfix.runtime_shim.cpp import CompilerOptions

_PYTHON = ".py"


def about_shared_cache() -> str:
    """A warning if others could have put compiled programs into the cache, which would then be run; else empty."""
    from guardfix.linter.files.user_cache import user_cache_folder, writable_by_others

    where = user_cache_folder()
    if not writable_by_others(where):
        return ""
    return f"{where}: others can write to this cache; set GUARDFIX_CACHE_DIR to a folder of yours"


def is_python(file: Path) -> bool:
    """Whether `run` executes the file rather than compiles it."""
    return file.suffix == _PYTHON


_COLLECTED_AFTER = 20_000
"""New objects after which Python looks for cycles: importing makes 100,000, and a C++ program hardly makes a cycle."""


def run_named_program(arguments: Sequence[str]) -> None:
    """Run a C++ program that is named without options, which ends this process.

    Returns, with nothing done, where the real command has to read the arguments.
    """
    given = plain_program(arguments)
    if given is None:
        return
    import gc

    gc.set_threshold(_COLLECTED_AFTER)
    end_as_interrupted()
    try:
        status = run_program(*given)
    except Exception as error:
        sys.exit(status_after(error))
    program = sys.modules.get("guardfix.runtime_shim.cpp.cpp_program")
    if program is None:
        sys.exit(status)
    program.leave(status)


def plain_program(arguments: Sequence[str]) -> tuple[Path, tuple[str, ...]] | None:
    """The C++ file and the program's own arguments, where no option is among them; None where something else is."""
    if os.name == "nt" or not arguments:
        return None
    file, *rest = arguments
    if file.startswith("-") or file.endswith(_PYTHON) or not os.path.isfile(file) or not os.access(file, os.R_OK):
        return None
    if rest[:1] == ["--"]:
        return Path(file), tuple(rest[1:])
    return None if any(argument.startswith("-") for argument in rest) else (Path(file), tuple(rest))


def _with_third_parties(file: Path, options: CompilerOptions) -> CompilerOptions:
    """The options, with the folders and libraries of third parties that the file includes, as `verify` finds them."""
    named = re.findall(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', read_regular(file), re.MULTILINE)
    others = [name for name in map(os.fsdecode, named) if not _OF_THE_LANGUAGE.match(name)]
    others = [
        name for name in others if not any((folder / name).is_file() for folder in (file.parent, *options.include))
    ]
    if not others:
        return options
    from ..verify.programs.pkg_config import third_parties

    include, link = third_parties(others)
    # What is named on the command line comes first.
    return replace(options, include=(*options.include, *include), link=(*options.link, *link))


@contextlib.contextmanager
def _reports_guarded() -> Iterator[None]:
    """Inside, what Python itself reports of a program that has the streams for itself is made harmless: its warnings,
    and the errors of its threads, which name its file.
    """
    import threading
    import traceback
    import warnings

    formatted, in_thread = warnings.formatwarning, threading.excepthook

    def warning(*message: Any, **also: Any) -> str:
        return printed(formatted(*message, **also))

    def thread_failed(failure: threading.ExceptHookArgs) -> None:
        kind, error, trace, thread = failure
        if kind is not SystemExit and sys.stderr is not None:
            name = thread.name if thread is not None else threading.get_ident()
            lines = traceback.format_exception(kind, error, trace)
            echo("".join([f"Exception in thread {name}:\n", *lines]), err=True, nl=False)

    warnings.formatwarning, threading.excepthook = warning, thread_failed
    try:
        yield
    finally:
        warnings.formatwarning, threading.excepthook = formatted, in_thread


def _report(shown: str) -> None:
    """What guardfix says of an error that left a Python program."""
    echo(shown, err=True, nl=False)
    _explain(shown)


def _explain(shown: str, source: Path | None = None) -> None:
    """One line after a traceback: what the tensor is and where it was made, and what says more.

    `source` is the file of a C++ program, whose backtrace names functions alone.
    """
    from guardfix.pytorch_messages.message_lookup import message_in

    if message_in(shown) is None:
        return
    from ..why.answers import brief_answer

    paths = []
    if source is not None:
        from guardfix.linter.files.project_root import project_root

        paths = [project_root(str(source.resolve().parent)) or str(source)]
    with contextlib.suppress(Exception):  # the program's error is what counts
        for line in brief_answer(shown, paths):
            echo(line, err=True)


_OF_THE_LANGUAGE = re.compile(r"\w+$|(?:torch|ATen|c10)/")
"""Headers of C++ and of PyTorch, which are not looked for."""
_NOT_FOUND = r"fatal error: '?([^\s':]+)'?(?:: No such file| file not found)"
"""A compiler's error about a header that it doesn't find."""


def run_program(
    file: Path,
    arguments: Sequence[str],
    *,
    trace: bool = False,
    legacy_since19: bool = False,
    all_frames: bool = False,
    backend: str = "guardfix.runtime_shim",
    only_compile: bool = False,
    **options: Any,
) -> int:
    """Compiles and runs a C++ program, or runs a Python one; its exit status, 2 when it could not be run.

    `options` are those of `CompilerOptions`. With `only_compile`, a later run finds the C++ program compiled.
    """
    from guardfix.runtime_shim.cpp import CompilerOptions, ProgramError, compile_program, run_cpp, run_python

    if shared := about_shared_cache():
        echo(f"guardfix run: {shared}", err=True)
        return 2
    if not file.is_file():
        echo(f"guardfix run: {file}: not a regular file", err=True)
        return 2
    how: dict[str, Any] = {"module": backend, "trace": trace, "legacy_since19": legacy_since19}
    try:
        if is_python(file):
            with _reports_guarded():
                return run_python(file, arguments, all_frames=all_frames, at_error=_report, **how)
        compiled_with = _with_third_parties(file, CompilerOptions(**options))
        if only_compile:
            compile_program(file, compiled_with)
            return 0
        return run_cpp(file, arguments, options=compiled_with, at_error=partial(_explain, source=file), **how)
    except ProgramError as error:
        echo(f"guardfix run: {error}", err=True)
        header = None if getattr(error, "missing", None) else re.search(_NOT_FOUND, str(error))
        if header is not None:
            echo(f"Name the folder that {header[1]} is in with `--include`.", err=True)
    except OSError as error:
        echo(f"guardfix run: {error.filename or file}: {error.strerror or error}", err=True)
    return 2
