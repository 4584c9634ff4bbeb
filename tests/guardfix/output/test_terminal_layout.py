"""What is printed fits under and beside what it belongs to: wide characters, tabs, narrow terminals."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guardfix.output.terminal_layout import cells, displayable, frame, has_links, reflowed, wrapped

pytestmark = pytest.mark.usefixtures("away_from_home")


@pytest.mark.parametrize(
    ("text", "width"),
    [
        pytest.param("abc", 3, id="ASCII"),
        pytest.param("größe", 5, id="Latin"),
        pytest.param("解決", 4, id="CJK"),
        pytest.param("\uff21\uff22", 4, id="full-width letters"),
        pytest.param("ｱｲ", 2, id="half-width kana"),
        pytest.param("🙂", 2, id="emoji"),
        pytest.param("e\u0301", 1, id="a combining accent"),
        pytest.param("a\u200db", 2, id="a joiner"),
    ],
)
def test_cells(text: str, width: int) -> None:
    assert cells(text) == width


@pytest.mark.parametrize(
    ("before", "marked", "after", "width", "code", "under"),
    [
        pytest.param("a ", "G", " g;", None, "a G g;", "  ^", id="plain"),
        pytest.param("\t", "G", ";", None, "    G;", "    ^", id="a tab before"),
        pytest.param(
            "b" * 10**6,
            "G",
            "a" * 10**6,
            None,
            "…" + "b" * 497 + "G…",
            " " * 498 + "^",
            id="a line of megabytes in a pipe",
        ),
        pytest.param("", "G", "a" * 10**6, None, "G" + "a" * 498 + "…", "^", id="the beginning of such a line"),
        pytest.param("a", "G\tx", ";", None, "aG    x;", " ^^^^^^", id="a tab in it"),
        pytest.param("/* 解決 */ ", "G", ";", None, "/* 解決 */ G;", "           ^", id="CJK before"),
        pytest.param("/*🙂*/", "G", ";", None, "/*🙂*/G;", "      ^", id="an emoji before"),
        pytest.param("e\u0301 ", "G", ";", None, "e\u0301 G;", "  ^", id="a combining accent before"),
        pytest.param("", "解", ";", None, "解;", "^^", id="CJK in it"),
        pytest.param("\x1b[31m", "G", ";", None, "␛[31mG;", "     ^", id="an escape is not a colour"),
        pytest.param("a", "", "b", None, "ab", " ^", id="nothing marked"),
        pytest.param("ab ", "GG", " gh;", 9, "ab GG gh;", "   ^^", id="just fits"),
        pytest.param("ab ", "GG", " gh;", 8, "ab GG g…", "   ^^", id="cut behind"),
        pytest.param("abcdef ", "GG", " gh;", 8, "…def GG…", "     ^^", id="cut before"),
        pytest.param("abcdef ", "GG", " gh;", 6, "…f GG…", "   ^^", id="cut on both sides"),
        pytest.param("abcdef ", "GGGGGGGG", ";", 6, "…GGGG…", " ^^^^", id="cut in the marked code"),
        pytest.param("", "GGGGGGGG", ";", 6, "GGGGG…", "^^^^^", id="cut in the marked code at the beginning"),
        pytest.param("解解解解 ", "GG", ";", 8, "…解 GG;", "    ^^", id="a wide character that fits only in part"),
    ],
)
def test_frame(before: str, marked: str, after: str, width: int | None, code: str, under: str) -> None:
    part = frame(before + marked + after, len(before), len(before + marked), width)
    assert part.code == code
    assert part.before + part.carets == under


TEXT = st.text(st.sampled_from("ab \t解🙂e\u0301G;"), max_size=30)


@given(TEXT, TEXT.filter(lambda text: cells(displayable(text)) > 0), TEXT, st.integers(8, 40))
def test_a_frame_fits_and_its_carets_stand_below_what_is_marked(
    before: str, marked: str, after: str, width: int
) -> None:
    part = frame(before + marked + after, len(before), len(before + marked), width)
    assert cells(part.code) <= width
    assert cells(part.before + part.carets) <= width
    # Cell by cell: what stands above the carets is the marked code, whole or its beginning.
    row = [character for character in part.code for _ in range(cells(character))]
    above = "".join(row[len(part.before) : len(part.before + part.carets)])
    expected = "".join(character for character in displayable(marked) for _ in range(cells(character)))
    assert above == expected[: len(above)]
    assert len(above) == len(expected) or part.code.endswith("…")


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        pytest.param("one two three", None, ["one two three"], id="no width"),
        pytest.param("one two three", 20, ["one two three"], id="fits"),
        pytest.param("one two three four", 12, ["one two", "  three four"], id="at words, with the indent"),
        pytest.param(
            "at a/very/long/path.cpp is", 12, ["at", "  a/very/long/path.cpp", "  is"], id="a long word stays whole"
        ),
        pytest.param("a/long/path is", 8, ["", "  a/long/path", "  is"], id="nothing fits beside what is there"),
        pytest.param("解決 解決 解決", 12, ["解決", "  解決 解決"], id="by cells"),
    ],
)
def test_wrapped(text: str, width: int | None, lines: list[str]) -> None:
    assert wrapped(text, width, first=4 if width else 0, indent="  ") == lines


@pytest.mark.parametrize("width", [None, 12, 80])
def test_the_first_line_keeps_its_indent(width: int | None) -> None:
    lines = wrapped("  1. one two three", width, indent="     ")
    assert lines == (["  1. one two", "     three"] if width == 12 else ["  1. one two three"])


CODE = """#include <torch/torch.h>

class ScaleFunction : public torch::autograd::Function<ScaleFunction> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x) {
    /* 解決 */ at::AutoNonVariableTypeMode g;  // it has always been like this, and nobody knows why
    return f(x);
  }
};
"""


def on_terminal(arguments: list[str], cwd: Path, *, errors: bool = False, **env: str) -> str:
    """What a command prints on a terminal, with or without standard error."""
    pty = pytest.importorskip("pty", reason="no pseudo-terminals here")
    ours, theirs = pty.openpty()
    clean = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    process = subprocess.Popen(
        [sys.executable, "-m", "guardfix", *arguments],
        cwd=cwd,
        env={**clean, "TERM": "xterm", **env},
        stdout=theirs,
        stderr=theirs if errors else subprocess.DEVNULL,
    )
    os.close(theirs)
    data = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # how Linux says that nobody writes any more
            break
        if not piece:
            break
        data += piece
    process.wait(60)
    os.close(ours)
    return data.decode().replace("\r\n", "\n")


def test_on_a_narrow_terminal_lines_break_at_words(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(CODE)
    assert on_terminal(["check", "a.cpp"], tmp_path, COLUMNS="50", TERM="dumb") == (
        "a.cpp:5:14: GF101 [*] AutoNonVariableTypeMode is\n"
        "    deprecated; use\n"
        "    at::AutoDispatchBelowADInplaceOrView for code\n"
        "    that runs as a kernel below autograd\n"
        "   |\n"
        " 5 |     /* 解決 */ at::AutoNonVariableTypeMode g…\n"
        "   |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "   |                kernel, high confidence\n"
        "   = for kernel: is in `ScaleFunction::forward` of\n"
        "     a torch::autograd::Function, which runs as an\n"
        "     autograd kernel (line 4)\n"
        "   = fix: replace at::AutoNonVariableTypeMode with\n"
        "     at::AutoDispatchBelowADInplaceOrView\n"
        "\n"
        "Found 1 issue in 1 file (1 file checked).\n"
        "[*] 1 can be applied: `guardfix migrate --apply`.\n"
    )


NARROW = [
    pytest.param([], "[OPTIONS]", id="no command"),
    pytest.param(["status", "."], "1 wants review: `guardfix migrate --unsafe`", id="status"),
    pytest.param(["config", "reindent-limit"], "read from the\nconfiguration", id="a setting"),
    pytest.param(["rules"], "redundant\n    sometimes an unsafe fix\n    `forward`", id="rules"),
    pytest.param(["migrate", "--apply", "."], "needs --unsafe: remove the guard: it\n    doesn't", id="what is left"),
    pytest.param(["check", "--diff", "nope"], "to show\n    what", id="an error"),
    pytest.param(["run", "-I", "nowhere", "a.cpp"], "Directory\n    'nowhere' does", id="an error of click's"),
    pytest.param(["schema", "nope"], "one of\n    'baseline'", id="a choice"),
]


@pytest.mark.few("status", "an error")
@pytest.mark.parametrize(("arguments", "part"), NARROW)
def test_no_word_is_broken_on_a_narrow_terminal(arguments: list[str], part: str, tmp_path: Path) -> None:
    unsafe = "void f(at::Tensor x) {\n  run(x);\n  at::AutoNonVariableTypeMode g;\n}\n"
    (tmp_path / "a.cpp").write_text(unsafe)
    shown = on_terminal(arguments, tmp_path, errors=True, COLUMNS="58", TERM="dumb")
    assert part in shown
    assert [line for line in shown.split("\n") if len(line) > 58] == []


def test_in_a_pipe_nothing_breaks(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(CODE)
    outcome = subprocess.run(
        [sys.executable, "-m", "guardfix", "check", "a.cpp"],
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "40"},
        capture_output=True,
        check=False,
    )
    assert max(map(len, outcome.stdout.decode().splitlines())) > 100


@pytest.mark.parametrize(
    ("env", "arguments", "colored"),
    [
        pytest.param({}, [], True, id="a terminal"),
        pytest.param({"TERM": "dumb"}, [], False, id="a terminal that knows no colours"),
        pytest.param({"NO_COLOR": "1"}, [], False, id="NO_COLOR"),
        pytest.param({"TERM": "dumb"}, ["--color", "always"], True, id="asked for"),
        pytest.param({}, ["--color", "never"], False, id="refused"),
    ],
)
@pytest.mark.some(2)
def test_colors_on_a_terminal(env: dict[str, str], arguments: list[str], colored: bool, tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(CODE)
    plain = on_terminal(["check", "--color", "never", "a.cpp"], tmp_path, COLUMNS="60")
    printed = on_terminal(["check", *arguments, "a.cpp"], tmp_path, COLUMNS="60", **env)
    assert ("\x1b[" in printed) is colored
    assert re.sub(r"\x1b\[\d*m", "", printed) == plain


def test_paragraphs_are_broken_anew_and_code_is_not() -> None:
    text = "GF1 a: one two\nthree four.\n\nExample:\n\n    code code code code code;\n    more;\n\nEnd."
    assert reflowed(text, 20) == (
        "GF1 a: one two three\nfour.\n\nExample:\n\n    code code code code code;\n    more;\n\nEnd."
    )
    assert reflowed(text, None) == text


@pytest.mark.parametrize(
    ("environment", "links"),
    [
        pytest.param({}, False, id="an unknown terminal"),
        pytest.param({"TERM": "xterm-256color"}, False, id="a name that many have"),
        pytest.param({"TERM_PROGRAM": "iTerm.app"}, True, id="a program"),
        pytest.param({"TERM": "xterm-kitty"}, True, id="a terminal's name"),
        pytest.param({"VTE_VERSION": "7003"}, True, id="VTE"),
        pytest.param({"VTE_VERSION": "4601"}, False, id="an old VTE"),
        pytest.param({"VTE_VERSION": "7003", "TMUX": "/tmp/x"}, False, id="inside tmux"),
        pytest.param({"TERM_PROGRAM": "vscode", "CI": "true"}, False, id="in CI"),
        pytest.param({"TMUX": "/tmp/x", "FORCE_HYPERLINK": "1"}, True, id="forced"),
        pytest.param({"TERM": "xterm-kitty", "FORCE_HYPERLINK": "0"}, False, id="forbidden"),
    ],
)
def test_which_terminals_have_links(environment: dict[str, str], links: bool) -> None:
    assert has_links(environment) == links


def test_links_lead_to_the_file_and_the_rule() -> None:
    import io

    from guardfix import Options, check_text
    from guardfix.output.format_registry import Output, load_format

    report = check_text("void f() { at::AutoNonVariableTypeMode g; }\n", "/src/ä b.cpp", options=Options())
    for name in ("full", "concise"):
        stream = io.StringIO()
        load_format(name).findings(report, Output(stream, color=True, links=True))
        text = stream.getvalue()
        assert "\x1b]8;;file:///src/%C3%A4%20b.cpp\x1b\\" in text
        assert "docs/rules.md#gf101-legacy-guard\x1b\\" in text
        assert text.count("\x1b]8;;\x1b\\") == 2
