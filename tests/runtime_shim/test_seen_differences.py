"""Programs with what PyTorch 2.13 prints: those in which the shim once differed, and those of an area.

Each text in `data/` has them one after the other: a line `=== title`, the program, `--- prints`, the output.
In a program `p`, `E` and `F` are those of the specification.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.runtime_shim.test_specification import run_programs

TEXT = "".join(p.read_text(encoding="utf-8") for p in sorted((Path(__file__).parent / "data").glob("*.txt")))
PROGRAMS = re.findall(r"^=== (.*?)\n(.*?)\n--- prints\n(.*?)\n\n(?==== |\Z)", TEXT, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def printed(request: pytest.FixtureRequest) -> dict[str, str]:
    """What those programs print that a test of this run asks for."""
    asked = {item.callspec.params.get("title") for item in request.session.items if hasattr(item, "callspec")}
    chosen = [(title, program) for title, program, _ in PROGRAMS if title in asked]
    outputs = run_programs([program for _, program in chosen])
    return {title: "\n".join(lines) for (title, _), lines in zip(chosen, outputs, strict=True)}


@pytest.mark.parametrize(("title", "expected"), [pytest.param(t, e, id=t) for t, _, e in PROGRAMS])
@pytest.mark.some(3)
def test_it_prints_what_pytorch_prints(printed: dict[str, str], title: str, expected: str) -> None:
    assert printed[title] == expected


def test_every_program_is_read() -> None:
    assert len(PROGRAMS) == TEXT.count("\n--- prints\n")


@pytest.mark.oracle
def test_pytorch_prints_it_still() -> None:
    pytest.importorskip("torch")
    outputs = run_programs([program for _, program, _ in PROGRAMS], "torch")
    assert ["\n".join(lines) for lines in outputs] == [expected for _, _, expected in PROGRAMS]
