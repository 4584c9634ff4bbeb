"""How a check's findings are reported: the format, where it goes, what is counted, and the exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ..output.format_registry import ALIASES, DEFAULT_FORMAT, Output, format_names, load_format
from ..output.terminal_layout import TAB, terminal_width, wrapped
from .command_run import CommandRun
from .lazy_click_errors import failure, usage_error
from .stderr_notes import write_note

if TYPE_CHECKING:
    from guardfix.codemods.fixable import FixableReport

F = TypeVar("F", bound=Callable[..., Any])


def reporting(command: F) -> F:
    """The options that say how findings are reported; `Reporting` has them."""
    import click

    from .options import output_format_option

    for option in reversed(
        (
            output_format_option("findings", help="The output format.", envvar="GUARDFIX_OUTPUT_FORMAT", default=None),
            click.option(
                "--output-file",
                "-o",
                metavar="FILE",
                envvar="GUARDFIX_OUTPUT_FILE",
                type=click.Path(dir_okay=False),
                help="Write the findings to FILE instead of standard output.",
            ),
            click.option("--statistics", is_flag=True, help="Count the findings of each rule instead of listing them."),
            click.option(
                "--verbose", "-v", is_flag=True, help="Also tell which functions were not followed to their ends."
            ),
            click.option("--exit-zero", "-e", is_flag=True, help="Exit with 0 even if there are findings."),
            click.option(
                "--exit-non-zero-on-fix",
                is_flag=True,
                help="Exit with 1 if a fix changed a file, even if no findings are left.",
            ),
        )
    ):
        command = option(command)
    return command


class Reporting(Struct, frozen=True):
    """The options of `reporting`."""

    output_format: str | None = None
    output_file: str | None = None
    statistics: bool = False
    verbose: bool = False
    exit_zero: bool = False
    exit_non_zero_on_fix: bool = False

    def for_run(self, run: CommandRun) -> Reporting:
        """The same in the format that the configuration asks for, if no option does."""
        chosen = self.output_format or run.output_format or DEFAULT_FORMAT
        chosen = ALIASES.get(chosen, chosen)
        if chosen not in format_names("findings"):
            from .command_failure import did_you_mean

            guess = did_you_mean(chosen, format_names("findings"))
            raise failure(
                f"{run.configuration or '--config'}: `output-format` is `{chosen}`{guess or ', which is not a format'}"
            )
        if self.statistics and load_format(chosen).statistics is None:
            raise usage_error(f"--statistics can't be written as {chosen}; use full or json")
        return replace(self, output_format=chosen)

    def write(self, report: FixableReport, run: CommandRun, stream: TextIO | None = None) -> None:
        """Write the findings, and the notes beside them, to a stream, the chosen file or standard output."""
        from ..output.report_summary import notes, summary

        output_format = load_format(self.output_format or DEFAULT_FORMAT)
        with self._output(run, stream) as output:
            if self.statistics:
                from ..output.statistics import counts_of

                assert output_format.statistics is not None, "checked when the options were read"
                output_format.statistics(counts_of(report), output)
            else:
                output_format.findings(report, output)
            if not run.quiet:
                for note in notes(report, verbose=self.verbose):
                    for line in wrapped(note, terminal_width(sys.stderr), indent=TAB):
                        write_note(line)
                if not output_format.for_machines:
                    output.write(summary(report, output.width, run.paths), newline=False)

    @contextmanager
    def _output(self, run: CommandRun, stream: TextIO | None) -> Iterator[Output]:
        if self.output_file is None or stream is not None:
            yield replace(run.output(), stream=stream)
            return
        try:
            os.makedirs(os.path.dirname(os.path.abspath(self.output_file)), exist_ok=True)
            with open(self.output_file, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                yield Output(file)
        except OSError as error:
            raise failure(f"{self.output_file}: cannot be written: {error.strerror or error}") from None

    def status(self, report: FixableReport, *, changed: bool = False, failed: bool = False) -> int:
        """The exit status: 2 when a file could not be written, 1 when findings are left."""
        if failed:
            return 2
        if changed and self.exit_non_zero_on_fix:
            return 1
        return 1 if report.findings and not self.exit_zero else 0
