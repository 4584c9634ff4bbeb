"""New text -> disk, whole or not at all; edits -> new text."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guardfix.codemods.apply.rewriting import Rewrite, apply_edits, rewrite
from guardfix.codemods.apply.writing import NotWritten, write
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.edits.statements import removal, statement_around
from guardfix.codemods.fix import Applicability, Edit, Fix
from guardfix.codemods.fixable import FixableFinding
from guardfix.linter.facts import Span
from guardfix.linter.files.sources import Source
from guardfix.linter.files.workspace import DISK
from guardfix.linter.findings import Severity


def finding(*edits: Edit, applicability: Applicability = Applicability.SAFE) -> FixableFinding:
    fix = Fix("change it", applicability, edits)
    return FixableFinding(
        "GF101", "legacy-guard", "m", Severity.WARNING, "a.cpp", edits[0].span, make=lambda finding: fix
    )


@pytest.fixture
def changed(tmp_path: Path) -> Rewrite:
    path = tmp_path / "a.cpp"
    path.write_text("int a;\n")
    path.chmod(0o755)
    return Rewrite(DISK.read(str(path)), b"int b;\n")


def test_mode_stays_and_no_other_file_is_left(changed: Rewrite, tmp_path: Path) -> None:
    write(changed)
    path = tmp_path / "a.cpp"
    assert path.read_text() == "int b;\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    assert os.listdir(tmp_path) == ["a.cpp"]


def test_a_file_that_changed_since_is_left(changed: Rewrite, tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text("int c;\n")
    with pytest.raises(NotWritten, match="changed since it was read"):
        write(changed)
    assert (tmp_path / "a.cpp").read_text() == "int c;\n"


def test_a_file_that_is_gone(changed: Rewrite, tmp_path: Path) -> None:
    (tmp_path / "a.cpp").unlink()
    with pytest.raises(NotWritten, match="cannot be read any more"):
        write(changed)


def test_a_file_that_may_not_be_written(changed: Rewrite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(NotWritten, match="not writable"):
        write(changed)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_half_way_leaves_the_file_whole(
    step: str, changed: Rewrite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(NotWritten, match="No space left"):
        write(changed)
    assert (tmp_path / "a.cpp").read_text() == "int a;\n"
    assert os.listdir(tmp_path) == ["a.cpp"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.cpp").write_text("int a;\n")
    link = tmp_path / "link.cpp"
    link.symlink_to(tmp_path / "real.cpp")
    write(Rewrite(DISK.read(str(link)), b"int b;\n"))
    assert link.is_symlink()
    assert (tmp_path / "real.cpp").read_text() == "int b;\n"


A, B, C = Edit(Span(0, 3), "long"), Edit(Span(4, 5), "b"), Edit(Span(2, 5), "x")


@pytest.mark.parametrize(
    ("edits", "text"),
    [
        pytest.param([[A], [B]], b"long b;\n", id="side by side"),
        pytest.param([[A, B], [A]], b"long b;\n", id="the same edit twice is one"),
        pytest.param([[A], [C]], b"long a;\n", id="an overlap is held back"),
        pytest.param([[C], [A, B]], b"inx;\n", id="held back whole, not in part"),
        pytest.param([[Edit(Span(3, 3), "!")], [Edit(Span(3, 3), "?")]], b"int! a;\n", id="two insertions at a place"),
        pytest.param([[Edit(Span(0, 0), "x ")], [A]], b"x long a;\n", id="an insertion before a change"),
    ],
)
def test_edits_are_sorted_and_overlaps_refused(edits: list[list[Edit]], text: bytes) -> None:
    source = Source("a.txt", b"int a;\n")
    result = rewrite(source, [finding(*group) for group in edits], FixChoice())
    assert result.text == text
    assert len(result.applied) + len(result.held_back) == len(edits)


@pytest.mark.parametrize(
    ("applicability", "unsafe", "applied"),
    [
        (Applicability.SAFE, False, True),
        (Applicability.UNSAFE, False, False),
        (Applicability.UNSAFE, True, True),
        (Applicability.DISPLAY, True, False),
    ],
)
def test_what_a_run_applies(applicability: Applicability, unsafe: bool, applied: bool) -> None:
    result = rewrite(Source("a.cpp", b"int a;\n"), [finding(B, applicability=applicability)], FixChoice(unsafe=unsafe))
    assert result.changed is applied


def test_an_edit_that_would_break_the_code_is_refused() -> None:
    result = rewrite(Source("a.cpp", b"int a;\n"), [finding(Edit(Span(0, 3), "int ((("))], FixChoice())
    assert result.refused == "the edits would leave code that cannot be parsed"
    assert not result.changed


@given(st.binary(max_size=40), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5)), max_size=5))
def test_no_byte_outside_the_edits_changes(text: bytes, places: list[tuple[int, int]]) -> None:
    edits, end = [], 0
    for start, length in sorted(places):
        if start >= end and start + length <= len(text):
            edits.append(Edit(Span(start, start + length), "<>"))
            end = start + length + 1
    result = apply_edits(text, edits)
    kept = b"".join(
        text[a:b]
        for a, b in zip([0, *(e.span.end for e in edits)], [*(e.span.start for e in edits), len(text)], strict=True)
    )
    assert len(result) == len(kept) + 2 * len(edits)
    position = 0
    for edit in edits:
        kept_before = edit.span.start - position
        assert result.startswith(text[position : edit.span.start])
        result = result[kept_before + 2 :]
        position = edit.span.end
    assert result == text[position:]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("  a();\n  G g;\n  b();\n", "  a();\n  b();\n", id="alone on its line"),
        pytest.param("  a();\r\n  G g;\r\n  b();\r\n", "  a();\r\n  b();\r\n", id="CRLF"),
        pytest.param("  G g;  // why\n  b();\n", "  // why\n  b();\n", id="a comment behind it stays"),
        pytest.param("  G g; /* why */\n", "  /* why */\n", id="a block comment behind it stays"),
        pytest.param("  a(); G g;\n", "  a();\n", id="last on a line"),
        pytest.param("  G g; b();\n", "  b();\n", id="first on a line"),
        pytest.param("  a(); G g; b();\n", "  a(); b();\n", id="in the middle"),
        pytest.param("{ G g; }", "{ }", id="alone in a block"),
        pytest.param("  G g;", "", id="no line end"),
        pytest.param("  G\n    g(\n      true);\n  b();\n", "  b();\n", id="over lines"),
    ],
)
def test_taking_a_statement_out(before: str, after: str) -> None:
    text = before.encode()
    start = text.index(b"G")
    end = text.index(b";", start) + 1
    assert apply_edits(text, [removal(text, Span(start, end))]).decode() == after


@pytest.mark.parametrize(
    ("block", "place", "statement"),
    [
        ("{ a(); b = X(1); c(); }", "X", "b = X(1); c(); }"),
        ("{ try { m = X(p); } catch (...) { } c(); }", "X", "try { m = X(p); } catch (...) { } c(); }"),
        ("{ if (a) { b(); } X(); }", "X", "X(); }"),
        ("{\n#ifdef A\n  X();\n}", "X", "X();\n}"),
        ("{ auto l = [] { return 1; }; X(); }", "X", "X(); }"),
        ("{ for (int i = 0; i < X(); ++i) {} }", "X", "for (int i = 0; i < X(); ++i) {} }"),
    ],
)
def test_where_a_statement_begins(block: str, place: str, statement: str) -> None:
    code = block.encode()
    start = statement_around(code, Span(0, len(code)), code.index(place.encode()))
    assert code[start:].decode() == statement
