"""`guardfix test-rules`: fixtures against the findings that their comments expect."""

from __future__ import annotations

import sys
from typing import Any

import click

from ..foreign_text import printable
from ..output.plain_echo import echo
from ..wording import count_of
from .command_failure import Failure, no_such_rule
from .command_run import SharedOptions, options_in, run_from
from .options import reading_limits, selection


@click.command("test-rules", short_help="Check fixtures against the findings that their comments expect.")
@selection
@reading_limits
def command(**arguments: Any) -> None:
    """Check each file at and below PATHS separately, and compare the findings with the comments in it.

    A comment at the end of a line names the findings expected there: `// GF101`, `# MY001, GF403`. A finding anywhere
    else is a mistake, and so is a fix whose result isn't the sibling `name.migrated.cpp` (safe) or `name.unsafe.cpp`.
    Rules of plugins are tested like guardfix's own; codes of rules that aren't run are ignored. Files that the
    configuration excludes are tested anyway, because a project that checks itself excludes its fixtures.
    """
    run = run_from(options_in(SharedOptions, arguments))
    from guardfix.linter.engine import found_files
    from guardfix.linter.files.discovery import ALL_FILES, NoSuchPath
    from guardfix.linter.rule import UnknownRule

    from ..rule_fixtures import fixture_mistakes, is_sibling

    try:
        # A project that checks itself leaves its fixtures out, as they are full of findings.
        taken = run.options.changed(patterns=ALL_FILES, nearest=None)
        files = [path for path in sorted(found_files(run.paths, taken)) if not is_sibling(path)]
        mistakes = [mistake for path in files for mistake in fixture_mistakes(path, run.options)]
    except NoSuchPath as error:
        raise Failure(f"no such file or directory: {error}") from None
    except UnknownRule as error:
        raise Failure(no_such_rule(str(error))) from None
    for mistake in mistakes:
        echo(printable(mistake))
    if not files:
        echo("No fixtures found.", err=True)
        sys.exit(2)
    if not run.quiet:
        verdict = count_of(len(mistakes), "mistake") if mistakes else "all as expected"
        echo(f"{count_of(len(files), 'fixture')}: {verdict}.")
    sys.exit(1 if mistakes else 0)
