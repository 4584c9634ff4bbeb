"""`guardfix check --watch`: the check again after each save."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from guardfix.linter.files.languages import language_of
from guardfix.linter.files.prefilter_table import LANGUAGES, ON_REQUEST
from guardfix.linter.files.project_root import CONFIGURATION_FILES

from ..foreign_text import own
from ..output.plain_echo import echo
from .command_failure import Failure
from .command_run import CommandRun

if TYPE_CHECKING:
    from watchfiles import Change

_WAKES = 200
"""Milliseconds after which an idle watch looks at whether it was interrupted."""
_MATTERS = frozenset({*CONFIGURATION_FILES, ".gitignore"})
_ALL = {**LANGUAGES, **ON_REQUEST}


def watch(run: CommandRun, check: Callable[[], object]) -> None:
    """Check now and after each change of a file that matters, until the user interrupts it.

    The folders are watched from before the first check on, so that what is saved during a check is checked next.
    """
    try:
        import watchfiles
    except ImportError:
        raise Failure("--watch needs the package watchfiles: `pip install 'guardfix[watch]'`") from None

    folders = sorted({path if os.path.isdir(path) else os.path.dirname(path) or os.curdir for path in run.paths})
    above = _configurations_above(folders)
    stamps: object = None
    gc.enable()  # a single check never collects, as it ends soon
    try:
        for changes in watchfiles.watch(
            *folders, watch_filter=change_filter(), rust_timeout=_WAKES, yield_on_timeout=True, debounce=400, step=50
        ):
            now = [_stamp(path) for path in above]
            if not changes and stamps == now:
                continue
            stamps = now
            _check_once(check)
            gc.collect()
    except KeyboardInterrupt:
        echo()


def _configurations_above(folders: Sequence[str]) -> list[str]:
    """Where a configuration of the folders may be, above them: these are looked at by hand."""
    found: dict[str, None] = {}
    for folder in folders:
        here = os.path.abspath(folder)
        while not os.path.exists(os.path.join(here, ".git")) and here != os.path.dirname(here):
            here = os.path.dirname(here)
            found.update((os.path.join(here, name), None) for name in sorted(_MATTERS))
    return list(found)


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _check_once(check: Callable[[], object]) -> None:
    if sys.stdout.isatty():
        echo(own("\x1b[2J\x1b[1;1H"), nl=False)  # click's own `clear` isn't ours, and would be spelled out
    started = time.monotonic()
    try:
        check()
    except click.ClickException as error:  # a configuration in the middle of an edit, say
        error.show()
    except SystemExit:
        pass
    took = time.monotonic() - started
    sys.stdout.flush()
    echo(f"[{time.strftime('%H:%M:%S')}] checked in {took:.2f} s; waiting for changes (Ctrl-C ends)", err=True)


def change_filter() -> Callable[[Change, str], bool]:
    """Whether a change matters: of a source or a configuration, in no folder that is always passed over."""
    from watchfiles import DefaultFilter

    ordinary = DefaultFilter()

    def matters(change: Change, path: str) -> bool:
        name = os.path.basename(path)
        return ordinary(change, path) and (name in _MATTERS or language_of(name, _ALL) is not None)

    return matters
