"""`guardfix cache dir`, `headers`, `clean`, `prune` and `decided`."""

from __future__ import annotations

from pathlib import Path

import click

from guardfix.linter.files.user_cache import user_cache_folder

from ..foreign_text import printable
from ..output.plain_echo import echo
from .command_failure import Failure

_MEGABYTE = 1_000_000


@click.group("cache", short_help="Show, empty or shrink the cache.")
def command() -> None:
    """Show, empty or shrink the cache: facts about files, and the programs that `guardfix verify` has compiled.

    It is in the user's cache folder, or in the one that $GUARDFIX_CACHE_DIR names. `--no-cache`, or
    $GUARDFIX_NO_CACHE=1, runs without the facts.
    """


@command.command("dir")
def show_folder() -> None:
    """Print the folder of the cache."""
    echo(printable(user_cache_folder()))


@command.command("headers")
def show_header_folders() -> None:
    """Print the folders of the shim's C++ headers, for an editor's include path.

    The headers that only include others are written into the cache.
    """
    from guardfix.runtime_shim.cpp.own_headers import own_include_folders, write_forwarding_headers

    try:
        write_forwarding_headers()
    except OSError as error:
        raise Failure(f"{error.filename}: cannot be written: {error.strerror}") from None
    for folder in own_include_folders():
        echo(printable(str(folder)))


@command.command("clean")
def clean() -> None:
    """Remove everything from the cache."""
    from ..cache_upkeep import cache_size, clean_cache

    before = cache_size()
    try:
        done = clean_cache()
    except OSError as error:
        raise Failure(f"{error.filename}: cannot be removed: {error.strerror}") from None
    _tell(before)
    if not done:
        echo("Something is being compiled: what that needs stays. Run this again when it is done.", err=True)


@command.command("prune")
@click.option(
    "--days",
    type=click.IntRange(min=0),
    default=30,
    show_default=True,
    help="Remove what hasn't been used for this many days.",
)
@click.option(
    "--size",
    "megabytes",
    type=click.IntRange(min=0),
    default=2000,
    show_default=True,
    metavar="MB",
    help="Then remove the least recently used entries until the cache is no larger than this.",
)
def prune(days: int, megabytes: int) -> None:
    """Remove what hasn't been used for a long time."""
    from ..cache_upkeep import cache_size, prune_cache

    before = cache_size()
    prune_cache(days, megabytes * _MEGABYTE)
    _tell(before)


def _tell(before: int) -> None:
    from ..cache_upkeep import cache_size

    after = cache_size()
    where = printable(user_cache_folder())
    echo(f"Removed {(before - after) / _MEGABYTE:.1f} MB from {where}; {after / _MEGABYTE:.1f} MB are left.")


@command.command("decided")
@click.option("--drop", is_flag=True, help="Forget them: `verify --decide` has to find out again.")
@click.argument("paths", nargs=-1)
def decided(drop: bool, paths: tuple[str, ...]) -> None:
    """List what `verify --decide` has found out by running, about guards at and below PATHS, or about all guards."""
    from guardfix.linter.decision.observed_runs import all_kept_runs, drop_runs

    wanted = [Path(path).resolve() for path in paths]
    found = [
        one
        for one in all_kept_runs()
        if not wanted or any(Path(one.run.where.rpartition(":")[0]).is_relative_to(path) for path in wanted)
    ]
    for one in found:
        stale = "" if one.holds else " (no longer used: a source has changed)"
        shown = f"{one.run.where or 'unknown place'}: {one.run.context.value}{stale}, by running {one.run.shown_by}"
        echo(printable(shown))
    if drop:
        try:
            drop_runs(found)
        except OSError as error:
            raise Failure(f"{error.filename}: cannot be removed: {error.strerror}") from None
    echo(f"{len(found)} decided by running{'; dropped' if drop and found else ''}.", err=True)
