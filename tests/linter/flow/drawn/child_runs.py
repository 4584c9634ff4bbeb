"""Runs programs in another interpreter, which may have PyTorch and nothing else."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from .concrete_runs import Run

_SCRIPT = Path(__file__).with_name("concrete_runs.py")


class ChildRuns:
    """Called with a program, it gives its run. A program that ends the interpreter has reached nothing."""

    def __init__(self, python: str) -> None:
        self.python = python
        self._child: subprocess.Popen[str] | None = None

    def __call__(self, text: str) -> Run:
        if self._child is None or self._child.poll() is not None:
            command = [self.python, str(_SCRIPT)]
            self._child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(json.dumps(text) + "\n")
        self._child.stdin.flush()
        answer = self._child.stdout.readline()
        if not answer:
            self._child.wait()
            return Run((), 1, "the interpreter has ended")
        reached, line, error, raised, unfinished = json.loads(answer)
        return Run(tuple(reached), line, error, tuple((row, said) for row, said in raised), tuple(unfinished))

    def close(self) -> None:
        if self._child is not None:
            self._child.terminate()
            self._child.wait()
