"""Runs a command contained: `python -P -m … FOLDERS COMMAND…`, FOLDERS being those that it may write to, as JSON.

The first of the folders becomes its `/tmp`.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path

from .containment import PROCESSES, contain
from .program_execution import FILE_LIMIT, OPEN_FILES_LIMIT, PROCESS_LIMIT, lower_limit


def run_contained(folders: list[Path], command: list[str]) -> int:
    """Becomes the command; returns only if there is no such command."""
    aspects = contain(folders, folders[0], needed=[Path.cwd()])
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
    sys.exit(run_contained([Path(folder) for folder in json.loads(sys.argv[1])], sys.argv[2:]))
