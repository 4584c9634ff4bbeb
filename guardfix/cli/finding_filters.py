"""Which of a check's findings count: those that a baseline doesn't hold, and those on changed lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from ..foreign_text import printable
from ..wording import count_of
from .command_run import CommandRun
from .lazy_click_errors import failure, usage_error
from .stderr_notes import write_note

if TYPE_CHECKING:
    from guardfix.codemods.fixable import FixableReport

    from ..adoption.baseline import Baseline
    from ..adoption.changed_lines import ChangedLines

F = TypeVar("F", bound=Callable[..., Any])


def filtering_options(command: F) -> F:
    """The options that leave findings out; `FilterOptions` has them."""
    import click

    for option in reversed(
        (
            click.option(
                "--baseline",
                metavar="FILE",
                type=click.Path(dir_okay=False),
                help="Skip the findings in FILE, which `guardfix baseline create` writes.",
            ),
            click.option("--no-baseline", is_flag=True, help="Use no baseline, even if the configuration names one."),
            click.option(
                "--since",
                metavar="REF",
                help="Report only findings on lines that changed since the branch forked from REF in git.",
            ),
            click.option(
                "--changed-in",
                metavar="FILE",
                help="Report only findings on lines that the unified diff in FILE adds; `-` means standard input.",
            ),
        )
    ):
        command = option(command)
    return command


class FilterOptions(Struct, frozen=True):
    """The options of `filtering_options`."""

    baseline: str | None = None
    no_baseline: bool = False
    since: str | None = None
    changed_in: str | None = None


class FindingFilters(Struct, frozen=True):
    """What the options of `filtering_options` come to."""

    baseline: str | None
    since: str | None
    changed_in: str | None
    diff: ChangedLines | None
    """What `changed_in` holds: standard input can be read only once."""

    @property
    def is_narrow(self) -> bool:
        """Whether there is anything that could leave findings out."""
        return self.baseline is not None or self.since is not None or self.diff is not None

    @classmethod
    def of(
        cls, options: FilterOptions, run: CommandRun, *, fixes: bool, patch_option: str = "--changed-in"
    ) -> FindingFilters:
        """Join the options with the configuration. `patch_option` is the one that the patch was given by."""
        since, changed_in = options.since, options.changed_in
        baseline = options.baseline if options.baseline is not None else run.baseline or None
        if options.no_baseline:
            baseline = None
        if changed_in is not None and (fixes or since is not None):
            other = "--since" if since is not None else "--fix"
            raise usage_error(f"{patch_option} FILE can't be combined with {other}")
        if changed_in == "-" and run.standard_input is not None:
            raise usage_error("standard input can't be both the text and the diff")
        return cls(baseline, since, changed_in, _diff(changed_in, patch_option))

    def apply(self, report: FixableReport, run: CommandRun, *, tell: bool = True) -> FixableReport:
        """The report with the findings that count; standard error says what was left out."""
        if self.is_narrow:
            # A further pass would offer the fixes of what is left out here.
            report.over = None
        if self.baseline is not None:
            compared = read_baseline(self.baseline).compared(report)
            new = set(map(id, compared.new))
            report.findings = [finding for finding in report.findings if id(finding) in new]
            name = printable(self.baseline)
            if tell and not run.quiet and compared.passed_over:
                write_note(f"note: skipped {count_of(compared.passed_over, 'finding')} listed in {name}")
            if tell and not run.quiet and compared.stale:
                gone = count_of(compared.stale.total(), "finding")
                write_note(f"note: no longer found: {gone} listed in {name}; run `guardfix baseline update`")
        lines = self.diff
        if self.since is not None:
            from ..adoption.changed_lines import NoDiff, lines_since

            try:
                lines = lines_since(self.since)
            except NoDiff as error:
                raise failure(f"--since: {error}") from None
        if lines is not None:
            report.findings = [finding for finding in report.findings if lines.touch(report, finding)]
        return report


def read_baseline(path: str) -> Baseline:
    """The baseline of a file; a run cannot be made without it."""
    from ..adoption.baseline import BadBaseline, Baseline

    try:
        return Baseline.read(path)
    except BadBaseline as error:
        raise failure(f"--baseline: {error}") from None


def _diff(path: str | None, option: str) -> ChangedLines | None:
    if path is None:
        return None
    from ..adoption.changed_lines import NoDiff, lines_of_diff, read_diff
    from ..output.finding_places import repository_top

    try:
        return lines_of_diff(read_diff(path), ".", repository_top())
    except NoDiff as error:
        others = (
            "to show what the fixes would change, give `--diff` no file; for what changed since a commit, `--since`"
        )
        hint = f"; {others}" if option == "--diff" else ""
        raise failure(f"{option}: {error}{hint}") from None
