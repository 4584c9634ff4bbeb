"""Runs a program from where an error came: from the code of the frames on, with more patience than a check has."""

from __future__ import annotations

from collections.abc import Collection

from ..facts.bodies import Body
from ..facts.statement_walk import words_in
from ..named_tuples import NamedTuple
from .machine import STEP_BUDGET, Machine
from .program import File, ProjectCode
from .running import functions_of, names_of, run_function_of, run_reached

_PATIENCE = 40
"""As much work as so many roots of a check may take: one program is run, and a person waits for the answer."""
_IN_ALL = 300
"""As much as so many roots may take, for all of them together."""


class FramePlace(NamedTuple):
    """A row of a file, where a frame of the program was."""

    path: str
    row: int


class PatientMachine(Machine):
    """Follows longer programs, up to a limit: what is run first may use most of it."""

    def __init__(self, program: ProjectCode, patience: int = _PATIENCE, in_all: int = _IN_ALL) -> None:
        super().__init__(program)
        self._patience = patience * STEP_BUDGET
        self._in_all = float(in_all * STEP_BUDGET)
        self._begun_with = 0.0

    def begin(self) -> None:
        self._in_all -= self._begun_with - max(0.0, self._steps)
        self._begun_with = self._steps = min(self._patience, max(0.0, self._in_all))


def run_from_frames(machine: PatientMachine, frames: Collection[FramePlace]) -> None:
    """Run what the frames were in, the outermost first, then all that guards can reach; its events say what happens."""
    done = _run_frames(machine, frames)
    run_reached(machine, every=True, done=done)


def _run_frames(machine: PatientMachine, frames: Collection[FramePlace]) -> set[int]:
    """Run what the frames were in: functions, and the code of modules; which bodies these are."""
    by_path = {file.path: file for file in machine.program.files}
    done: set[int] = set()
    for frame in frames:
        file = by_path.get(frame.path)
        if file is None:
            continue
        owner, body = function_at(file, frame.row)
        if body is None:
            if file.module is not None and id(file.module) not in done:
                done.add(id(file.module))
                machine.run_module(file)
        elif id(body) not in done:
            done.add(id(body))
            run_function_of(machine, file, owner, body)
    return done


def run_around(machine: PatientMachine, frame: FramePlace) -> None:
    """Run the function that a row is in, then those that may call it, and those that may call these."""
    done = _run_frames(machine, [frame])
    functions = [(file, owner, body) for file in machine.program.files for owner, body in functions_of(file)]
    called = [one for one in functions if id(one[2]) in done]
    for _ in range(_LEVELS):
        names = {name for _, owner, body in called for name in names_of(owner, body)}
        called = [one for one in functions if id(one[2]) not in done and not names.isdisjoint(words_in(one[2]))]
        for file in machine.program.files:
            if file.module is not None and id(file.module) not in done and not names.isdisjoint(words_in(file.module)):
                done.add(id(file.module))
                machine.run_module(file)
        for file, owner, body in called:
            done.add(id(body))
            run_function_of(machine, file, owner, body)


_LEVELS = 2
"""Levels of callers."""


def function_at(file: File, row: int) -> tuple[Body | None, Body | None]:
    """The function at the top of a file, or in a class there, that a row is in: (its class, itself)."""
    for owner, body in functions_of(file):
        if file.row(body.span.start) <= row <= file.row(body.span.end):
            return owner, body
    return None, None
