"""`guardfix verify --html`: the page, written to a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..foreign_text import printable
from ..output.plain_echo import echo
from ..wording import count_of
from .command_failure import Failure, raise_unless_missing

if TYPE_CHECKING:
    from ..verify.verifying import Result
    from .verify_running import VerifyOptions

_OTHER_ANSWERS = {"tests": "--test", "exercise": "--exercise", "decide": "--decide"}
PAGE_LIBRARIES = ("grandalf", "jinja2", "markupsafe", "pygments")
"""What the pages need, by the names under which they are imported."""


def check_page_options(options: VerifyOptions) -> None:
    """Raises click.UsageError if there are no programs to show, Failure if the page's libraries are missing."""
    for name, option in _OTHER_ANSWERS.items():
        if getattr(options, name):
            raise click.UsageError(f"--html shows the steps of programs, but {option} runs something else")
    try:
        from ..report import verify_page
    except ImportError as error:
        why = "--html needs grandalf, Jinja2 and Pygments: `pip install 'guardfix[report]'`"
        raise_unless_missing(error, PAGE_LIBRARIES, why)
    assert verify_page


def write_verify_page(page: Path, results: Sequence[Result], backend: str, *, quiet: bool) -> None:
    """Writes the page; raises Failure where that can't be done."""
    from ..package_version import VERSION
    from ..report.verify_page import verify_page

    text = verify_page(results, version=VERSION, backend=backend)
    try:
        with open(page, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise Failure(f"{page}: {error.strerror or error}") from None
    if not quiet:
        echo(f"Wrote {printable(str(page))}: {count_of(len(results), 'program')}.", err=True)
