"""Compares what the machine says of drawn C++ programs with what they do on the shim.

The programs are those of the shim's differential test, with more guards: statements on `v[0]` to `v[7]`, of which each
runs under `try`. The machine reads them as plain functions. Where a statement raised, it reads the program up to there,
without the statements that had raised before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cpp_snippets import snippet
from guardfix.linter.flow.events import MESSAGES, Event, EventKind
from guardfix.linter.flow.running import run_flow
from tests.runtime_shim.cpp.drawn import generator
from tests.runtime_shim.cpp.drawn.building import on_shim, printed_by, source_text
from tests.runtime_shim.cpp.drawn.scene import CppProgram, Scene
from tests.runtime_shim.differential.generator.draw import Draw

from .agreement import kind_said

GUARDS = (
    *[("c10::InferenceMode", "true")] * 3,
    ("c10::InferenceMode", "false"),
    ("torch::NoGradGuard", ""),
    ("at::AutoGradMode", "true"),
    ("at::AutoGradMode", "false"),
)
_GUARD = re.compile(r"GUARD\((\w+), ([\w:]+)(?:, (\w+))?\)")
_OUTCOME = re.compile(r"^(\d+) (ok$|.+)", re.MULTILINE)


def draw_program(seed: int) -> CppProgram:
    """A program of tensors, their views, writes and gradients, in scopes of guards."""
    draw = Draw(f"cpp modes/{seed}")
    scene = Scene(draw)
    if draw.chance(0.6):
        _open_guard(scene)
    for _ in range(3):
        generator.create(scene)
    generator.fill(scene, _SUBJECTS, draw.between(12, 24), 0.22)
    return CppProgram(seed, tuple(scene.lines))


_open_guard = partial(generator.open_guard, guards=GUARDS)
_SUBJECTS: list[tuple[generator.Subject, float]] = [
    (generator.create, 1.5),
    (generator.unary, 2.0),
    (generator.binary, 4.0),
    (generator.view, 3.0),
    (generator.write, 4.0),
    (generator.differentiate, 2.0),
    (generator.combine, 1.5),
    (_open_guard, 3.5),
]


class Ran(NamedTuple):
    """A program, and the numbers of its statements that raised, with PyTorch's words."""

    program: CppProgram
    raised: dict[int, str]


def ran_on_the_shim(programs: Sequence[CppProgram], folder: Path) -> Iterator[Ran]:
    source = folder / "modes.cpp"
    source.write_text(source_text(programs), encoding="utf-8")
    for program, printed in zip(programs, printed_by(on_shim(source), programs), strict=True):
        if printed is not None:
            yield Ran(program, {int(n): said for n, said in _OUTCOME.findall(printed) if said != "ok"})


class Answer(NamedTuple):
    """What the machine says where a statement raised (`certain`, `possible`, `silent`), or of what didn't: `wrong`."""

    answer: str
    kind: EventKind
    text: str
    row: int


def answers(ran: Ran) -> Iterator[Answer]:
    for number, said in ran.raised.items():
        kind = kind_said(said)
        if kind is not None:
            text, row = _plain(ran, number)
            told = [event.certain for at, event in _told(text) if at == row and event.kind is kind]
            yield Answer("certain" if any(told) else "possible" if told else "silent", kind, text, row)
    text, _ = _plain(ran, None)
    for row, event in _told(text):
        if event.certain and event.kind in MESSAGES:
            yield Answer("wrong", event.kind, text, row)


def _told(text: str) -> list[tuple[int, Event]]:
    facts = snippet(text).facts
    return [(facts.row(event.span.start), event) for event in run_flow([facts]).events.values()]


def _plain(ran: Ran, last: int | None) -> tuple[str, int]:
    """The program as a function, without what raised but for the `last` statement; the row of that one."""
    lines, row = ["void f() {", "at::Tensor v0, v1, v2, v3, v4, v5, v6, v7;"], 0
    number = -1
    for line in map(str.strip, ran.program.lines):
        guard = _GUARD.fullmatch(line)
        number += guard is not None or line.startswith("S(")
        if guard is not None:
            lines.append(f"{guard[2]} {guard[1]}" + (f"({guard[3]});" if guard[3] else ";"))
        elif not line.startswith("S("):
            lines.append(line)
        elif number == last or (number not in ran.raised and (last is None or number < last)):
            lines.append(re.sub(r"v\[(\d)\]", r"v\1", line[2:-1]) + ";")
            row = len(lines)
    return "\n".join([*lines, "}"]), row
