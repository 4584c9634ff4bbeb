"""`guardfix status`, and who owns a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft7Validator

from guardfix.adoption.code_owners import CodeOwners
from guardfix.cli.main import cli
from guardfix.cli.schema_command import schema_text

SAFE = "#include <torch/torch.h>\nstruct F : torch::autograd::Function<F> {\n  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor x) {\n    at::AutoNonVariableTypeMode g;\n    return x + 1;\n  }\n};\n"
OPEN = "void swap(at::Tensor& a) {\n  at::AutoNonVariableTypeMode g;\n  a.set_(a);\n}\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {".git/HEAD": "", "src/ops/a.cpp": SAFE, "src/ops/b.cpp": OPEN, "tools/c.cpp": OPEN}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "CODEOWNERS").write_text("*  @all\n/src/ops/ @ops @core\n")
    return tmp_path


def guardfix(*command: str) -> Result:
    return CliRunner().invoke(cli, command, catch_exceptions=False)


def test_status_as_text(tree: Path) -> None:
    guardfix("baseline", "create", ".")
    (tree / "tools/c.cpp").unlink()
    (tree / "new.cpp").write_text(OPEN.replace("swap", "more"))
    done = guardfix("status", "--baseline", "guardfix-baseline.json", ".")
    assert done.exit_code == 0
    assert (
        done.stdout
        == """\
3 findings in 3 files.
      1 can be applied: `guardfix migrate --apply`
      2 need your decision: `guardfix migrate --interactive`, `guardfix check`

guardfix-baseline.json: 2 of 3 left, 33% done; 1 not in it.

By context     all    high  medium     low
  unknown        2       .       .       2
  kernel         1       1       .       .

By rule                  all   apply  review  decide
  GF101 legacy-guard       3       1       .       2

By folder     all   apply  review  decide
  src/ops       2       1       .       1
  .             1       .       .       1

By owner     all   apply  review  decide
  @core        2       1       .       1
  @ops         2       1       .       1
  @all         1       .       .       1
"""
    )


def test_progress_counts_from_the_baseline_s_creation(tree: Path) -> None:
    guardfix("baseline", "create", ".")
    for name, left, done in (("tools/c.cpp", 2, 33), ("src/ops/b.cpp", 1, 66)):
        (tree / name).unlink()
        guardfix("baseline", "update", ".")
        told = guardfix("status", "--baseline", "guardfix-baseline.json", ".").stdout
        assert f"guardfix-baseline.json: {left} of 3 left, {done}% done; 0 not in it." in told
    as_json = json.loads(guardfix("status", "--json", "--baseline", "guardfix-baseline.json", ".").stdout)
    assert as_json["baseline"] == {"before": 3, "left": 1, "new": 0}
    shown = guardfix("baseline", "show").stdout
    assert shown.startswith("guardfix-baseline.json: 1 finding, 3 when it was created\n")
    written = json.loads((tree / "guardfix-baseline.json").read_text())
    assert [*Draft7Validator(json.loads(schema_text("baseline"))).iter_errors(written)] == []
    del written["initial_count"]  # as it was before there was such a count
    (tree / "guardfix-baseline.json").write_text(json.dumps(written))
    assert "1 of 1 left, 0% done" in guardfix("status", "--baseline", "guardfix-baseline.json", ".").stdout
    guardfix("baseline", "create", "--force", ".")
    assert "1 of 1 left, 0% done" in guardfix("status", "--baseline", "guardfix-baseline.json", ".").stdout


def test_status_as_json(tree: Path) -> None:
    told = json.loads(guardfix("status", "--json", "--depth", "1", ".").stdout)
    assert [*Draft7Validator(json.loads(schema_text("status"))).iter_errors(told)] == []
    assert told["findings"] == {"apply": 1, "review": 0, "decide": 2}
    assert set(told["folders"]) == {"src", "tools"}
    assert told["owners"]["@ops"] == {"apply": 1, "review": 0, "decide": 1}
    assert told["baseline"] is None


def test_nothing_is_left(tree: Path) -> None:
    assert guardfix("status", "--select", "GF2", ".").stdout == "All checks passed (3 files).\n"


@pytest.mark.parametrize(
    ("text", "path", "owners"),
    [
        pytest.param("", "a.cpp", (), id="no line"),
        pytest.param("* @a", "src/a.cpp", ("@a",), id="everything"),
        pytest.param("*.cpp @a\n*.py @b", "src/a.py", ("@b",), id="by suffix"),
        pytest.param("* @a\nsrc/ @b", "src/deep/a.cpp", ("@b",), id="the last line wins"),
        pytest.param("src/ @b\n* @a", "src/deep/a.cpp", ("@a",), id="even if an earlier one is closer"),
        pytest.param("* @a\n/src/ops", "src/ops/a.cpp", (), id="a line that takes the owner away"),
        pytest.param("/docs/* @a", "docs/a.md", ("@a",), id="in a folder"),
        pytest.param("/docs/* @a", "docs/deep/a.md", (), id="not below it"),
        pytest.param("docs/** @a", "docs/deep/a.md", ("@a",), id="below it"),
        pytest.param("apps/ @a", "src/apps/a.cpp", ("@a",), id="a folder anywhere"),
        pytest.param("/apps/ @a", "src/apps/a.cpp", (), id="a folder at the top only"),
        pytest.param("**/logs @a", "build/logs/x.py", ("@a",), id="a folder at any depth"),
        pytest.param("src/**/x.cpp @a", "src/x.cpp", ("@a",), id="no folder between"),
        pytest.param("/my\\ dir/ @a", "my dir/a.cpp", ("@a",), id="a blank"),
        pytest.param("# * @no\n* @a # @b", "a.cpp", ("@a",), id="comments"),
        pytest.param("[Section]\n* a@example.org\n^[More][2] @x", "a.cpp", ("a@example.org",), id="sections of GitLab"),
        pytest.param("a.c @a", "a.cpp", (), id="no more than the pattern"),
        pytest.param("[ab].c @a\n!a.c @b", "a.c", (), id="signs that mean something in .gitignore alone"),
        pytest.param(f"{'*a' * 40}b @a", f"{'a' * 250}.c", (), id="stars that share a long name in many ways"),
        pytest.param(f"{'**/a/' * 40}b @a", f"{'a/' * 250}c", (), id="folders that share a long path in many ways"),
    ],
)
def test_code_owners(text: str, path: str, owners: tuple[str, ...]) -> None:
    assert CodeOwners.parse(text).of(path) == owners
