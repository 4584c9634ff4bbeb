"""Statements that are taken out, and where they begin."""

from __future__ import annotations

import pytest

from guardfix.codemods.apply.rewriting import apply_edits
from guardfix.codemods.edits.statements import removal, removal_with_comment, statement_around, without_gap
from guardfix.linter.facts import Span


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
        pytest.param(
            "  G g; /* one */ b(); /* two */\n", "  /* one */ b(); /* two */\n", id="code between two comments"
        ),
        pytest.param(
            "  G g;  // why \\\n  and more\n  b();\n", "  // why \\\n  and more\n  b();\n", id="a comment of two lines"
        ),
        pytest.param(
            "#define M \\\n  a(); \\\n  G g;\nb();\n", "#define M \\\n  a(); \\\n  \nb();\n", id="last line of a macro"
        ),
    ],
)
def test_taking_a_statement_out(before: str, after: str) -> None:
    text = before.encode()
    start = text.index(b"G")
    end = text.index(b";", start) + 1
    assert apply_edits(text, [removal(text, Span(start, end))]).decode() == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("a();\n\nG g;\n\nb();\n", "a();\n\nb();\n", id="blank lines on both sides"),
        pytest.param("a();\n\n\nG g;\n\nb();\n", "a();\n\n\nb();\n", id="more of them before"),
        pytest.param("a();\n\nG g;\n\n\nb();\n", "a();\n\n\nb();\n", id="more of them behind"),
        pytest.param("a();\n\nG g;\n  \nb();\n", "a();\n\nb();\n", id="blanks on a line"),
        pytest.param("{\n  G g;\n\n  b();\n}\n", "{\n  b();\n}\n", id="first in a block"),
        pytest.param("{\n\n  G g;\n\n  b();\n}\n", "{\n\n  b();\n}\n", id="first in a block that begins with one"),
        pytest.param("{\n  a();\n\n  G g;\n}\n", "{\n  a();\n}\n", id="last in a block"),
        pytest.param("{\n\n  G g;\n\n}\n", "{\n}\n", id="alone in a block"),
        pytest.param("a();\nG g;\n\nb();\n", "a();\n\nb();\n", id="what parts two groups stays"),
        pytest.param("a();\n\nG g;\nb();\n", "a();\n\nb();\n", id="so it does before"),
        pytest.param(
            "{ a();\n\n  c(); G g;\n\n  b(); }\n", "{ a();\n\n  c();\n\n  b(); }\n", id="not alone on its line"
        ),
        pytest.param("{\n  G g;  // why\n\n  b();\n}\n", "{\n  // why\n\n  b();\n}\n", id="its comment stays"),
        pytest.param("G g;\n\nb();\n", "\nb();\n", id="first in the file"),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_no_gap_is_left(before: str, after: str, line_end: str) -> None:
    text = before.replace("\n", line_end).encode()
    start = text.index(b"G")
    taken = without_gap(text, removal(text, Span(start, text.index(b";", start) + 1)))
    assert apply_edits(text, [taken]).decode() == after.replace("\n", line_end)


@pytest.mark.parametrize(
    ("before", "after", "comment"),
    [
        pytest.param("  a();\n  G g;  // why\n  b();\n", "  a();\n  b();\n", "  // why", id="a comment"),
        pytest.param(
            "  G g; /* one */ b(); /* two */\n", "  /* one */ b(); /* two */\n", "", id="code between two comments"
        ),
        pytest.param("  G g; /* one */ /* two */\n", "  /* one */ /* two */\n", "", id="two comments"),
        pytest.param(
            "  G g; // why \\\n  and more\n  b();\n", "  b();\n", " // why \\\n  and more", id="a comment of two lines"
        ),
        pytest.param(
            "  G g; // why \\\r\n  and more\r\n  b();\r\n", "  b();\r\n", " // why \\\r\n  and more", id="CRLF"
        ),
    ],
)
def test_taking_a_statement_out_with_its_comment(before: str, after: str, comment: str) -> None:
    text = before.encode()
    start = text.index(b"G")
    edit, taken = removal_with_comment(text, Span(start, text.index(b";", start) + 1))
    assert (apply_edits(text, [edit]).decode(), taken) == (after, comment)


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
