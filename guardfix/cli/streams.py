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
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")
        elif stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, it lives as long as the process


def cannot_go_on(error: OSError) -> int:
    """The exit status after an error of the system; 1, and not a word, when the reader (`| head`) has seen enough.

    click ends its commands with 1 in that case, too.
    """
    if error.errno != errno.EPIPE:
        what = f"{error.filename}: " if error.filename else "cannot write the output: "
        sys.stderr.write(f"guardfix: {what}{error.strerror or error}\n")
    if not error.filename:
        # What is still buffered cannot be written either; at exit Python would try, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1 if error.errno == errno.EPIPE else 2
