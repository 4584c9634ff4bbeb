"""`--add-noqa`: a comment for each finding, in the style of the language; afterwards nothing is found."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fixture_files import Fixture, all_fixtures
from guardfix.cli.main import cli

HEAD = "#include <torch/torch.h>\n"
OLD = "at::AutoNonVariableTypeMode g;"


def guardfix(*command: str) -> Result:
    return CliRunner().invoke(cli, command, catch_exceptions=False)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()


def in_cpp(line: str) -> str:
    return f"{HEAD}void swap(at::Tensor& a) {{\n{line}\n  a.set_(a);\n}}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(f"  {OLD}", f"  {OLD}  // NOLINT(GF101)", id="behind the line"),
        pytest.param(f"  {OLD}   ", f"  {OLD}  // NOLINT(GF101)", id="behind blanks"),
        pytest.param(f"  {OLD}  // why", f"  {OLD}  // why  // NOLINT(GF101)", id="behind another comment"),
        pytest.param(f"  {OLD}  // NOLINT(cert-err)", f"  {OLD}  // NOLINT(cert-err,GF101)", id="in another tool's list"),
        pytest.param(f"  {OLD}  // NOLINT(a, b)", f"  {OLD}  // NOLINT(a, b, GF101)", id="in a list with blanks"),
        pytest.param(
            "  at::AutoNonVariableTypeMode g(false);", "  at::AutoNonVariableTypeMode g(false);  // NOLINT(GF101,GF102)",
            id="two findings in a line",
        ),
        pytest.param(f"  /* {OLD} */ {OLD}", f"  /* {OLD} */ {OLD}  // NOLINT(GF101)", id="not in a comment"),
        pytest.param(
            f'  {OLD} auto s = R"(\n  )";', f'  // NOLINTNEXTLINE(GF101)\n  {OLD} auto s = R"(\n  )";', id="a string over lines"
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_comments_in_cpp(before: str, after: str, newline: str, tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_bytes(in_cpp(before).replace("\n", newline).encode())
    done = guardfix("check", "--add-noqa", ".")
    assert (done.exit_code, done.stderr) == (0, "")
    assert path.read_bytes().decode() == in_cpp(after).replace("\n", newline)
    assert guardfix("check", ".").exit_code == 0


def test_a_macro_that_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(f"{HEAD}#define GUARDED(x) \\\n  {OLD} \\\n  x\n\nvoid f() {{ GUARDED(g()); }}\n")
    assert guardfix("check", "--add-noqa", ".").exit_code == 0
    assert f"  {OLD}  /* NOLINT(GF101) */ \\\n" in path.read_text()
    assert guardfix("check", ".").exit_code == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("@torch.no_grad\nclass A:", "@torch.no_grad  # noqa: GF404\nclass A:", id="behind the line"),
        pytest.param(
            "@torch.no_grad  # noqa: E501\nclass A:", "@torch.no_grad  # noqa: E501, GF404\nclass A:", id="in a list"
        ),
    ],
)
def test_comments_in_python(before: str, after: str, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(f"import torch\n\n\n{before}\n    pass\n")
    found = guardfix("check", "--select", "GF404", ".")
    assert "GF404" in found.stdout, found.output
    assert guardfix("check", "--select", "GF404", "--add-noqa", ".").exit_code == 0
    assert path.read_text() == f"import torch\n\n\n{after}\n    pass\n"


def test_only_what_counts_gets_one(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(in_cpp(f"  {OLD}"))
    guardfix("baseline", "create", ".")
    (tmp_path / "b.cpp").write_text(in_cpp(f"  {OLD}"))
    done = guardfix("check", "--add-noqa", "--baseline", "guardfix-baseline.json", ".")
    assert done.stdout == "Added comments for 1 finding.\n"
    assert "NOLINT" not in (tmp_path / "a.cpp").read_text()


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(in_cpp(f"  {OLD}"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("guardfix.codemods.apply.writing.os.access", lambda path, mode: False)
        done = guardfix("check", "--add-noqa", ".")
    assert (done.exit_code, done.stdout) == (2, "Added comments for 0 findings.\n")
    assert "a.cpp: not written: the file is not writable" in done.stderr


@pytest.mark.parametrize("option", ["--fix", "--diff", "--fix-only"])
def test_what_it_cannot_be_combined_with(option: str) -> None:
    assert "can't be combined" in guardfix("check", "--add-noqa", option, ".").stderr


SEVERAL = [fixture for fixture in all_fixtures() if fixture.expected()]


@pytest.mark.parametrize("fixture", SEVERAL[::6], ids=lambda fixture: fixture.name)
def test_nothing_is_found_afterwards(fixture: Fixture, tmp_path: Path) -> None:
    folder = fixture.copy_to(tmp_path)
    options = (
        "--isolated",
        "--select",
        "ALL",
        "--ignore",
        "GF002",
        "--minimum-torch",
        fixture.minimum_torch() or "2.0",
    )
    done = guardfix("check", "--add-noqa", *options, str(folder))
    loud = done.stderr.count("can't be suppressed")
    after = guardfix("check", *options, "--output-format", "concise", str(folder))
    assert sum(" GF" in line for line in after.stdout.splitlines()) == loud, done.output + after.output
