"""The process that holds a project's libraries, before or after migration, and runs small programs on them."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from guardfix.module_command import sealed_command
from guardfix.runtime_shim.recording.guard_table import GuardCount, make_table
from guardfix.runtime_shim.recording.served_libraries import PROGRAM_SECONDS, Serving

from ..judging.verdicts import VerificationFailed
from ..runs.program_runs import COMPILE_SECONDS, ProgramRun
from ..runs.run_starts import end_session

FILLS = (0x00, 0x7F)
"""What memory outside of tensors is filled with, in the first run of a program and when it is repeated."""

WRITES_OUTSIDE = "it writes to memory outside of its tensors"
READS_OUTSIDE = "its results depend on memory outside of its tensors"

_SERVER = "guardfix.runtime_shim.recording.served_libraries"


@dataclass(frozen=True)
class OpRun:
    """One program, run once on the server."""

    run: ProgramRun
    results: list[str] | None
    reached: dict[int, GuardCount]
    """The guards that it entered, by their numbers; row 0 has all its ops."""
    overran: bool = False
    """It wrote to memory outside of its tensors."""

    @property
    def refusal(self) -> str | None:
        """What the program ended with; None when it came to its end."""
        return self.run.errors or (WRITES_OUTSIDE if self.overran else None)

    @property
    def is_sound(self) -> bool:
        """Whether what it gave can be compared with what it gives after a migration."""
        return not self.overran and (self.run.status is None or self.run.status >= 0)


class LibraryServer:
    """A server that runs; `stop` ends it and what it started."""

    def __init__(
        self, serving: Serving, folder: Path, where: Path, environment: Mapping[str, str], guards: int
    ) -> None:
        folder.mkdir(parents=True)
        table = folder / "guard_table"
        make_table(table, guards)
        serving = replace(serving, guard_table=str(table), writable=(*serving.writable, str(folder)))
        serving.write(folder / "serving.json")
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        self._held = b""
        self._log = folder / "log"
        try:
            with open(self._log, "wb") as log:
                self.process = subprocess.Popen(
                    [*sealed_command(_SERVER), str(folder / "serving.json"), str(commands), str(answers)],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=where,
                    env=dict(environment),
                    start_new_session=True,
                    pass_fds=(commands, answers),
                )
        finally:
            os.close(commands)
            os.close(answers)
        self.loaded: dict[str, Any] = {}

    def wait_until_loaded(self) -> None:
        """Reads what was loaded. Raises `VerificationFailed` when the server ends first."""
        self.loaded = self._answer(COMPILE_SECONDS) or {}
        if not self.loaded:
            said = self._log.read_bytes()[-2000:].decode("utf-8", "replace").strip()
            raise VerificationFailed(f"the libraries could not be loaded: {said or 'the process ended'}")

    def run(self, text: str, call: str, fill: int = FILLS[0]) -> OpRun:
        """What the program with this text does. One that crashes, or takes too long, ends by a signal.

        Memory that is not the program's is filled with the byte `fill`.
        """
        command = {"program": text, "call": call, "fill": fill}
        os.write(self.commands, json.dumps(command).encode() + b"\n")
        answer = self._answer(PROGRAM_SECONDS + 5.0)
        if answer is None:
            raise VerificationFailed("the process that runs the project's ops ended")
        if "signal" in answer:
            number = answer["signal"]
            timed_out = number == signal.SIGALRM
            words = "it took too long" if timed_out else f"it crashed ({signal.Signals(number).name})"
            return OpRun(ProgramRun(None if timed_out else -number, "", words, [], timed_out), None, {})
        error = answer["error"]
        said = "" if error is None else f"{error[0]}: {error[1]}"
        run = ProgramRun(0 if error is None else 1, answer["output"], said, answer["events"])
        reached = {int(number): GuardCount(*count) for number, count in answer["reached"].items()}
        return OpRun(run, answer["results"], reached, answer["overran"])

    def _answer(self, seconds: float) -> dict[str, Any] | None:
        while True:
            line, end, rest = self._held.partition(b"\n")
            if end:
                self._held = rest
                answer: dict[str, Any] = json.loads(line)
                return answer
            readable, _, _ = select.select([self.answers], [], [], seconds)
            more = os.read(self.answers, 1 << 16) if readable else b""
            if not more:
                return None
            self._held += more

    def stop(self) -> None:
        """Ends the server and waits for it."""
        end_session(self.process)
        for descriptor in (self.commands, self.answers):
            with contextlib.suppress(OSError):
                os.close(descriptor)
