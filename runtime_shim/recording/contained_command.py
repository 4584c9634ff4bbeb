"""Runs a command contained: `python -P -m … FOLDERS COMMAND…`, FOLDERS being those that it may write to, as JSON.

The first of the folders becomes its `/tmp`. With `--instead FOLDER` in front, FOLDER is found where the working folder
was; where the system can't do that, nothing is run, and the status is 126. With `--tell` in front, what the system
can't contain is printed first.
`python -P -m … --seal COMMAND…` runs a command that contains itself later: it can't leave the executable behind that it
was started with, so this is found where nothing can change it.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path

from .containment import PROCESSES, contain, not_contained, start_sealed
from .open_files import FILE_LIMIT
from .program_execution import OPEN_FILES_LIMIT, PROCESS_LIMIT, lower_limit

NOT_INSTEAD = 126


def run_contained(folders: list[Path], command: list[str], *, instead: Path | None = None, tell: bool = False) -> int:
    """Becomes the command; returns only if there is none, or if `instead` can't be found at the working folder."""
    # A file that is named can lie elsewhere in /tmp.
    named = [Path(word).absolute().parent for word in command if os.path.isfile(word)]
    here = Path.cwd()
    needed = [here, *named, *([instead] if instead is not None else [])]
    try:
        both = None if instead is None else (instead, here)
        aspects = contain(folders, folders[0], needed=needed, instead=both, becomes_another=True)
    except OSError as error:
        if instead is None:
            raise
        print(error, file=sys.stderr)
        return NOT_INSTEAD
    for words in not_contained(aspects) if tell else ():
        print(f"note: not contained on this system: the program can {words}", file=sys.stderr, flush=True)
    lower_limit(resource.RLIMIT_FSIZE, FILE_LIMIT)
    lower_limit(resource.RLIMIT_NOFILE, OPEN_FILES_LIMIT)
    lower_limit(resource.RLIMIT_CORE, 0)
    if PROCESSES in aspects:
        lower_limit(resource.RLIMIT_NPROC, PROCESS_LIMIT)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror or error}", file=sys.stderr)
    return 127


if __name__ == "__main__":
    if sys.argv[1] == "--seal":
        start_sealed(sys.argv[2:])
    arguments = sys.argv[1:]
    told = arguments[0] == "--tell" and bool(arguments.pop(0))
    other = Path(arguments[1]) if arguments[0] == "--instead" else None
    given, *rest = arguments[2 if other is not None else 0 :]
    sys.exit(run_contained([Path(folder) for folder in json.loads(given)], rest, instead=other, tell=told))
