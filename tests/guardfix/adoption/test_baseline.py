"""A baseline: what is recognised again, what is new, what is stale."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft7Validator

from guardfix.cli.main import cli
from guardfix.cli.schema_command import schema_text


def swapping(function: str = "swap", guard: str = "g") -> str:
    """A function with an old guard that nothing shows a replacement for."""
    return f"void {function}(at::Tensor& a) {{\n  at::AutoNonVariableTypeMode {guard};\n  a.set_(a);\n}}\n"


TREE = {"src/a.cpp": swapping(), "src/b.cpp": swapping("b1") + swapping("b2")}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    lay(tmp_path, TREE)
    return tmp_path


def lay(folder: Path, files: Mapping[str, str | None]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.unlink()
        else:
            path.write_text(text)


def guardfix(command: str) -> Result:
    return CliRunner().invoke(cli, command.split(), catch_exceptions=False)


def check(*more: str) -> tuple[int, list[str], str]:
    """(exit status, findings, notes) of a check with the baseline."""
    done = guardfix(" ".join(("check --output-format concise --baseline guardfix-baseline.json", *(more or (".",)))))
    found = [line.split(" ")[0] for line in done.stdout.splitlines() if " GF" in line]
    return done.exit_code, found, done.stderr


PASSES_OVER = "note: skipped {} listed in guardfix-baseline.json\n"
HOLDS = "note: no longer found: {} listed in guardfix-baseline.json; run `guardfix baseline update`\n"


@pytest.mark.parametrize(
    ("change", "found", "notes"),
    [
        pytest.param({}, [], PASSES_OVER.format("3 findings"), id="nothing changed"),
        pytest.param({"src/a.cpp": "\n\n// x\n" + swapping()}, [], PASSES_OVER.format("3 findings"), id="lines moved"),
        pytest.param(
            {"src/a.cpp": None, "lib/new.cpp": swapping()}, [], PASSES_OVER.format("3 findings"), id="a file renamed"
        ),
        pytest.param({"src/a.cpp": swapping("exchange")}, [], PASSES_OVER.format("3 findings"), id="a function renamed"),
        pytest.param(
            {"src/b.cpp": swapping("b2"), "src/a.cpp": swapping() + swapping("b1")},
            [], PASSES_OVER.format("3 findings"), id="a function went to another file",
        ),
        pytest.param({"src/a.cpp": swapping().replace("  ", "\t")}, [], PASSES_OVER.format("3 findings"), id="other blanks"),
        pytest.param(
            {"src/a.cpp": swapping() + swapping("more")},
            ["src/a.cpp:6:3:"], PASSES_OVER.format("3 findings"), id="one more in another function",
        ),
        pytest.param(
            {"src/c.cpp": swapping()}, ["src/c.cpp:2:3:"], PASSES_OVER.format("3 findings"), id="a copy of a file"
        ),
        pytest.param(
            {"src/a.cpp": swapping().replace("  a.", "  at::AutoNonVariableTypeMode g;\n  a.")},
            ["src/a.cpp:3:3:"], PASSES_OVER.format("3 findings"), id="one more of the same",
        ),
        pytest.param(
            {"src/a.cpp": "int a;\n"}, [], PASSES_OVER.format("2 findings") + HOLDS.format("1 finding"), id="one is fixed"
        ),
        pytest.param(
            {"src/a.cpp": None}, [], PASSES_OVER.format("2 findings") + HOLDS.format("1 finding"), id="a file is gone"
        ),
        pytest.param(
            {"src/b.cpp": swapping("b1").replace("at::AutoNonVariableTypeMode", "int") + swapping("b2") + swapping("b3")},
            ["src/b.cpp:10:3:"],
            PASSES_OVER.format("2 findings") + HOLDS.format("1 finding"),
            id="one is fixed and one came: the function of the old one is still there",
        ),
    ],
)  # fmt: skip
def test_what_a_check_says(change: Mapping[str, str | None], found: list[str], notes: str, tree: Path) -> None:
    assert guardfix("baseline create .").exit_code == 0
    lay(tree, change)
    assert check() == (1 if found else 0, found, notes)


@pytest.mark.parametrize(
    "paths",
    [
        pytest.param(["src/b.cpp"], id="a part of the tree"),
        pytest.param([".", "--select", "GF2"], id="other rules"),
    ],
)
def test_what_was_not_looked_for_is_not_stale(paths: list[str], tree: Path) -> None:
    guardfix("baseline create .")
    lay(tree, {"src/a.cpp": "int a;\n"})
    status, found, notes = check(*paths)
    assert (status, found) == (0, [])
    assert "too many" not in notes


def test_a_part_of_the_tree_does_not_answer_for_another(tree: Path) -> None:
    guardfix("baseline create .")
    lay(tree, {"src/c.cpp": swapping()})
    assert check("src/c.cpp")[:2] == (1, ["src/c.cpp:2:3:"])


def test_the_file_is_sorted_and_has_one_line_an_entry(tree: Path) -> None:
    done = guardfix("baseline create src")
    assert done.stdout == "Wrote 3 findings to guardfix-baseline.json.\n"
    text = (tree / "guardfix-baseline.json").read_text()
    told = json.loads(text)
    assert [*Draft7Validator(json.loads(schema_text("baseline"))).iter_errors(told)] == []
    assert [row["function"] for row in told["findings"]] == ["swap", "b1", "b2"]
    assert len([line for line in text.splitlines() if "AutoNonVariableTypeMode" in line]) == 3


def test_update_only_takes_out(tree: Path) -> None:
    guardfix("baseline create .")
    lay(tree, {"src/a.cpp": None, "src/d.cpp": swapping("d")})
    done = guardfix("baseline update .")
    assert done.stdout == "guardfix-baseline.json: 2 findings left, 1 finding removed.\n"
    assert done.stderr == "note: 1 finding not in the baseline; see `guardfix check --baseline`\n"
    assert check()[:2] == (1, ["src/d.cpp:2:3:"])
    assert "too many" not in check()[2]


def test_update_follows_what_moved(tree: Path) -> None:
    guardfix("baseline create .")
    lay(tree, {"src/a.cpp": None, "lib/new.cpp": swapping()})
    assert guardfix("baseline update .").stdout.endswith(": 3 findings left, none removed.\n")
    # A copy under the old name is new now.
    lay(tree, {"src/a.cpp": swapping()})
    assert check()[1] == ["src/a.cpp:2:3:"]


def test_create_replaces_nothing_unless_told(tree: Path) -> None:
    guardfix("baseline create src/a.cpp")
    before = (tree / "guardfix-baseline.json").read_bytes()
    done = guardfix("baseline create .")
    assert done.exit_code == 2
    assert "guardfix-baseline.json already exists" in done.stderr
    assert (tree / "guardfix-baseline.json").read_bytes() == before
    assert guardfix("baseline create --force .").exit_code == 0
    assert check() == (0, [], PASSES_OVER.format("3 findings"))


def test_show_counts(tree: Path) -> None:
    guardfix("baseline create .")
    assert guardfix("baseline show").stdout == (
        "guardfix-baseline.json: 3 findings\n\nBy rule:\n  3  GF101\n\nBy file:\n  2  src/b.cpp\n  1  src/a.cpp\n"
    )


def test_the_configuration_names_it(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(tree, {"guardfix.toml": 'baseline = "ci/known.json"\n', "ci/.keep": ""})
    assert guardfix("baseline create .").stdout == "Wrote 3 findings to ci/known.json.\n"
    assert guardfix("check .").exit_code == 0
    assert guardfix("check --no-baseline .").exit_code == 1
    monkeypatch.chdir(tree / "src")
    assert guardfix("check .").exit_code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(None, "No such file or directory", id="no file"),
        pytest.param("{", "not valid JSON", id="no JSON"),
        pytest.param("[]", "not a baseline", id="another file"),
        pytest.param('{"version": 2, "findings": []}', "its version is 2", id="of the future"),
        pytest.param('{"version": 1, "initial_count": "3", "findings": []}', "`initial_count` is not a", id="no count"),
        pytest.param('{"version": 1, "findings": [{"path": 1}]}', "`findings[0]` is not an entry", id="no entry"),
    ],
)
def test_a_baseline_that_cannot_be_used(text: str | None, message: str, tree: Path) -> None:
    if text is not None:
        lay(tree, {"guardfix-baseline.json": text})
    done = guardfix("check --baseline guardfix-baseline.json .")
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: --baseline: guardfix-baseline.json: ")
    assert message in done.stderr


def test_fixes_leave_alone_what_is_passed_over(tree: Path) -> None:
    kernel = "struct F : torch::autograd::Function<F> {\n  static at::Tensor forward(AutogradContext* ctx, at::Tensor x) {\n    at::AutoNonVariableTypeMode g;\n    return x + 1;\n  }\n};\n"
    old, new = "#include <torch/torch.h>\n" + kernel, "#include <torch/torch.h>\n" + kernel.replace("F", "G")
    lay(tree, {"old.cpp": old})
    guardfix("baseline create .")
    lay(tree, {"new.cpp": new})
    done = guardfix("check --fix --baseline guardfix-baseline.json .")
    assert done.exit_code == 0, done.output
    assert (tree / "old.cpp").read_text() == old
    assert "AutoDispatchBelowADInplaceOrView" in (tree / "new.cpp").read_text()
