"""What `guardfix check` does with its arguments."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from guardfix.codemods.choice import FixChoice

from ..foreign_text import printable
from .chosen_fixes import FixOptions, choice_from
from .command_run import CommandRun, SharedOptions, check_with, finished, options_in, run_from, settled_with
from .finding_filters import FilterOptions, FindingFilters
from .lazy_click_errors import usage_error
from .reporting import Reporting
from .standard_input import write_fixed
from .stderr_notes import write_note

if TYPE_CHECKING:
    from guardfix.codemods.fixable import FixableReport

NO_PATCH = ""
"""What `--diff` has without a value."""


class CheckOptions(Struct, frozen=True):
    """What `guardfix check` was asked; the defaults are those of its options."""

    shared: SharedOptions
    fixes: FixOptions
    reporting: Reporting
    filters: FilterOptions
    fix: bool = False
    fix_only: bool = False
    add_noqa: bool = False
    watch: bool = False
    diff: str | None = None
    executor: str = "local"

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> CheckOptions:
        """The options among the arguments that click passes to the command."""
        own = ("fix", "fix_only", "add_noqa", "watch", "diff", "executor")
        return cls(
            options_in(SharedOptions, arguments),
            options_in(FixOptions, arguments),
            options_in(Reporting, arguments),
            options_in(FilterOptions, arguments),
            **{name: arguments[name] for name in own if name in arguments},
        )


def check(given: CheckOptions) -> NoReturn:
    """Run a check, which ends with the exit status."""
    options, patch_option = _with_patch(given)
    executor = _executor_name(options)
    run = replace(run_from(options.shared, reads_stdin=True), executor=executor)
    choice = choice_from(options.fixes, run.options.minimum_torch)
    reporting = options.reporting.for_run(run)
    fix, diff = options.fix or options.fix_only, options.diff is not None
    if not (fix or diff) and choice != FixChoice():
        raise usage_error("--unsafe, --no-hoist, --remove-redundant, --preserve and --compat need --fix or --diff")
    if options.add_noqa and (fix or diff or run.standard_input is not None):
        raise usage_error("--add-noqa can't be combined with --fix, --diff or standard input")
    filters = FindingFilters.of(options.filters, run, fixes=fix, patch_option=patch_option)
    if options.watch:
        from .watching import watch

        if fix or diff or options.add_noqa or run.standard_input is not None or filters.changed_in == "-":
            raise usage_error("--watch can't be combined with --fix, --diff, --add-noqa or standard input")
        watch(run, lambda: _check_again(options))
        sys.exit(0)
    if options.add_noqa:
        from .add_noqa import add_comments

        report = filters.apply(_checked(run, choice), run)
        sys.exit(finished(report, add_comments(report, run)))
    if diff:
        from .fix_diff import show_fixes

        report = filters.apply(_checked(run, choice), run)
        sys.exit(finished(report, show_fixes(report, run)))
    if not fix:
        report = filters.apply(_checked(run, choice), run)
        reporting.write(report, run)
        sys.exit(finished(report, reporting.status(report)))
    report, changed, failed = _fixed(run, choice, filters)
    if options.fix_only:
        sys.exit(finished(report, 2 if failed else 1 if changed and reporting.exit_non_zero_on_fix else 0))
    reporting.write(report, run, sys.stderr if run.standard_input is not None else None)
    sys.exit(finished(report, reporting.status(report, changed=changed, failed=failed)))


def _with_patch(options: CheckOptions) -> tuple[CheckOptions, str]:
    """The options with `diff` only for fixes that are shown, and the option that names a patch.

    Ruff's users write `check --diff src/`: what can be checked is a path, and another file is a patch.
    """
    given, shared, filters = options.diff, options.shared, options.filters
    if given is None or given == NO_PATCH:
        return options, "--changed-in"
    if _can_be_checked(given) or (given == "-" and shared.stdin_filename is not None):
        paths = tuple(dict.fromkeys((*shared.paths, given)))
        return replace(options, shared=replace(shared, paths=paths), diff=NO_PATCH), "--changed-in"
    if filters.changed_in is not None:
        raise usage_error("--diff FILE and --changed-in mean the same; use only one of them")
    return replace(options, filters=replace(filters, changed_in=given), diff=None), "--diff"


def _can_be_checked(path: str) -> bool:
    """Whether a path is one for PATHS: a folder, a list of paths, or a file of a language that guardfix reads."""
    from guardfix.linter.files import prefilter_table
    from guardfix.linter.files.languages import language_of

    languages = {**prefilter_table.LANGUAGES, **prefilter_table.ON_REQUEST}
    return os.path.isdir(path) or path.startswith("@") or language_of(path, languages) is not None


def _executor_name(options: CheckOptions) -> str:
    """The executor; empty for processes of this run, which alone keep limits."""
    if options.executor == "local":
        return ""
    if options.watch or options.shared.timeout_per_file or options.shared.reading_memory:
        raise usage_error("--executor can't be combined with --watch, --timeout-per-file or --memory")
    return options.executor


def _check_again(options: CheckOptions) -> None:
    """The whole check, with the configuration as it is now."""
    run = run_from(options.shared, reads_stdin=True)
    choice = choice_from(options.fixes, run.options.minimum_torch)
    filters = FindingFilters.of(options.filters, run, fixes=False)
    options.reporting.for_run(run).write(filters.apply(_checked(run, choice), run), run)


def _checked(run: CommandRun, choice: FixChoice) -> FixableReport:
    found = check_with(run, _import_the_rest)
    from guardfix.codemods.fixable import fixes_for

    return fixes_for(found, choice=choice)


def _fixed(run: CommandRun, choice: FixChoice, filters: FindingFilters) -> tuple[FixableReport, bool, bool]:
    """(what is left after the fixes, whether something was changed, whether a file could not be written)."""
    from guardfix.codemods.apply.applying import write_settled
    from guardfix.codemods.apply.settling import settle

    report = filters.apply(_checked(run, choice), run, tell=False)
    if run.standard_input is not None:
        fixed = write_fixed(run.standard_input, next(iter(settle(report).rewrites), None))
        return filters.apply(_checked(run.with_text(fixed), choice), run), fixed != run.standard_input, False
    outcome = write_settled(settled_with(report, run))
    for line in outcome.lines():
        write_note(printable(line))
    return filters.apply(_checked(run, choice), run), bool(outcome.written), bool(outcome.failed)


def _import_the_rest() -> None:
    """What is imported before the files are read keeps the processes that read them waiting; afterwards, the user."""
    from guardfix.codemods import fixable

    from ..output import full_format, report_summary

    _ = fixable, report_summary, full_format
