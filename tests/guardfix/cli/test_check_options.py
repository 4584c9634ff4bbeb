"""What `guardfix check` reports, where, and with which exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from guardfix.cli.main import cli
from guardfix.cli.schema_command import schema_names, schema_text

KERNEL = """#include <torch/torch.h>

struct F : torch::autograd::Function<F> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x) {
    at::AutoNonVariableTypeMode g;
    return x + 1;
  }
};
"""
FIXED = KERNEL.replace("AutoNonVariableTypeMode", "AutoDispatchBelowADInplaceOrView")
UNKNOWN = "void swap(at::Tensor& a) {\n  at::AutoNonVariableTypeMode g;\n  a.set_(a);\n}\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "kernel.cpp").write_text(KERNEL)
    return tmp_path


def guardfix(command: str, **env: str) -> Result:
    return CliRunner().invoke(cli, command.split(), env=env, catch_exceptions=False)


@pytest.mark.parametrize(
    ("options", "unknown", "status"),
    [
        pytest.param("--fix", False, 0, id="all fixed"),
        pytest.param("--fix --exit-non-zero-on-fix", False, 1, id="all fixed, which shall count"),
        pytest.param("--fix --exit-zero --exit-non-zero-on-fix", True, 1, id="findings don't count, fixes do"),
        pytest.param("--fix", True, 1, id="something is left"),
        pytest.param("--fix --exit-zero", True, 0, id="what is left doesn't count"),
        pytest.param("--fix-only", True, 0, id="only fixes matter"),
        pytest.param("--fix-only --exit-non-zero-on-fix", True, 1, id="only fixes matter, and count"),
        pytest.param("--exit-non-zero-on-fix --exit-zero", False, 0, id="nothing is fixed without --fix"),
        pytest.param("--diff", True, 1, id="there is a difference"),
        pytest.param("--diff --select GF2", True, 0, id="there is none"),
        pytest.param("-e", True, 0, id="the short form"),
    ],
)
def test_exit_status_after_fixes(options: str, unknown: bool, status: int, tree: Path) -> None:
    if unknown:
        (tree / "unknown.cpp").write_text(UNKNOWN)
    assert guardfix(f"check {options} .").exit_code == status
    assert (tree / "kernel.cpp").read_text() == (FIXED if "--fix" in options else KERNEL)


def test_fix_only_says_nothing_of_what_is_left(tree: Path) -> None:
    (tree / "unknown.cpp").write_text(UNKNOWN)
    done = guardfix("check --fix-only .")
    assert (done.stdout, done.stderr) == ("", "Applied 1 fix in 1 file.\n")


def test_diff_is_one_that_patch_takes(tree: Path) -> None:
    done = guardfix("check --diff .")
    assert done.stdout.startswith("--- a/kernel.cpp\n+++ b/kernel.cpp\n@@ ")
    assert done.stderr == "Would change 1 file; use `--fix` to write.\n"
    subprocess.run(["patch", "--quiet", "-p1"], input=done.stdout, text=True, check=True, cwd=tree)
    assert (tree / "kernel.cpp").read_text() == FIXED
    assert guardfix("check --diff .").stderr == "Nothing to change.\n"


def test_output_file(tree: Path) -> None:
    done = guardfix("check --output-format json --output-file out/deep/found.json .")
    assert (done.exit_code, done.stdout) == (1, "")
    assert json.loads((tree / "out/deep/found.json").read_text())[0]["code"] == "GF101"
    assert guardfix("check --output-file out/found.txt --color always .").stdout == ""
    text = (tree / "out/found.txt").read_text()
    assert text.startswith("kernel.cpp:5:5: GF101 [*] ")
    assert text.endswith(
        "Found 1 issue in 1 file (1 file checked).\n[*] 1 can be applied: `guardfix migrate --apply`.\n"
    )


def test_an_output_file_that_cannot_be_written(tree: Path) -> None:
    done = guardfix("check --output-file kernel.cpp/found.txt .")
    assert done.exit_code == 2
    assert "kernel.cpp/found.txt: cannot be written" in done.stderr


@pytest.mark.parametrize(
    ("configured", "env", "option", "first"),
    [
        pytest.param("", {}, "", "kernel.cpp:5:5: GF101 [*]", id="nothing said"),
        pytest.param("concise", {}, "", "kernel.cpp:5:5: GF101", id="configured"),
        pytest.param("concise", {"GUARDFIX_OUTPUT_FORMAT": "pylint"}, "", "kernel.cpp:5: [GF101]", id="in the environment"),
        pytest.param(
            "concise", {"GUARDFIX_OUTPUT_FORMAT": "pylint"}, "--output-format json-lines", '{"code": "GF101"', id="on the line"
        ),
        pytest.param("", {}, "--output-format text", "kernel.cpp:5:5: GF101 [*]", id="by its former name"),
    ],
)  # fmt: skip
def test_who_says_the_format(configured: str, env: dict[str, str], option: str, first: str, tree: Path) -> None:
    if configured:
        (tree / "guardfix.toml").write_text(f'output-format = "{configured}"\n')
    assert guardfix(f"check {option} .", **env).stdout.startswith(first)


def test_a_format_that_is_none(tree: Path) -> None:
    (tree / "guardfix.toml").write_text('output-format = "jsno"\n')
    done = guardfix("check .")
    assert done.exit_code == 2
    assert "`output-format` is `jsno`; did you mean `json`" in done.stderr


def test_the_environment_counts_for_clean_files_too(tree: Path) -> None:
    (tree / "clean.cpp").write_text("int a;\n")
    env = {**os.environ, "GUARDFIX_OUTPUT_FORMAT": "json"}
    done = subprocess.run(
        [sys.executable, "-m", "guardfix", "check", "clean.cpp"], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("command", "first"),
    [
        pytest.param("check --statistics .", "2\tGF101\t[-] legacy-guard", id="text"),
        pytest.param("check --statistics --output-format json .", "[", id="json"),
        pytest.param("check --statistics --select GF2 .", "All checks passed (2 files).", id="nothing found"),
    ],
)
def test_statistics_on_the_command_line(command: str, first: str, tree: Path) -> None:
    (tree / "unknown.cpp").write_text(UNKNOWN)
    assert guardfix(command).stdout.splitlines()[0] == first


def test_statistics_in_a_format_that_has_none(tree: Path) -> None:
    done = guardfix("check --statistics --output-format sarif .")
    assert done.exit_code == 2
    assert "--statistics can't be written as sarif; use full or json" in done.stderr


@pytest.mark.parametrize("name", ["findings", "statistics", "rules", "baseline", "settings"])
def test_schemas_are_printed(name: str) -> None:
    schema = json.loads(guardfix(f"schema {name}").stdout)
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert schema["title"]


def test_the_help_says_what_each_schema_describes() -> None:
    text = " ".join(guardfix("schema --help").stdout.partition("Schemas:")[2].split())
    for name in schema_names():
        assert f"{name} {json.loads(schema_text(name))['description']}" in text


def test_rules_have_the_shape_of_their_schema() -> None:
    from jsonschema import Draft7Validator

    schema = json.loads(guardfix("schema rules").stdout)
    told = json.loads(guardfix("rules --output-format json").stdout)
    assert [*Draft7Validator(schema).iter_errors(told)] == []
    assert len(told) > 30


@pytest.mark.parametrize(
    ("loops", "options", "noted"),
    [
        pytest.param(12, "-v", True, id="its budget ends"),
        pytest.param(12, "", False, id="without --verbose"),
        pytest.param(1, "-v", False, id="a short function"),
    ],
)
def test_functions_that_were_not_followed_to_the_end_are_noted(
    loops: int, options: str, noted: bool, tmp_path: Path
) -> None:
    inner = "\n".join(f"{'    ' * (depth + 1)}for i{depth} in range(n):" for depth in range(loops))
    body = f"    with torch.inference_mode():\n        y = model(x)\n{inner}\n{'    ' * (loops + 1)}x = x + 1\n"
    (tmp_path / "long.py").write_text(f"import torch\n\n\ndef long(model, x, n):\n{body}    return y\n")
    said = guardfix(f"check --isolated --select ALL {options} {tmp_path}").stderr
    assert ("note: 1 function was too long to be followed to the end: " in said and "long.py:4" in said) is noted
