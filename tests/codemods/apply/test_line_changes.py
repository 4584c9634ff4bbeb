"""The lines that edits change, as difflib would say it, and in proportion to the lines."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from call_counting import calls_made
from guardfix.codemods.apply.line_changes import changed_lines
from guardfix.codemods.apply.rewriting import Rewrite, apply_edits
from guardfix.codemods.apply.unified_diff import unified_diff
from guardfix.codemods.fix import Edit
from guardfix.linter.facts import Span
from guardfix.linter.files.sources import Source

TEXTS = st.text("ab\n\r\u00e9", max_size=30).map(str.encode)


def step(text: bytes, places: list[int], content: str) -> Rewrite:
    """Edits between each second pair of places, so that none touches another."""
    cuts = sorted({place % (len(text) + 1) for place in places if (text[place % (len(text) + 1) :] or b"a")[0] < 0x80})
    edits = [Edit(Span(low, high), content) for low, high in zip(cuts[::2], cuts[1::2], strict=False)]
    return Rewrite(Source("a.cpp", text), apply_edits(text, edits), edits=edits)


def lines(text: bytes) -> list[bytes]:
    return re.findall(rb"[^\n]*\n|[^\n]+", text)


@given(
    TEXTS,
    st.lists(st.integers(0, 30), max_size=6),
    st.lists(st.integers(0, 30), max_size=6),
    st.sampled_from(["", "a", "\n", "b\n"]),
)
def test_the_codes_lead_from_one_text_to_the_other(
    text: bytes, first: list[int], second: list[int], content: str
) -> None:
    rewrite = step(text, first, content)
    rewrite = rewrite.then(step(rewrite.text, second, "b"))
    before, after = lines(text), lines(rewrite.text)
    old = new = 0
    for kind, a, b, c, d in changed_lines(before, after, rewrite.stays()):
        assert (a, c) == (old, new)
        assert (before[a:b] == after[c:d]) is (kind == "equal")
        assert (
            kind == {(True, True): "replace", (True, False): "delete", (False, True): "insert"}[b > a, d > c]
            or kind == "equal"
        )
        old, new = b, d
    assert (old, new) == (len(before), len(after))


@pytest.mark.parametrize(
    ("text", "edits", "wanted"),
    [
        pytest.param(b"a\nb\nc\n", [Edit(Span(2, 3), "x")], ["equal 0-1", "replace 1-2", "equal 2-3"], id="a line"),
        pytest.param(b"a\nb\nc\n", [Edit(Span(2, 4), "")], ["equal 0-1", "delete 1-2", "equal 2-3"], id="a line that goes"),
        pytest.param(b"a\nb\n", [Edit(Span(2, 2), "x\n")], ["equal 0-1", "insert 1-1", "equal 1-2"], id="a new line"),
        pytest.param(b"a\nb\n", [Edit(Span(1, 1), "x")], ["replace 0-1", "equal 1-2"], id="the end of a line"),
        pytest.param(b"a\nb\n", [Edit(Span(1, 2), "")], ["replace 0-2"], id="two lines become one"),
        pytest.param(b"a\nb", [Edit(Span(3, 3), "\n")], ["equal 0-1", "replace 1-2"], id="an end for the last line"),
        pytest.param(b"a\na\na\n", [Edit(Span(2, 4), "")], ["equal 0-1", "delete 1-2", "equal 2-3"], id="one of several like lines"),
        pytest.param(b"a\n", [Edit(Span(0, 2), "")], ["delete 0-1"], id="all"),
    ],
)  # fmt: skip
def test_what_happens_to_lines(text: bytes, edits: list[Edit], wanted: list[str]) -> None:
    rewrite = Rewrite(Source("a.cpp", text), apply_edits(text, edits), edits=edits)
    found = changed_lines(lines(text), lines(rewrite.text), rewrite.stays())
    assert [f"{kind} {a}-{b}" for kind, a, b, _, _ in found] == wanted


@pytest.mark.parametrize(
    "function", ["void f%d() {\n  old();\n}\n\n", "void f() {\n  old();\n}\n\n"], ids=["names", "like"]
)
def test_the_work_for_a_diff_grows_with_the_lines(function: str) -> None:
    def work(count: int) -> int:
        text = "".join(function % number if "%" in function else function for number in range(count)).encode()
        edits = [Edit(Span(match.start(), match.end()), "new") for match in re.finditer(rb"old", text)]
        rewrite = Rewrite(Source("a.cpp", text), apply_edits(text, edits), edits=edits)
        return calls_made(lambda: unified_diff(rewrite))

    one, two, four = work(50), work(100), work(200)
    assert math.log2((four - two) / (two - one)) < 1.15
