"""`guardfix run --contain`: the same command again, in a process that is contained."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Sequence

from guardfix.module_command import module_command
from guardfix.runtime_shim.cpp import cache_folder

from .program_runs import environment
from .scratch import scratch_folder

_CONTAINED = "guardfix.runtime_shim.recording.contained_command"


def run_contained_program(words: Sequence[str]) -> int:
    """Runs `guardfix run` with these words; the exit status, 128 and more for a signal."""
    kept = cache_folder().parent
    compiled = kept / "contained"
    compiled.mkdir(parents=True, exist_ok=True)
    with scratch_folder(kept / "running", f"run {os.getpid()}") as folder:
        temporary, home = folder / "tmp", folder / "home"
        temporary.mkdir()
        home.mkdir()
        places = {"TMPDIR": str(temporary), "HOME": str(home), "GUARDFIX_CACHE_DIR": str(compiled)}
        folders = json.dumps([str(temporary), str(home), str(compiled)])
        process = subprocess.Popen(
            [*module_command(_CONTAINED), "--tell", folders, *module_command("guardfix"), "run", *words],
            env=environment() | places,
        )
        try:
            status = process.wait()
        except BaseException:
            process.send_signal(signal.SIGKILL)  # what it started ends with it
            process.wait()
            raise
    return status if status >= 0 else 128 - status
