"""Draws programs. `generate(profile, seed)` gives the same program on every machine and every Python.

Each module here is a subject and registers functions that write a statement or a few (`@subject`). A program
mixes a few subjects strongly and all others weakly, so that programs have a theme and themes meet.

Profiles: "documented" keeps to what PyTorch documents; "leaks" adds what the specification lists as leftovers
of the implementation (guards below autograd around composite ops, ops on inference tensors that require grad,
versions of fresh results); "long" programs have 20 to 40 statements and subjects of their own: memory, layouts, hooks, higher
derivatives, Functions with all marks, libraries, guards across functions, generators and exceptions.
"""

from __future__ import annotations

from ..program import Program
from . import (  # noqa: F401 - imported for the subjects that they register
    arithmetic,
    creation,
    derivatives,
    dtypes,
    functions,
    gradients,
    hooking,
    layouts,
    marks,
    memory,
    mistakes,
    modes,
    nesting,
    networks,
    patterns,
    reductions,
    registered_ops,
    spellings,
    storage,
    views,
    writes,
)
from .draw import Draw
from .scene import Scene
from .subjects import LONG_SUBJECTS, SUBJECTS

PROFILES = ("documented", "leaks", "long")

__all__ = ["PROFILES", "generate"]


def generate(profile: str, seed: int) -> Program:
    """The program number `seed` of `profile`."""
    draw = Draw(f"{profile}/{seed}")
    scene = Scene(profile, draw)
    is_long = profile == "long"
    subjects = {**SUBJECTS, **LONG_SUBJECTS} if is_long else SUBJECTS
    names = sorted(subjects)
    theme = draw.some(names, 3) + (draw.some(sorted(LONG_SUBJECTS), 3) if is_long else [])
    weights = [(write, weight * (6.0 if name in theme else 1.0)) for name in names for write, weight in subjects[name]]
    creation.opening(scene)
    length = draw.between(20, 40) if is_long else draw.between(8, 22)
    attempts = 0
    while len(scene.lines) < length and attempts < 200:
        attempts += 1
        draw.weighted(weights)(scene)
        if scene.depth and draw.chance(0.22):
            modes.close(scene)
    return Program(profile, seed, _without_open_ends(scene.lines))


def _without_open_ends(lines: list[str]) -> tuple[str, ...]:
    """A `with` that nothing follows is not Python."""
    while lines and lines[-1].endswith(":"):
        lines.pop()
    return tuple(lines)
