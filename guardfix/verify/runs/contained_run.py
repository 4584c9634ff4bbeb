"""`guardfix run --contain`: the same command again, in a process that is contained."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Sequence

from guardfix.module_command import module_command
from guardfix.runtime_shim.cpp import cache_folder

from .program_runs import environment
from .scratch import scratch_folder

_CONTAINED = "guardfix.runtime_shim.recording.contained_command"


def run_contained_program(words: Sequence[str], compiling: Callable[[], int] | None = None) -> int:
    """Runs `guardfix run` with these words; the exit status, 128 and more for a signal.

    `compiling`, of a C++ program, compiles it first, as the contained process only reads the cache; its exit status.
    What a Python program compiles goes with the run: nothing that a program has written is there for the next one.
    """
    kept = cache_folder().parent
    with scratch_folder(kept / "running", f"run {os.getpid()}") as folder:
        temporary, home, compiled = own = folder / "tmp", folder / "home", folder / "cache"
        for place in own:
            place.mkdir()
        places = {"TMPDIR": str(temporary), "HOME": str(home)}
        variables = environment() | places
        if compiling is None:
            variables["GUARDFIX_CACHE_DIR"] = str(compiled)
        else:
            os.environ.clear()  # with the same variables the run finds what is compiled
            os.environ.update(variables)
            if status := compiling():
                return status
        process = subprocess.Popen(
            [
                *(*module_command(_CONTAINED), "--tell", json.dumps([str(place) for place in own])),
                *(*module_command("guardfix"), "run", *words),
            ],
            env=variables,
        )
        try:
            status = process.wait()
        except BaseException:
            process.send_signal(signal.SIGKILL)  # what it started ends with it
            process.wait()
            raise
    return status if status >= 0 else 128 - status
