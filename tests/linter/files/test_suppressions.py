"""Comments that silence findings: as clang-tidy and Ruff read them, and in comments only."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from guardfix.linter.engine import Options, check
from guardfix.linter.files.sources import Source
from guardfix.linter.files.suppressions import SilencedRows, find_directives
from guardfix.linter.frontends.cpp.cpp_masking import cpp_comments
from guardfix.linter.frontends.python.python_comments import python_comments


@pytest.mark.parametrize(
    ("line", "silent"),
    [
        pytest.param("x;  // NOLINT", True, id="everything"),
        pytest.param("x;  // NOLINT: the old API", True, id="everything, with a reason"),
        pytest.param("x;  /* NOLINT */ y;", True, id="in a block comment"),
        pytest.param("x;  // NOLINT(GF101)", True, id="a code"),
        pytest.param("x;  // NOLINT(gf101)", True, id="a code in lower case"),
        pytest.param("x;  // NOLINT(guardfix-legacy-guard)", True, id="a name with the tool's"),
        pytest.param("x;  // NOLINT(Legacy-Guard)", True, id="a name in any case"),
        pytest.param("x;  // NOLINT(bugprone-foo, GF101)", True, id="beside another tool's check"),
        pytest.param("x;  // NOLINT(GF1*)", True, id="a pattern"),
        pytest.param("x;  // NOLINT(*-guard)", True, id="a pattern of names"),
        pytest.param("x;  // NOLINT(*)", True, id="a pattern for everything"),
        pytest.param("x;  // NOLINT(GF1)", True, id="a prefix"),
        pytest.param("x;  // NOLINT(deprecated)", True, id="a group"),
        pytest.param("x;  // noqa: guardfix-Deprecated", True, id="a group with the tool's name, in any case"),
        pytest.param("x;  // NOLINT(redundant)", False, id="another group"),
        pytest.param("x;  // NOLINT(GF102)", False, id="another code"),
        pytest.param("x;  // NOLINT(bugprone-foo)", False, id="another tool's check"),
        pytest.param("x;  // NOLINT(google-runtime-int)", False, id="another tool's check whose name begins with g"),
        pytest.param("x;  // NOLINT()", False, id="an empty list names nothing"),
        pytest.param("x;  // NOLINT (GF102)", False, id="another code behind a space"),
        pytest.param("x;  // NOLINT (GF101)", True, id="a code behind a space"),
        pytest.param("x;  // NOLINT ( bugprone-foo, GF101 )", True, id="codes behind a space"),
        pytest.param("x;  // NOLINT (google-runtime-int)", False, id="another tool's check behind a space"),
        pytest.param("x;  // NOLINT (see the notes)", True, id="prose in brackets"),
        pytest.param("x;  // NOLINTNEXTLINE(GF101)", False, id="the next line, not this one"),
        pytest.param("x;  // NOLINTING", False, id="another word"),
        pytest.param('x("NOLINT");', False, id="in a string"),
        pytest.param('x("// NOLINT");', False, id="a comment in a string"),
        pytest.param('x(R"(// NOLINT)");', False, id="a comment in a raw string"),
        pytest.param("x('\"'); // NOLINT", True, id="behind a quote in a literal"),
        pytest.param("NOLINT(x);", False, id="a macro of that name"),
        pytest.param("x;  // noqa", True, id="noqa"),
        pytest.param("x;  // NOQA", True, id="noqa in capitals"),
        pytest.param("x;  // noqa: GF101", True, id="noqa with a code"),
        pytest.param("x;  // noqa:GF101,GF102", True, id="noqa without spaces"),
        pytest.param("x;  // noqa: gf101", True, id="noqa with a code in lower case"),
        pytest.param("x;  // noqa : GF102", False, id="noqa with a space before the colon"),
        pytest.param("x;  // noqa: E501, legacy-guard", True, id="noqa with a name behind a code"),
        pytest.param("x;  // noqa: E501 GF101", True, id="noqa with codes apart by spaces"),
        pytest.param("x;  // noqa: E501", False, id="noqa with another tool's code"),
        pytest.param("x;  // the old API // noqa", True, id="noqa in a comment of its own behind another"),
        pytest.param("x;  // has no noqa yet", False, id="noqa in a sentence"),
        pytest.param("x;  // guardfix: ignore-file", True, id="the file"),
        pytest.param('x("guardfix: ignore-file");', False, id="the file, in a string"),
    ],
)
def test_in_cpp(line: str, silent: bool) -> None:
    source = Source("a.cpp", line.encode())
    found = find_directives(source.text, source.row, cpp_comments).suppressions
    assert SilencedRows(found).silence(range(1, 2), "GF101", "legacy-guard", "deprecated") is silent


@pytest.mark.parametrize(
    ("line", "silent"),
    [
        pytest.param("x  # noqa", True, id="everything"),
        pytest.param("x  # noqa: GF403", True, id="a code"),
        pytest.param("x  # noqa:gf403", True, id="a code in lower case"),
        pytest.param("x  # noqa: F401, GF403 because", True, id="a code behind another tool's"),
        pytest.param("x  # type: ignore # noqa: GF403", True, id="behind another comment"),
        pytest.param("x  # NOLINT(GF403)", True, id="as in C++"),
        pytest.param("x  # noqa: F401", False, id="another tool's code"),
        pytest.param("x  # noqa: GF402", False, id="another code"),
        pytest.param("x = '# noqa'", False, id="in a string"),
        pytest.param('x = "a \\" # noqa"', False, id="in a string behind an escaped quote"),
        pytest.param("x = r'\\' # noqa'", False, id="in a raw string behind an escaped quote"),
        pytest.param("x = '''\n# noqa: GF403\n'''", False, id="in a long string"),
        pytest.param("x = '''\nit's\n'''  # noqa: GF403", True, id="behind a long string with a quote"),
        pytest.param("x = f\"{y['#']}\"  # noqa", True, id="behind an f-string that holds a hash"),
        pytest.param('"guardfix: ignore-file"', False, id="the file, in a string"),
        pytest.param("# guardfix: ignore-file", True, id="the file"),
    ],
)
def test_in_python(line: str, silent: bool) -> None:
    source = Source("a.py", line.encode())
    found = find_directives(source.text, source.row, python_comments).suppressions
    assert SilencedRows(found).silence(range(1, 4), "GF403", "uncalled-guard") is silent


UNMATCHED = "has no matching NOLINTEND and suppresses nothing"
LOOSE = "has no matching NOLINTBEGIN and suppresses nothing"


@pytest.mark.parametrize(
    ("lines", "silent", "notes"),
    [
        pytest.param("x|// NOLINTBEGIN|x|x|// NOLINTEND|x", [2, 3, 4, 5], [], id="everything between"),
        pytest.param("// NOLINTBEGIN(GF101)|x|// NOLINTEND(GF101)|x", [1, 2, 3], [], id="with a code"),
        pytest.param("// NOLINTBEGIN(GF102)|x|// NOLINTEND(GF102)", [], [], id="another code"),
        pytest.param("// NOLINTBEGIN(google-*)|x|// NOLINTEND(google-*)", [], [], id="another tool's"),
        pytest.param(
            "// NOLINTBEGIN(GF102)|// NOLINTBEGIN(GF101)|x|// NOLINTEND(GF101)|x|// NOLINTEND(GF102)",
            [2, 3, 4],
            [],
            id="nested",
        ),
        pytest.param("// NOLINTBEGIN(GF101)|x", [], [f"line 1: `NOLINTBEGIN(GF101)` {UNMATCHED}"], id="no end"),
        pytest.param("x|// NOLINTEND", [], [f"line 2: `NOLINTEND` {LOOSE}"], id="no begin"),
        pytest.param(
            "// NOLINTBEGIN(GF101)|x|// NOLINTEND",
            [],
            [f"line 1: `NOLINTBEGIN(GF101)` {UNMATCHED}", f"line 3: `NOLINTEND` {LOOSE}"],
            id="other checks at the end",
        ),
        pytest.param(
            "// NOLINTBEGIN(GF101)|// NOLINTBEGIN(GF102)|x|// NOLINTEND(GF101)|// NOLINTEND(GF102)",
            [],
            [
                f"line 1: `NOLINTBEGIN(GF101)` {UNMATCHED}",
                f"line 4: `NOLINTEND(GF101)` {LOOSE}",
            ],
            id="crossed",
        ),
        pytest.param("// NOLINTBEGIN(google-*)|x", [], [], id="another tool's without an end is its own affair"),
        pytest.param('x("// NOLINTBEGIN");|x|// NOLINTEND(bugprone-a)', [], [], id="a begin in a string"),
        pytest.param("// NOLINTNEXTLINE|x|x", [2], [], id="the next line"),
        pytest.param("/* NOLINTBEGIN */ x|/* NOLINTEND */|x", [1, 2], [], id="in block comments"),
    ],
)
def test_begin_and_end(lines: str, silent: list[int], notes: list[str]) -> None:
    source = Source("a.cpp", lines.replace("|", "\n").encode())
    found = find_directives(source.text, source.row, cpp_comments)
    rows = range(1, lines.count("|") + 2)
    assert [
        r for r in rows if SilencedRows(found.suppressions).silence(range(r, r + 1), "GF101", "legacy-guard")
    ] == silent
    assert list(found.notes) == notes


WIDE = """void f(at::Tensor& a) {{
  static{0}
      at::AutoNonVariableTypeMode g({1}
          true);{2}
  a.set_(a);{3}
}}
"""
LAMBDA = """void f(at::Tensor& a) {
  run([&] {
    a.set_(a);  // NOLINT
    int b;
  }, std::make_unique<at::AutoNonVariableTypeMode>());
}
"""
STRING = 'TEXT = """\nvoid f(at::Tensor& a) {{\n  at::AutoNonVariableTypeMode g;{0}\n  a.set_(a);\n}}\n"""{1}\n'
DOCUMENT = "{0}\n```cpp\nvoid f(at::Tensor& a) {{\n  at::AutoNonVariableTypeMode g;{1}\n}}\n```\n"


@pytest.mark.parametrize(
    ("name", "text", "silent"),
    [
        pytest.param("a.cpp", WIDE.format("", "", "", ""), False, id="nothing silences"),
        pytest.param("a.cpp", WIDE.format("  // NOLINT(GF101)", "", "", ""), True, id="first line of three"),
        pytest.param("a.cpp", WIDE.format("", "  // NOLINT(GF101)", "", ""), True, id="second line of three"),
        pytest.param("a.cpp", WIDE.format("", "", "  // NOLINT(GF101)", ""), True, id="third line of three"),
        pytest.param("a.cpp", WIDE.format("", "", "", "  // NOLINT(GF101)"), False, id="the line behind"),
        pytest.param("a.cpp", LAMBDA, False, id="a line of a function inside the statement"),
        pytest.param("a.cpp", LAMBDA.replace("());", "());  // NOLINT"), True, id="the guard's own line in it"),
        pytest.param("a.py", STRING.format("", ""), False, id="C++ in a string"),
        pytest.param("a.py", STRING.format("  // NOLINT(GF105)", ""), True, id="a comment of the C++ in a string"),
        pytest.param("a.py", STRING.format("  # noqa: GF105", ""), False, id="what is not a comment in the C++"),
        pytest.param("a.py", STRING.format("", "  # noqa: GF105"), True, id="a comment behind the string"),
        pytest.param("a.py", STRING.format("", "\n# noqa: GF105"), False, id="a comment below the string"),
        pytest.param("a.md", DOCUMENT.format("", ""), False, id="C++ in a document"),
        pytest.param("a.md", DOCUMENT.format("", "  // NOLINT"), True, id="a comment of the C++ in a document"),
        pytest.param("a.md", DOCUMENT.format("<!-- guardfix: ignore-file -->", ""), True, id="a document's comment"),
        pytest.param("a.md", DOCUMENT.format("guardfix: ignore-file", ""), False, id="a document's text"),
    ],
)
def test_where_a_comment_silences_a_finding(name: str, text: str, silent: bool, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    report = check([str(path)], Options(select=("GF101", "GF105"), include_docs=True, workers=1))
    assert (len(report.findings), report.suppressed) == ((0, 1) if silent else (1, 0))


def test_unmatched_directives_are_among_the_notes_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text("// NOLINTBEGIN(GF101)\n" + WIDE.format("", "", "", ""))
    report = check([str(path)], Options(select=("GF101",), workers=1))
    assert len(report.findings) == 1
    assert [note for facts in report.project for note in facts.notes] == [f"line 1: `NOLINTBEGIN(GF101)` {UNMATCHED}"]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        pytest.param(b"// NOLINT(GF101," * 20_000, 0, id="brackets that nobody closes"),
        pytest.param(b"// NOLINT (GF101," * 20_000, 0, id="with a space"),
        pytest.param(b"// NOLINT (" + b"1" * 200_000, 0, id="a long number"),
        pytest.param(b"// NOLINT (" + b"a-" * 100_000, 0, id="a long name"),
        pytest.param(b"// " + b"# " * 100_000, 0, id="many signs"),
        pytest.param(b"// noqa: " + b"GF101, " * 50_000 + b"!", 1, id="many codes"),
    ],
)
def test_comments_of_any_length(text: bytes, rows: int) -> None:
    start = time.process_time()
    source = Source("a.cpp", text + b"\n")
    found = find_directives(source.text, source.row, cpp_comments)
    assert len(found.suppressions) >= rows
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("given", "silent"),
    [
        ("*", True), ("GF*", True), ("*101", True), ("G*1*1", True), ("G*F*1*0*1", True), ("gf10*1", True), ("*legacy*", True), ("legacy-*", True),
        ("GF1*02", False), ("GF101*101", False), ("*a" * 60 + "b", False), ("guardfix-*", True),
    ],
)  # fmt: skip
def test_stars(given: str, silent: bool) -> None:
    source = Source("a.cpp", f"x; // NOLINT({given})\n".encode())
    found = find_directives(source.text, source.row, cpp_comments)
    assert SilencedRows(found.suppressions).silence(range(1, 2), "GF101", "legacy-guard") is silent
