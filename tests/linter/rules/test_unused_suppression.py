"""GF002: comments that silence nothing, and what the fix makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from guardfix import Options, check, check_text, fix_text
from guardfix.cli.main import cli
from guardfix.cli.quick import is_clean
from guardfix.output.report_summary import notes

pytestmark = pytest.mark.usefixtures("away_from_home")

CPP = "at::AutoDispatchBelowADInplaceOrView g;"
OLD = "at::AutoNonVariableTypeMode g;"
OPTIONS = Options(extend_select=("GF002",))
DOTS = "// " + "." * 996 + "\n"


@pytest.fixture(autouse=True)
def _nothing_else_is_in_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def in_cpp(line: str) -> str:
    return f"#include <torch/torch.h>\nvoid swap(at::Tensor& a) {{\n{line}\n  a.set_(a);\n}}\n"


FIXED = [
    pytest.param(f"  {CPP}  // NOLINT(GF101)", f"  {CPP}", id="the whole comment"),
    pytest.param(f"  {CPP}  /* NOLINT(GF101) */", f"  {CPP}", id="a comment in C's style"),
    pytest.param(f"  {CPP} /* NOLINT(GF101) */ int x;", f"  {CPP} int x;", id="between code"),
    pytest.param(f"  {CPP}  // NOLINT(GF101,cert-err)", f"  {CPP}  // NOLINT(cert-err)", id="beside another tool's"),
    pytest.param(f"  {CPP}  // NOLINT(cert-err, GF101, b)", f"  {CPP}  // NOLINT(cert-err, b)", id="between others"),
    pytest.param(f"  {OLD}  // NOLINT(GF101,GF102)", f"  {OLD}  // NOLINT(GF101)", id="beside one that is used"),
    pytest.param(f"  {CPP}  // NOLINT(legacy-guard)", f"  {CPP}", id="a rule's name"),
    pytest.param(f"  {CPP}  // NOLINT(guardfix-gf101)", f"  {CPP}", id="with the tool's name"),
    pytest.param(f"  {CPP}  // NOLINT(GF1*)", f"  {CPP}", id="a pattern"),
    pytest.param(f"  {CPP}  // NOLINT(GF101): the mode is needed", f"  {CPP}  // the mode is needed", id="a reason behind it"),
    pytest.param(f"  {CPP}  // the mode is needed NOLINT(GF101)", f"  {CPP}  // the mode is needed", id="a reason before it"),
    pytest.param(f"  {CPP}  // noqa: GF101", f"  {CPP}", id="noqa"),
    pytest.param(f"  // NOLINTNEXTLINE(GF101)\n  {CPP}", f"  {CPP}", id="a line of its own"),
    pytest.param(f"  // NOLINTBEGIN(GF101)\n  {CPP}\n  // NOLINTEND(GF101)", f"  {CPP}", id="a block"),
    pytest.param(f"  {CPP}  // NOLINT(GF999)", f"  {CPP}", id="no such code"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "fixed"), FIXED)
@pytest.mark.some(3)
def test_what_the_fix_makes_of_cpp(line: str, fixed: str) -> None:
    done = fix_text(in_cpp(line), "a.cpp", options=OPTIONS)
    assert [finding.code for finding, _ in done.applied] == ["GF002"]
    assert done.text == in_cpp(fixed)


@pytest.mark.parametrize(
    ("line", "fixed"),
    [
        pytest.param("x = 1  # noqa: GF403", "x = 1", id="the whole comment"),
        pytest.param("x = 1  # noqa: GF403, E501", "x = 1  # noqa: E501", id="beside another tool's"),
        pytest.param("x = 1  # noqa: E501 GF403", "x = 1  # noqa: E501", id="blanks between codes"),
        pytest.param("x = 1  # type: ignore # noqa: GF403", "x = 1  # type: ignore", id="behind another comment"),
        pytest.param("# NOLINTNEXTLINE(GF403)\nx = 1", "x = 1", id="a line of its own"),
        pytest.param("x = 1  # noqa: GF999", "x = 1", id="no such code"),
    ],
)
def test_what_the_fix_makes_of_python(line: str, fixed: str) -> None:
    done = fix_text(f"import torch\n{line}\n", "a.py", options=OPTIONS)
    assert done.text == f"import torch\n{fixed}\n"


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(f"  {CPP}  // NOLINT", id="no code"),
        pytest.param(f"  {CPP}  // NOLINT()", id="an empty list"),
        pytest.param(f"  {CPP}  // NOLINT(cert-err,bugprone-*)", id="another tool's"),
        pytest.param(f"  {CPP}  // NOLINT(*)", id="every tool's"),
        pytest.param(f"  {OLD}  // NOLINT(GF101)", id="used"),
        pytest.param(f"  // NOLINTNEXTLINE(legacy-guard)\n  {OLD}", id="used on the next line"),
        pytest.param(f"  // NOLINTBEGIN(GF1*)\n  {OLD}\n  {CPP}\n  // NOLINTEND(GF1*)", id="a block with one finding"),
        pytest.param(f'  {CPP} auto s = "// NOLINT(GF101)";', id="in a string"),
        pytest.param(f"  {CPP}  // see GF101", id="prose"),
    ],
)
def test_what_is_not_flagged(line: str) -> None:
    found = check_text(in_cpp(line), "a.cpp", options=OPTIONS)
    assert [finding.code for finding in found.findings if finding.code == "GF002"] == []


@pytest.mark.parametrize(
    ("select", "flagged"),
    [
        pytest.param(("GF002", "GF101"), True, id="the rule is run"),
        pytest.param(("GF002", "GF4"), False, id="the rule is not run"),
        pytest.param(("GF002",), False, id="only this one"),
    ],
)
def test_rules_that_are_not_run(select: tuple[str, ...], flagged: bool) -> None:
    report = check_text(in_cpp(f"  {CPP}  // NOLINT(GF101)"), "a.cpp", options=Options(select=select))
    assert bool(report.findings) == flagged


def test_files_without_a_guard_are_looked_at_when_it_is_selected(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text("int a;  // NOLINT(GF101)\nint b;  // NOLINT(cert-err)\n")
    (tmp_path / "b.py").write_text("x = 1  # noqa: uncalled-guard\n")
    assert [finding.code for finding in check([tmp_path]).findings] == []
    assert len(check([tmp_path], options=OPTIONS).findings) == 2


def test_a_comment_inside_a_python_string_is_left_alone() -> None:
    text = f'CODE = """\nvoid f() {{\n  {OLD}  // NOLINT(GF105)\n}}\n"""\n'
    assert check_text(text, "a.py", options=OPTIONS).findings == []


def test_unknown_codes_are_noted_without_the_rule(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(in_cpp(f"  {CPP}  // NOLINT(GF999,GF1x)\n  {CPP}  // NOLINT(GF1012)"))
    done = CliRunner().invoke(cli, ["check", "--isolated", str(path)])
    assert [line for line in done.stderr.splitlines() if "called" in line] == [
        f"note: {path}:3: no rule is called `GF999`, so it suppresses nothing",
        f"note: {path}:4: no rule is called `GF1012`, so it suppresses nothing",
    ]
    with_rule = CliRunner().invoke(cli, ["check", "--isolated", "--extend-select", "GF002", str(path)])
    assert "so it suppresses nothing" not in with_rule.stderr


@pytest.mark.parametrize(
    ("name", "text", "row"),
    [
        pytest.param("a.cpp", "int a;\nint b;  // NOLINT(GF999)\n", 2, id="C++"),
        pytest.param("a.cpp", "// NOLINTNEXTLINE(bugprone-x, GF999)\nint b;\n", 1, id="among others' codes"),
        pytest.param("a.cpp", "int a;  // noqa: GF101, GF999\n", 1, id="noqa in C++"),
        pytest.param("a.py", "x = 1  # noqa: F401,GF999\n", 1, id="Python"),
        pytest.param("a.py", "x = 1  # NOQA:GF999\n", 1, id="as Ruff takes it, too"),
        pytest.param(
            "a.py",
            "import torch\n\nwith torch.no_grad():\n    x = 1  # noqa: GF999\n",
            4,
            id="beside a guard that is fine",
        ),
        pytest.param("a.cpp", "int b;  // NOLINT(GF999)\n" + DOTS * 1_100, 1, id="before a large file's rest"),
        pytest.param("a.cpp", DOTS * 1_100 + "int b;  // NOLINT(GF999)", 1_101, id="at a large file's end"),
        pytest.param("a.cpp", "// " + "." * 1_048_560 + "\n// NOLINT(GF999)\n", 2, id="across what is read at once"),
        pytest.param("a.cpp", "int a;  // NOLINT(GF101)\n", None, id="a code that there is"),
        pytest.param(
            "a.cpp", "int a;  // NOLINT(google-explicit)\n// GF999 is no rule\n", None, id="not in the comment's list"
        ),
        pytest.param("a.cpp", 'const char* a = "// NOLINT(GF999)";\n', None, id="in a string"),
        pytest.param("a.py", "GF256 = 'noqa'  # GF2\n", None, id="a name that begins so"),
        pytest.param("a.py", "x = 1  # noqa: GFX1\n", None, id="another tool's code"),
    ],
)
def test_unknown_codes_are_noted_in_files_without_findings(
    tmp_path: Path, name: str, text: str, row: int | None
) -> None:
    path = tmp_path / name
    path.write_text(text)
    expected = [] if row is None else [f"note: {path}:{row}: no rule is called `GF999`, so it suppresses nothing"]
    for given in (path, tmp_path):  # a file is asked about before anything is imported
        done = CliRunner().invoke(cli, ["check", "--isolated", str(given)])
        assert (done.exit_code, done.stderr.splitlines()) == (0, expected)
    if row is not None:
        assert is_clean(["check", str(path)]) is None


def test_unknown_codes_are_noted_wherever_a_tree_is_searched(tmp_path: Path) -> None:
    """By other processes as well, and in texts of an editor."""
    for number in range(700):
        code = "  // NOLINT(GF999)" if number % 100 == 99 else ""
        (tmp_path / f"f{number:03}.cpp").write_text(f"int a;{code}\n")
    noted = [
        f"note: {tmp_path}/f{number}99.cpp:1: no rule is called `GF999`, so it suppresses nothing"
        for number in range(7)
    ]
    done = CliRunner().invoke(cli, ["check", "--isolated", "--jobs", "3", str(tmp_path)])
    assert (done.exit_code, done.stderr.splitlines()) == (0, noted)
    assert list(notes(check_text("int a;  // NOLINT(GF999)\n", "a.cpp"))) == [
        "note: a.cpp:1: no rule is called `GF999`, so it suppresses nothing"
    ]


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        pytest.param(f"  {OLD}  // NOLINT(deprecated)", [], id="it silences GF101"),
        pytest.param(f"  {CPP}  // NOLINT(deprecated)", [], id="not all rules of the group are run"),
    ],
)
def test_a_group_in_a_comment(line: str, codes: list[str]) -> None:
    report = check_text(in_cpp(line), "a.cpp", options=Options(select=("GF002", "GF101")))
    assert [finding.code for finding in report.findings] == codes


def test_a_group_that_silences_nothing() -> None:
    report = check_text(in_cpp(f"  {CPP}  // NOLINT(deprecated)"), "a.cpp", options=Options(select=("ALL",)))
    assert "GF002" in [finding.code for finding in report.findings]
