"""Calls in all the ways they can be written: `spellings.txt`.

Their results are looked at and dropped, so that nothing need be known of them here.
"""

from __future__ import annotations

from pathlib import Path

from .scene import Scene, Var
from .subjects import subject


def _sections(text: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    rows: list[str] = []
    for line in text.splitlines():
        if line.startswith("[") and line.endswith("]") and "{a}" not in line:
            rows = sections.setdefault(line[1:-1], [])
        elif line and not line.startswith("#"):
            rows.append(line)
    return sections


SPELLINGS = _sections(Path(__file__).with_suffix(".txt").read_text())


def _float_with_elements(scene: Scene) -> Var | None:
    return scene.var(lambda var: var.dtype in ("float32", "float64") and var.size > 0)


@subject("spellings", 4.0)
def read(scene: Scene) -> None:
    var = _float_with_elements(scene)
    if var is None or scene.leaves_marks(var):
        return
    section = str(len(var.shape))
    if section not in SPELLINGS or scene.draw.chance(0.45):
        section = "any"
    scene.line(scene.draw.pick(SPELLINGS[section]).format(a=var.name))


@subject("spellings", 0.6)
def write(scene: Scene) -> None:
    var = _float_with_elements(scene)
    if var is None or scene.leaves_marks(var):
        return
    scene.line(scene.draw.pick(SPELLINGS["write"]).format(a=var.name))
    scene.written(var)
