"""`guardfix migrate`: fixes, as a diff or in the files."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import click

from ..foreign_text import printable
from ..wording import count_of
from .chosen_fixes import FixOptions, choice_from
from .command_run import SharedOptions, check_with, finished, options_in, run_from, settled_with
from .fix_diff import show_changes, write_diff
from .options import choosing, reading_limits, selection, standard_input
from .standard_input import write_fixed
from .stderr_notes import write_note

if TYPE_CHECKING:
    from guardfix.codemods.apply.settling import Settled
    from guardfix.codemods.fixable import FixableReport

    from .command_run import CommandRun, SharedOptions, options_in


@click.command("migrate", short_help="Show or apply the changes that migrate guards.")
@selection
@reading_limits
@standard_input
@click.option("--apply", is_flag=True, help="Write the changes instead of showing them.")
@click.option(
    "--diff", is_flag=True, help="Show the changes as a diff, even for standard input; the default for paths."
)
@click.option(
    "--interactive",
    "-i",
    is_flag=True,
    help="Ask about each use that stays undecided, then write the changes after a final question.",
)
@choosing
def command(**arguments: Any) -> None:
    """Show the changes that migrate guards as a unified diff, or apply them.

    PATHS are files and directories; by default, the current directory. With `-` and --stdin-filename, the text is
    read from standard input, and the migrated text is printed, or with --diff the diff. Safe fixes don't change the
    meaning of the program. Remaining findings are listed after the diff, with the reason.
    """
    run = run_from(options_in(SharedOptions, arguments), reads_stdin=True)
    if arguments["diff"] and (arguments["apply"] or arguments["interactive"]):
        raise click.UsageError("--diff shows changes and writes none: leave out --apply or --interactive")
    if arguments["interactive"]:
        from .interactive_choices import need_terminal

        if run.standard_input is not None:
            raise click.UsageError("--interactive reads keys from standard input, so name a file or a folder")
        need_terminal()
    from guardfix.codemods.fixable import fixes_for

    from ..output.report_summary import notes

    choice = choice_from(options_in(FixOptions, arguments), run.options.minimum_torch)
    report = fixes_for(check_with(run), choice=choice)
    if arguments["interactive"]:
        sys.exit(finished(report, _ask(report, run)))
    settled = settled_with(report, run)
    if run.standard_input is not None and not arguments["diff"]:
        rewritten = next(iter(settled.rewrites), None)
        write_fixed(run.standard_input, rewritten)
        if not run.quiet:
            _tell_rest(settled, {one.source.path for one in settled.rewrites})
        sys.exit(finished(report, 1 if rewritten and rewritten.refused else 0))
    if arguments["apply"]:
        sys.exit(finished(report, _write(settled, run)))
    shown = write_diff(settled, run)
    if not run.quiet:
        for note in notes(report):
            write_note(note)
        _tell_rest(settled, set())
        if shown.changed:
            write_note(f"Would change {count_of(len(shown.changed), 'file')}; use `--apply` to write.")
        elif not report.findings:
            write_note("Nothing to change.")
    sys.exit(finished(report, shown.status))


def _ask(report: FixableReport, run: CommandRun) -> int:
    """Ask about the uses that stay open, and write what comes of it if the person says so; the exit status."""
    from guardfix.codemods.apply.applying import refusal
    from guardfix.codemods.apply.settling import settle

    from .interactive_choices import ask_for_choices, confirm_writing
    from .interrupted_choices import forget_choices

    settled = settle(report, ask_for_choices(report, color=run.color))
    changed = [rewritten for rewritten in settled.rewrites if rewritten.changed]
    if not changed:
        forget_choices()
        for rewritten in settled.rewrites:
            write_note(printable(refusal(rewritten)))
        write_note("Nothing to change.")
        return 1 if settled.rewrites else 0
    wanted = confirm_writing(len(changed), lambda: show_changes(changed, run))
    forget_choices()
    if not wanted:
        write_note("Nothing was written.")
        return 1
    return _write(settled, run)


def _write(settled: Settled, run: CommandRun) -> int:
    """Write the files, and tell what was done and what is left; the exit status."""
    from guardfix.codemods.apply.applying import write_settled

    outcome = write_settled(settled)
    for line in outcome.lines():
        write_note(printable(line))
    if not run.quiet:
        _tell_rest(settled, {one.source.path for one in outcome.written})
        if not outcome.written and not outcome.failed and not outcome.refused:
            write_note("Nothing to change.")
    return 2 if outcome.failed else 1 if outcome.refused else 0


def _tell_rest(settled: Settled, written: Collection[str]) -> None:
    """One line for each kind of finding that stays as it is, with the reason and the places, which are those in the
    files as they are now; then what can be done about them."""
    from guardfix.codemods.apply.leftovers import Why, why_left
    from guardfix.linter.facts import Span
    from guardfix.linter.files.source_positions import SourcePositions

    from ..output.report_summary import is_for_a_person

    report = settled.last
    refused = {one.source.path: one.refused for one in settled.rewrites}
    before = SourcePositions(settled.first.workspace)
    kinds: dict[str, list[str]] = {}
    undecided = 0
    for finding in report.findings:
        if finding.path in written:
            start = report.start(finding)
        else:
            offset = settled.place_before(finding)
            start = before.start(finding.path, Span(offset, offset))
        why, message = why_left(finding, report.choice, refused.get(finding.path, ""))
        if why is not Why.REFUSED:  # that is reported with the file
            words = "needs --unsafe" if why is Why.UNSAFE else why
            place = f"{printable(finding.path)}:{start.row}:{start.column}"
            kinds.setdefault(f"{finding.code} {words}: {message}", []).append(place)
            undecided += why is Why.NO_FIX and is_for_a_person(finding)
    for kind, (first, *others) in kinds.items():
        write_note(f"{first}: {kind}{_also(others)}")
    if undecided:
        need = "needs" if undecided == 1 else "need"
        write_note(f"{undecided} {need} your decision: `guardfix migrate --interactive`.")


_SHOWN_PLACES = 3


def _also(places: list[str]) -> str:
    """The other places with the same message."""
    if not places:
        return ""
    more = f" and {len(places) - _SHOWN_PLACES} more" if len(places) > _SHOWN_PLACES else ""
    return f" (also {', '.join(places[:_SHOWN_PLACES])}{more})"
