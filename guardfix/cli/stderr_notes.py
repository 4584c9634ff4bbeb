"""Notes, what is left, and errors, on standard error: broken at blanks where a terminal is too narrow for them."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from ..foreign_text import printable
from ..output.plain_echo import echo
from ..output.terminal_layout import TAB, terminal_width, wrapped

if TYPE_CHECKING:
    import click


def write_note(line: str) -> None:
    """Write a line to standard error."""
    for part in wrapped(printable(line), terminal_width(sys.stderr), indent=TAB):
        echo(part, err=True)


def show_error(error: click.ClickException) -> None:
    """Write what click says of an error, which it would leave to the terminal to break."""
    import click

    width = terminal_width(sys.stderr)
    is_help = isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ()))  # click has wrapped that
    if width is not None and not is_help:
        first, *others = error.format_message().split("\n")
        lines = wrapped(first, width, first=len("Error: "), indent=TAB)
        text = "\n".join([*lines, *(part for line in others for part in wrapped(line, width, indent=TAB))])
        setattr(error, "format_message", lambda: text)  # noqa: B010 (mypy knows it as a method)
    said = io.StringIO()
    error.show(said)
    echo(said.getvalue(), err=True, nl=False)
