"""`guardfix campaign run`, `query`, `report` and `history`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..campaign.campaign_executors import NoExecutor, executor_named
from ..campaign.campaign_manifest import BadManifest, read_manifest
from ..campaign.campaign_run import CampaignProgress, EngineLost, run_campaign, tasks_of
from ..campaign.repository_task import CampaignSettings, RepositoryTask, TaskLimits, TaskOutcome
from ..campaign.result_store import BadStore, ResultStore
from ..configuration import BadConfiguration, read_configuration
from ..foreign_text import printable
from ..output.plain_echo import echo
from ..wording import count_of
from .chosen_fixes import FixOptions, choice_from
from .command_failure import Failure, raise_unless_missing
from .command_run import options_in
from .options import Megabytes, Seconds, choosing
from .program_running import about_shared_cache
from .progress_line import shown_progress

if TYPE_CHECKING:
    from collections.abc import Callable


_FOR_PAGES = ("jinja2", "markupsafe")
_NO_PAGES = "the pages need Jinja2: `pip install 'guardfix[campaign]'`"


@click.group("campaign", short_help="Check and migrate many repositories.")
def command() -> None:
    """Check and migrate many repositories, on one machine or a cluster, and query the results.

    \b
      guardfix campaign run repositories.txt -o results
      guardfix campaign query -o results "select context, count(*) from uses group by all"
      guardfix campaign report -o results
    """


def _folder(command: Callable[..., None]) -> Callable[..., None]:
    return click.option(
        "--output", "-o", "folder", required=True, metavar="DIR", type=click.Path(file_okay=False),
        help="The folder that holds the campaign's results.",
    )(command)  # fmt: skip


@command.command("run", short_help="Process the repositories in a manifest.")
@click.argument("manifest", type=click.Path(dir_okay=False))
@_folder
@click.option(
    "--executor",
    default="local",
    show_default=True,
    metavar="NAME",
    help="Where tasks run: local, process, dask (a cluster on this machine), or dask:tcp://HOST:PORT.",
)
@click.option(
    "--jobs", "-j", type=click.IntRange(min=1), metavar="N", help="Repositories at once; by default one per core."
)
@click.option(
    "--verify", is_flag=True, help="Run programs and tests before and after migration. This executes their code."
)
@click.option(
    "--timeout",
    type=Seconds(min=0, min_open=True),
    default=3600.0,
    show_default=True,
    metavar="SECONDS",
    help="How long one repository may take.",
)
@click.option(
    "--memory",
    type=Megabytes(min=0),
    default=4096,
    show_default=True,
    metavar="MB",
    help="How much memory a process of one repository may take; 0 for any amount.",
)
@click.option(
    "--timeout-per-file",
    type=Seconds(min=0, min_open=True),
    metavar="SECONDS",
    help="Skip files that take longer to read, and report them (GF001).",
)
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Use this configuration for all repositories instead of their own.",
)
@click.option("--isolated", is_flag=True, help="Don't read the repositories' configurations.")
@click.option("--retry", is_flag=True, help="Process repositories again that crashed or exceeded a limit.")
@choosing
@click.option("--quiet", "-q", is_flag=True, help="Don't print a line for each repository.")
def run_command(**arguments: Any) -> None:
    """Check, decide and migrate each repository in MANIFEST, and store the results in DIR.

    MANIFEST has a folder or a git URL on each line, or is a TOML file. Repositories are not changed: each is checked
    out elsewhere, and its fixes are written as patches. No code of a repository is executed without --verify. Work
    that an earlier run has finished isn't repeated, so an interrupted run resumes.

    Exit status: 0 if all repositories were processed, 1 if some couldn't be, 2 if the run failed.
    """
    if shared := about_shared_cache():
        raise Failure(shared)
    settings = _settings(arguments)
    limits = TaskLimits(arguments["timeout"], arguments["memory"])
    store = ResultStore(arguments["folder"])
    try:
        tasks = tasks_of(read_manifest(arguments["manifest"]), settings, limits)
        with executor_named(arguments["executor"], arguments["jobs"] or 0) as engine:
            if engine.dashboard and not arguments["quiet"]:
                echo(f"Dashboard: {engine.dashboard}", err=True)
            report = None if arguments["quiet"] else _tell
            progress = run_campaign(tasks, store, engine, retry=arguments["retry"], on_done=report)
    except (BadManifest, BadStore, NoExecutor) as error:
        raise Failure(str(error)) from None
    except EngineLost as error:
        raise Failure(f"{error}; what was done is kept, and the same command goes on") from None
    _summarize(progress, arguments["folder"], shards=any(task.entry.shard_count > 1 for task in tasks))
    sys.exit(1 if progress.failures else 0)


def _settings(arguments: dict[str, Any]) -> CampaignSettings:
    if arguments["config"] and arguments["isolated"]:
        raise click.UsageError("--config and --isolated can't be combined")
    try:
        configuration = read_configuration(arguments["config"]) if arguments["config"] else None
    except BadConfiguration as error:
        raise Failure(str(error)) from None
    minimum_torch = configuration.value("minimum-torch") if configuration is not None else ""
    return CampaignSettings(
        configuration,
        arguments["isolated"],
        choice_from(options_in(FixOptions, arguments), minimum_torch),
        arguments["verify"],
        arguments["timeout_per_file"] or 0.0,
    )


def _tell(task: RepositoryTask, outcome: TaskOutcome, row: dict[str, Any], progress: CampaignProgress) -> None:
    """One line for a repository that is done."""
    commit = (row.get("commit") or "").rpartition("-")[2][:9]
    name = f"[{progress.done}/{progress.total}] {printable(task.label)} {commit}".rstrip()
    if row.get("outcome") != TaskOutcome.DONE:
        summary = f"{row.get('outcome')}: {printable(row.get('reason') or '')}"
    else:
        summary = f"{count_of(row['files'], 'file')}, {count_of(row['uses'], 'use')}, {row['old_uses']} old"
        summary += f", {_number_of(row['patches'], 'patch')}" if row["patches"] else ""
    how = "unchanged" if outcome is TaskOutcome.UNCHANGED else f"{row.get('seconds', 0):.1f} s"
    echo(f"{name}: {summary} ({how})", err=True)


def _number_of(number: int, noun: str) -> str:
    """`1 patch`, `2 patches`: for nouns that end in a hiss."""
    return f"{number} {noun}{'' if number == 1 else 'es'}"


def _summarize(progress: CampaignProgress, folder: str, *, shards: bool) -> None:
    counts = progress.counts
    unchanged, failed = progress.outcomes[TaskOutcome.UNCHANGED], len(progress.failures)
    parts = [(progress.outcomes[TaskOutcome.DONE], "new"), (unchanged, "unchanged"), (failed, "failed")]
    summary = ", ".join(f"{number} {what}" for number, what in parts if number)
    # With shards, a repository is several tasks.
    noun = "tasks" if shards else "repository" if progress.done == 1 else "repositories"
    echo(
        f"{progress.done} {noun}: {summary}.\n"
        f"{count_of(counts['files'], 'file')}, {count_of(counts['uses'], 'use')} of guards, {counts['old_uses']} of "
        f"them old; {_number_of(counts['fixes'], 'fix')} in {_number_of(counts['patches'], 'patch')}.\n"
        f"To see the results: `guardfix campaign report -o {printable(folder)}`."
    )


@command.command("query", short_help="Query the results in SQL.")
@_folder
@click.argument("sql")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
    help="How to write the rows.",
)
@click.option("--unrestricted", is_flag=True, help="Let the query read and write files, and load extensions.")
def query_command(folder: str, sql: str, output_format: str, unrestricted: bool) -> None:
    """Run a DuckDB SQL query on the results of a campaign, even while it is running.

    It reads the campaign's tables, and no other file. They are `uses` (one row for each use of a guard), `findings` and
    `repositories`; `describe uses` lists the columns. They are in DIR as Parquet files.
    """
    from ..campaign.result_tables import BadQuery, NoDuckDB, query
    from ..campaign.rows_as_text import rows_as_text

    try:
        columns, rows = query(ResultStore(folder), sql, unrestricted=unrestricted)
    except (BadStore, NoDuckDB, BadQuery) as error:
        raise Failure(str(error)) from None
    echo(rows_as_text(columns, rows, output_format), nl=False)


@command.command("report", short_help="Write pages that show the results.")
@_folder
def report_command(folder: str) -> None:
    """Write a page with progress, tables and plots to DIR/report, and one page for each repository with all its uses.

    The pages need only a browser, and no network.
    """
    from ..campaign.report_pages import write_report
    from ..campaign.result_tables import NoDuckDB

    try:
        path = write_report(ResultStore(folder))
    except (BadStore, NoDuckDB) as error:
        raise Failure(str(error)) from None
    except ImportError as error:
        raise_unless_missing(error, _FOR_PAGES, _NO_PAGES)
    echo(f"Wrote {printable(str(path))}.")


@command.command("history", short_help="Count guards over the commits of a repository.")
@click.argument("repository", type=click.Path(file_okay=False))
@click.option("--revision", default="", metavar="REV", help="The commit where the history ends; by default HEAD.")
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write a page with a plot to FILE, or rows if its name ends in .csv.",
)
@click.option("--quiet", "-q", is_flag=True, help="Don't print the progress.")
def history_command(repository: str, revision: str, output: str | None, quiet: bool) -> None:
    """Count the C++ guards in a git repository after each commit, to see when the old guard came and went.

    Only first parents are followed. Nothing is checked out: each version of a file is read once from git's objects,
    and the counts are cached in the user's cache folder.
    """
    import sqlite3

    from guardfix.linter.files.user_cache import own_folder, user_cache_folder

    from ..campaign.blob_counts import BlobCache
    from ..campaign.guard_history import guard_history
    from ..campaign.history_page import history_csv, history_lines, history_page
    from ..git_files import NoRepository

    counted = Path(user_cache_folder(), "history.sqlite")
    is_ours = bool(own_folder(""))
    if not is_ours:
        echo(f"note: {user_cache_folder()}: others can write to this cache, so it isn't used", err=True)
    try:
        cache = BlobCache(counted if is_ours else None)
        with shown_progress(quiet) as progress:
            history = guard_history(repository, revision, cache, progress)
        cache.close()
        if output is not None:
            text = history_csv(history) if output.endswith(".csv") else history_page(history, repository)
            Path(output).write_text(text, encoding="utf-8", errors="replace")
    except ImportError as error:
        raise_unless_missing(error, _FOR_PAGES, _NO_PAGES)
    except NoRepository as error:
        raise Failure(f"{repository}: {error}") from None
    except sqlite3.Error as error:
        raise Failure(f"{counted}: {error}; remove it") from None
    for line in history_lines(history):
        echo(line)
    if output is not None:
        echo(f"Wrote {printable(output)}.")
