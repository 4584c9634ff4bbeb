"""What `guardfix check` does with its arguments."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from msgspec.structs import replace

from guardfix.codemods.choice import FixChoice

from ..foreign_text import printable
from .chosen_fixes import choice_from
from .command_run import CommandRun, check_with, finished, run_from, settled_with
from .finding_filters import FindingFilters
from .lazy_click_errors import usage_error
from .reporting import Reporting
from .standard_input import write_fixed
from .stderr_notes import write_note

if TYPE_CHECKING:
    from guardfix.codemods.fixable import FixableReport

NO_PATCH = ""
"""What `--diff` has without a value."""


def check(arguments: dict[str, Any]) -> NoReturn:
    """Run a check with the arguments of the command, which it takes out; ends with the exit status."""
    patch_option = _sort_out_diff(arguments)
    given = dict(arguments)
    executor = _executor_name(arguments)
    run = replace(run_from(arguments), executor=executor)
    choice = choice_from(arguments, run.options.minimum_torch)
    told = Reporting.of(arguments, run)
    fix_only, diff = arguments["fix_only"], arguments["diff"]
    fix = arguments["fix"] or fix_only
    if not (fix or diff) and choice != FixChoice():
        raise usage_error("--unsafe, --no-hoist, --remove-redundant, --preserve and --compat need --fix or --diff")
    if arguments["add_noqa"] and (fix or diff or run.standard_input is not None):
        raise usage_error("--add-noqa can't be combined with --fix, --diff or standard input")
    counting = FindingFilters.of(arguments, run, fixes=fix, patch_option=patch_option)
    if arguments["watch"]:
        from .watching import watch

        if fix or diff or arguments["add_noqa"] or run.standard_input is not None or counting.changed_in == "-":
            raise usage_error("--watch can't be combined with --fix, --diff, --add-noqa or standard input")
        watch(run, lambda: _report_anew(given))
        sys.exit(0)
    if arguments["add_noqa"]:
        from .add_noqa import add_comments

        report = counting.apply(_checked(run, choice), run)
        sys.exit(finished(report, add_comments(report, run)))
    if diff:
        from .fix_diff import show_fixes

        report = counting.apply(_checked(run, choice), run)
        sys.exit(finished(report, show_fixes(report, run)))
    if not fix:
        report = counting.apply(_checked(run, choice), run)
        told.write(report, run)
        sys.exit(finished(report, told.status(report)))
    report, changed, failed = _fixed(run, choice, counting)
    if fix_only:
        sys.exit(finished(report, 2 if failed else 1 if changed and told.exit_non_zero_on_fix else 0))
    told.write(report, run, sys.stderr if run.standard_input is not None else None)
    sys.exit(finished(report, told.status(report, changed=changed, failed=failed)))


def _sort_out_diff(arguments: dict[str, Any]) -> str:
    """Make a flag of `diff`, as Ruff has it, and `changed_in` of a patch that it names; the option that names one.

    Ruff's users write `check --diff src/`: what can be checked is a path, and another file is a patch.
    """
    given, paths = arguments["diff"], arguments["paths"]
    arguments["diff"] = given is not None
    if given is None or given == NO_PATCH:
        return "--changed-in"
    if _can_be_checked(given) or (given == "-" and arguments["stdin_filename"] is not None):
        arguments["paths"] = tuple(dict.fromkeys((*paths, given)))
        return "--changed-in"
    if arguments["changed_in"] is not None:
        raise usage_error("--diff FILE and --changed-in mean the same; use only one of them")
    arguments["diff"], arguments["changed_in"] = False, given
    return "--diff"


def _can_be_checked(path: str) -> bool:
    """Whether a path is one for PATHS: a folder, a list of paths, or a file of a language that guardfix reads."""
    from guardfix.linter.files import prefilter_table
    from guardfix.linter.files.languages import language_of

    languages = {**prefilter_table.LANGUAGES, **prefilter_table.ON_REQUEST}
    return os.path.isdir(path) or path.startswith("@") or language_of(path, languages) is not None


def _executor_name(arguments: dict[str, Any]) -> str:
    """Take the executor out of the arguments; empty for processes of this run, which alone keep limits."""
    executor: str = arguments.pop("executor")
    if executor == "local":
        return ""
    if arguments["watch"] or arguments["timeout_per_file"] or arguments["reading_memory"]:
        raise usage_error("--executor can't be combined with --watch, --timeout-per-file or --memory")
    return executor


def _report_anew(given: dict[str, Any]) -> None:
    """The whole check, with the configuration as it is now."""
    arguments = dict(given)
    del arguments["executor"]
    run = run_from(arguments)
    choice = choice_from(arguments, run.options.minimum_torch)
    told, counting = Reporting.of(arguments, run), FindingFilters.of(arguments, run, fixes=False)
    told.write(counting.apply(_checked(run, choice), run), run)


def _checked(run: CommandRun, choice: FixChoice) -> FixableReport:
    found = check_with(run, _import_the_rest)
    from guardfix.codemods.fixable import fixes_for

    return fixes_for(found, choice=choice)


def _fixed(run: CommandRun, choice: FixChoice, counting: FindingFilters) -> tuple[FixableReport, bool, bool]:
    """(what is left after the fixes, whether something was changed, whether a file could not be written)."""
    from guardfix.codemods.apply.applying import write_settled
    from guardfix.codemods.apply.settling import settle

    report = counting.apply(_checked(run, choice), run, tell=False)
    if run.standard_input is not None:
        fixed = write_fixed(run.standard_input, next(iter(settle(report).rewrites), None))
        return counting.apply(_checked(run.with_text(fixed), choice), run), fixed != run.standard_input, False
    outcome = write_settled(settled_with(report, run))
    for line in outcome.lines():
        write_note(printable(line))
    return counting.apply(_checked(run, choice), run), bool(outcome.written), bool(outcome.failed)


def _import_the_rest() -> None:
    """What is imported before the files are read keeps the processes that read them waiting; afterwards, the user."""
    from guardfix.codemods import fixable

    from ..output import full_format, report_summary

    _ = fixable, report_summary, full_format
