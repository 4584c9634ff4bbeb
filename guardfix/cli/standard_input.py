"""A text on standard input instead of a file: `guardfix check - --stdin-filename PATH`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from guardfix.regular_files import read_regular_text

from ..foreign_text import printable
from ..output.plain_echo import echo, write_bytes
from .lazy_click_errors import failure, usage_error

if TYPE_CHECKING:
    from guardfix.codemods.apply.rewriting import Rewrite


def paths_and_text(
    given: Sequence[str], stdin_filename: str | None, *, reads_stdin: bool
) -> tuple[tuple[str, ...], bytes | None]:
    """The paths that a command was given, and the text of standard input if they ask for that."""
    paths = tuple(path for one in given for path in _listed(one))
    if given and not paths:
        return (), None  # an empty list of paths is not the working folder
    if not reads_stdin or (stdin_filename is None and "-" not in paths):
        return paths or (os.curdir,), None
    if stdin_filename is None:
        raise usage_error("`-` means standard input: add --stdin-filename, whose suffix determines the language")
    if paths not in ((), ("-",)):
        raise usage_error("--stdin-filename reads a single text from standard input: give no path other than `-`")
    if sys.stdin is None:
        raise failure("standard input is closed")
    return (stdin_filename,), sys.stdin.buffer.read()


def _listed(path: str) -> list[str]:
    """The paths that an argument stands for: those in FILE, one a line, for `@FILE`; else itself."""
    if not path.startswith("@") or os.path.exists(path):
        return [path]
    try:
        return read_regular_text(path[1:], "surrogateescape", pipes=True).splitlines()
    except OSError as error:
        raise failure(f"{path}: {error.strerror or error}") from None


def write_fixed(text: bytes, rewritten: Rewrite | None) -> bytes:
    """Print what the fixes make of the text that was read; where they make nothing, as it was. The text."""
    from guardfix.codemods.apply.applying import refusal

    if rewritten is not None and rewritten.refused:
        echo(printable(refusal(rewritten)), err=True)
    if rewritten is not None and rewritten.changed:
        text = rewritten.source.encode(rewritten.text)
    write_bytes(text)
    return text
