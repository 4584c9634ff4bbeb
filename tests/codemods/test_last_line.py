"""No fix changes how a text ends: with a line end or without, and with which."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fixture_files import FIXTURES
from guardfix.codemods.apply.rewriting import apply_edits
from guardfix.codemods.apply.settling import settle
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fix import Edit, keeping_last_end
from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import Options, check
from guardfix.linter.facts import Span
from guardfix.linter.files.workspace import Workspace


def _fixed(name: str, text: bytes) -> bytes:
    options = Options(workers=1, select=("ALL",))
    report = fixes_for(check([name], options, workspace=Workspace.in_memory({name: text})), FixChoice(unsafe=True))
    return next((one.source.encode(one.text) for one in settle(report).rewrites if not one.refused), text)


def _end(text: bytes) -> bytes:
    found = re.search(rb"(?:\r\n|\r|\n)\Z", text)
    return found.group() if found else b""


EDITS = [
    # (text, edits, what becomes of it)
    pytest.param(b"a\nb", [(2, 3, "")], b"a", id="the last line goes"),
    pytest.param(b"a\r\n\r\nb", [(5, 6, "")], b"a", id="with the blank lines above it"),
    pytest.param(b"a\nb\n", [(2, 4, "")], b"a\n", id="it had an end, as what is left has"),
    pytest.param(b"a\rb", [(2, 3, "c\n")], b"a\rc", id="what replaces it has no end either"),
    pytest.param(b"a\r\nb\r\n", [(3, 6, "c")], b"a\r\nc\r\n", id="what replaces it has its end"),
    pytest.param(b"a\r\nb\r\n", [(3, 6, "c\n")], b"a\r\nc\r\n", id="of its kind"),
    pytest.param(b"a\nb", [(3, 3, "\nc\n")], b"a\nb\nc", id="more behind it"),
    pytest.param(b"a\nb\nc", [(2, 4, ""), (4, 5, "")], b"a", id="two edits"),
    pytest.param(b"a\nb", [(0, 2, ""), (2, 3, "")], b"", id="nothing is left"),
    pytest.param(b"a\nb", [(0, 1, "")], b"\nb", id="elsewhere"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "edits", "after"), EDITS)
def test_edits_keep_the_last_end(text: bytes, edits: list[tuple[int, int, str]], after: bytes) -> None:
    given = [Edit(Span(start, end), content) for start, end, content in edits]
    assert apply_edits(text, keeping_last_end(text, given)) == after


LAST_LINES = [
    pytest.param("a.py", b"import torch\nx = 1\n# noqa: GF403", id="a comment that silences nothing"),
    pytest.param("a.cpp", b"int x;\r\n// NOLINT(GF101)", id="in C++"),
    pytest.param("a.py", b"import torch\n\ntorch.no_grad()", id="a statement"),
    pytest.param("a.py", b"import torch\n@torch.no_grad\ndef f(x): return x", id="a function of one line"),
    pytest.param("a.py", b"import torch\nwith torch.no_grad():\n    with torch.no_grad():\n        f()", id="a block"),
    pytest.param("a.cpp", b"#define G at::AutoNonVariableTypeMode g", id="a macro"),
    pytest.param("a.cpp", b"void f(){at::AutoNonVariableTypeMode g;m.forward(x);}//", id="all in one line"),
]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize(("name", "text"), LAST_LINES)
def test_a_fix_of_the_last_line(name: str, text: bytes, end: bytes) -> None:
    text = re.sub(rb"\r?\n", end or b"\n", text) + end
    assert _end(_fixed(name, text)) == end


SOURCES = sorted(
    path
    for path in (*(FIXTURES / "cpp").iterdir(), *(FIXTURES / "python").glob("*.py"))
    if path.is_file() and len(path.suffixes) == 1
)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
@pytest.mark.some(8)
def test_a_fixture_without_its_last_end(path: Path) -> None:
    text = path.read_bytes().rstrip(b"\r\n")
    lines = text.splitlines()
    named = [number for number, line in enumerate(lines) if re.search(rb"Mode|Guard|Below|grad", line)]
    # Cut off behind a guard as well, where it stands last.
    for cut in {text, *(b"\n".join(lines[: number + 1]) for number in named[-2:])}:
        assert _end(_fixed(path.name, cut)) == b""
