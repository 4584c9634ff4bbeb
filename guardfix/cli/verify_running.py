"""What the forms of `guardfix verify` have in common: consent, the migration, an orderly end."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from ..output.plain_echo import echo
from .command_run import CommandRun, check_with

if TYPE_CHECKING:
    from guardfix.codemods.choice import FixChoice

    from ..verify.judging.verdicts import Verdict
    from ..verify.programs.program_migration import Migration
    from ..verify.runs.program_runs import Limits


class VerifyOptions(Struct, frozen=True):
    """What `guardfix verify` has beside the shared options, as click reads it."""

    against: Path | None
    backend: str
    legacy_since19: bool
    timeout: float | None
    memory: int
    yes: bool
    variables: tuple[str, ...]
    arguments: tuple[str, ...]
    model: str
    include: tuple[str, ...]
    builds: tuple[Path, ...]
    sources: tuple[str, ...]
    tests: str | None
    test_build: str | None
    known_failures: Path | None
    exercise: bool
    examples: int
    save: Path | None
    html: Path | None
    missing: bool
    decide: bool
    define: tuple[str, ...]
    link: tuple[str, ...]
    standard: str
    compiler: str | None
    allow_unsupported: bool
    allow_not_reached: bool
    verbose: bool
    output_format: str


def agree_to_run(run: CommandRun, programs: Sequence[str], *, yes: bool) -> None:
    """Says that programs are about to be run, where that is new. With no one to ask and no `yes` this is the end."""
    from ..output.terminal_layout import wrapped
    from ..verify.runs.consent import is_known, projects_of, remember

    new = [project for project in projects_of(programs) if not is_known(project)]
    if not new:
        return
    if not yes:
        notice = (
            f"guardfix verify is about to run programs of {', '.join(map(str, new))}: in copies, without network, "
            "without writing elsewhere, and within limits, as far as this system supports that. They can read "
            "everything that you can."
        )
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            echo(f"{notice}\nguardfix verify: can't ask without a terminal; pass --yes to agree", err=True)
            sys.exit(2)
        echo("\n".join(wrapped(notice, run.width)), err=True)
        if not click.confirm("Run them?", default=True, err=True):
            sys.exit(2)
    for project in new:
        remember(project)


def allowed_verdicts(options: VerifyOptions) -> set[Verdict]:
    """The verdicts that aren't failures."""
    from ..verify.judging.verdicts import Verdict

    allowed = {Verdict.SAME, Verdict.REPAIRED, Verdict.SKIPPED, Verdict.NOTHING}
    if options.allow_unsupported:
        allowed.add(Verdict.UNSUPPORTED)
    if options.allow_not_reached:
        allowed.add(Verdict.NOT_REACHED)
    return allowed


def run_limits(options: VerifyOptions) -> Limits:
    """What each run of a program may take."""
    from ..verify.runs.program_runs import Limits

    return Limits(options.timeout or Limits.seconds, options.memory << 20)


def migration_of(run: CommandRun, choice: FixChoice, *, embedded: bool) -> Migration:
    """What the fixes come to for the files of a run; says of files that they could not be changed."""
    from guardfix.codemods.apply.leftovers import Why
    from guardfix.codemods.fixable import fixes_for

    from ..verify.programs.program_migration import migrate

    migration = migrate(fixes_for(check_with(run), choice=choice), embedded=embedded)
    for left in migration.left:
        if left.why is Why.REFUSED:
            echo(f"{left.place.path}: not changed: {left.message}", err=True)
    return migration
