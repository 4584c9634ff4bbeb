"""Standard output and standard error when they are closed, full, or no longer read."""

from __future__ import annotations

import errno
import io
import os
import sys


def open_streams() -> None:
    """Make standard output and error take whatever is written.

    A process that was started without them (`>&-`) gets some that go nowhere; a character that the locale's
    encoding lacks is written as its escape.
    """
    if None in (sys.stdin, sys.stdout, sys.stderr):
        _fill_descriptors()
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")
        elif stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, it lives as long as the process


def _fill_descriptors() -> None:
    """Open what goes nowhere where a stream's descriptor is closed: another file would get its number, and what is
    started would write into that."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            os.dup2(opened, number)
            os.set_inheritable(number, True)
            if opened != number:
                os.close(opened)


def guard_streams() -> None:
    """Make nothing from outside reach standard output and error as it is, even by a traceback or a library's warning.

    A program that this process runs (`guardfix run`) has the streams for itself instead.
    """
    from ..output.plain_echo import PrintingStream

    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if type(stream) is io.TextIOWrapper:
            guarded = PrintingStream.around(stream)
            setattr(sys, name, guarded)
            setattr(sys, f"__{name}__", guarded)  # the old one has been taken apart


ENOUGH_DESCRIPTORS = 64


def too_few_descriptors(error: Exception) -> int:
    """The exit status if there were too few file descriptors, after an error message; 0 if there were enough.

    An import that cannot open a file says that there is no such module.
    """
    limit = _descriptors()
    exhausted = isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)
    if not exhausted and not (limit < ENOUGH_DESCRIPTORS and isinstance(error, (ImportError, OSError))):
        return 0
    sys.stderr.write(
        f"guardfix: too many open files: {limit} may be open at a time, and {ENOUGH_DESCRIPTORS} are enough "
        "(see `ulimit -n`)\n"
    )
    return 2


def _descriptors() -> int:
    """How many files this process may have open at a time."""
    try:
        import resource
    except ImportError:  # there is no such limit, or no descriptor left to read the module with
        return ENOUGH_DESCRIPTORS if os.name == "nt" else 0
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def cannot_go_on(error: OSError) -> int:
    """The exit status after an error of the system; 1, and not a word, when the reader (`| head`) has seen enough.

    click also ends its commands with 1 in that case.
    """
    if error.errno != errno.EPIPE:
        from ..foreign_text import printed

        what = f"{error.filename}: " if error.filename else "cannot write the output: "
        sys.stderr.write(printed(f"guardfix: {what}{error.strerror or error}\n"))
    if not error.filename:
        # What is still buffered cannot be written either; at exit Python would try, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1 if error.errno == errno.EPIPE else 2
