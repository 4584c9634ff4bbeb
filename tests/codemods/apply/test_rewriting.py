"""Fixes -> a file's new text: what is taken, what overlaps, what is refused."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from guardfix.codemods.apply.rewriting import apply_edits, rewrite
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fix import Edit, Fix
from guardfix.codemods.fixable import FixableFinding
from guardfix.linter.facts import Span
from guardfix.linter.files.sources import Source
from guardfix.linter.findings import Applicability, Severity


def finding(*edits: Edit, applicability: Applicability = Applicability.SAFE) -> FixableFinding:
    fix = Fix("change it", applicability, edits)
    return FixableFinding(
        "GF101", "legacy-guard", "m", Severity.WARNING, "a.cpp", edits[0].span, make=lambda finding: fix
    )


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


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # slow is the machine, when it is shared
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
