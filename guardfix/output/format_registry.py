"""An output format is one file in this folder, `NAME_format.py`. It is found by itself; there is no list to edit.

The file ends in `FORMAT = OutputFormat(...)`, which says what the format can write. `guardfix check` offers every
format, `guardfix verify` and `guardfix rules` those that can write verdicts and rules.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal, TextIO

from msgspec import Struct

from .plain_echo import echo

if TYPE_CHECKING:
    from guardfix.codemods.fixable import FixableReport
    from guardfix.linter.rule import Rule

    from ..verify.verifying import Result

DEFAULT_FORMAT = "full"
ALIASES = {"text": "full"}
"""Other names of formats, which are taken and not offered."""
_SUFFIX = "_format.py"


class Output(Struct, frozen=True):
    """Where a format writes, and what suits the place."""

    stream: TextIO | None = None
    """Standard output when None."""
    color: bool = False
    links: bool = False
    """Whether texts can lead to addresses (OSC 8)."""
    width: int | None = None
    """Columns of the terminal; None where no line is broken, as in a file or a pipe."""
    verbose: bool = False
    """Whether everything is wanted, also what is left out for brevity."""

    def write(self, text: str, *, newline: bool = True) -> None:
        """Write a text and hand it on at once, as `echo` does."""
        echo(text, file=self.stream, nl=newline)


class OutputFormat(Struct, frozen=True):
    """What a format can write, each by a function."""

    findings: Callable[[FixableReport, Output], None]
    """Writes what `guardfix check` found. `SourcePositions(report.workspace)` gives rows and columns."""
    verdicts: Callable[[Iterable[Result], str, Output], None] | None = None
    """Writes the results of `guardfix verify` on a backend. They come one by one, as programs end."""
    rules: Callable[[Sequence[Rule], Output], None] | None = None
    """Writes the list of rules."""
    for_machines: bool = False
    """Nothing else may be in the output; formats for people are followed by a summary."""
    statistics: Callable[[Sequence[RuleCount], Output], None] | None = None
    """Writes how many findings each rule has."""


class RuleCount(Struct, frozen=True):
    """How many findings a rule has, and how many of them have a fix that would be applied."""

    code: str
    name: str
    count: int
    fixable: int


Subject = Literal["findings", "verdicts", "rules"]
"""What a command has to show."""


def format_names(subject: Subject) -> list[str]:
    """The formats that can write it, the default first; none is imported for findings, which all can write."""
    files = (name for name in os.listdir(os.path.dirname(__file__)) if name.endswith(_SUFFIX))
    names = sorted((name.removesuffix(_SUFFIX).replace("_", "-") for name in files), key=_default_first)
    return [name for name in names if subject == "findings" or getattr(load_format(name), subject) is not None]


def _default_first(name: str) -> tuple[bool, str]:
    return name != DEFAULT_FORMAT, name


@cache
def load_format(name: str) -> OutputFormat:
    """The format of that name, one of `format_names`."""
    module = importlib.import_module(f"{__package__}.{name.replace('-', '_')}{_SUFFIX[:-3]}")
    found: OutputFormat = module.FORMAT
    return found
