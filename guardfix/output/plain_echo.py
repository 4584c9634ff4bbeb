"""Writes text as `click.echo` does, without importing click where that makes no difference."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import TextIO


def echo(
    text: str, *, file: TextIO | None = None, err: bool = False, nl: bool = True, color: bool | None = None
) -> None:
    """As `click.echo`: to standard output, a file or standard error, and at once; escape sequences as it has them."""
    stream = file or (sys.stderr if err else sys.stdout)
    may_differ = "\x1b" in text and not color
    if may_differ or os.name == "nt" or not isinstance(stream, io.TextIOWrapper) or _is_ascii(stream.encoding):
        import click

        click.echo(text, file=file, err=err, nl=nl, color=color)
        return
    stream.write(f"{text}\n" if nl else text)
    stream.flush()


def _is_ascii(encoding: str) -> bool:
    """Whether click writes UTF-8 to a stream of this encoding."""
    try:
        return codecs.lookup(encoding).name == "ascii"
    except LookupError:
        return True
