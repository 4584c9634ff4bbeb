"""Runs a command contained: `python -P -m … FOLDERS COMMAND…`, FOLDERS being those that it may write to, as JSON.

The first of the folders becomes its `/tmp`. With `--tell` in front, what the system can't contain is told first.
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


def run_contained(folders: list[Path], command: list[str], *, tell: bool = False) -> int:
    """Becomes the command; returns only if there is no such command."""
    # A file that is named can lie elsewhere in /tmp.
    named = [Path(word).absolute().parent for word in command if os.path.isfile(word)]
    aspects = contain(folders, folders[0], needed=[Path.cwd(), *named], becomes_another=True)
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
    told = sys.argv[1] == "--tell"
    given, *rest = sys.argv[1 + told :]
    sys.exit(run_contained([Path(folder) for folder in json.loads(given)], rest, tell=told))
