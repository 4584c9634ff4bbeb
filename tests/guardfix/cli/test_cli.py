"""The command line as a user meets it: exit status, output, errors."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from guardfix.cli.main import cli
from guardfix.cli.quick import is_clean
from guardfix.linter.files.prefilter_table import LANGUAGES

KERNEL = """#include <torch/torch.h>

class F : public torch::autograd::Function<F> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x) {
    at::AutoNonVariableTypeMode g;
    return f(x);
  }
};
"""
UNKNOWN = "void swap(at::Tensor& a) {\n  at::AutoNonVariableTypeMode g;\n  a.set_(a);\n}\n"
CLEAN = "int main() { return 0; }\n"


def guardfix(*arguments: str, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """What `python -m guardfix` does, without the start of a process: test_errors.py tests the process itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        answer = is_clean(arguments)
        if answer is not None:
            return subprocess.CompletedProcess(arguments, 0, answer, "")
        outcome = CliRunner().invoke(cli, arguments, prog_name="guardfix", color=True)
    if outcome.exception is not None and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception
    return subprocess.CompletedProcess(arguments, outcome.exit_code, outcome.stdout, outcome.stderr)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "kernel.cpp").write_text(KERNEL)
    (tmp_path / "clean.cpp").write_text(CLEAN)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        pytest.param(["check", "clean.cpp"], 0, id="nothing found"),
        pytest.param(["check", "--isolated", "clean.cpp"], 0, id="nothing found, by the real command"),
        pytest.param(["check", "."], 1, id="findings"),
        pytest.param(["check"], 1, id="the current folder is the default"),
        pytest.param(["check", "--exit-zero", "."], 0, id="findings that shall not count"),
        pytest.param(["check", "--select", "GF102", "."], 0, id="no finding of the selected rule"),
        pytest.param(["check", "--ignore", "legacy-guard", "."], 0, id="ignored by name"),
        pytest.param(["check", "--exclude", "kernel.*", "."], 0, id="excluded"),
        pytest.param(["migrate", "."], 1, id="changes would be made"),
        pytest.param(["migrate", "clean.cpp"], 0, id="nothing to migrate"),
        pytest.param(["migrate", "--apply", "."], 0, id="everything done"),
        pytest.param(["rules"], 0, id="rules"),
        pytest.param(["explain", "gf101"], 0, id="explain a code in lower case"),
        pytest.param(["--version"], 0, id="version"),
        pytest.param(["check", "nowhere.cpp"], 2, id="no such file"),
        pytest.param(["check", "--select", "GF999", "."], 2, id="no such rule"),
        pytest.param(["check", "--select", "all", "."], 1, id="all rules, in lower case"),
        pytest.param(["check", "--select", "gf101,GF102", "."], 1, id="a code in lower case"),
        pytest.param(["check", "--select", "Legacy-Guard", "--ignore", "All", "."], 1, id="a name beats all"),
        pytest.param(["check", "--select", "", "."], 2, id="nothing selected"),
        pytest.param(["check", "--no-such-option"], 2, id="no such option"),
        pytest.param(["check", "--exclude", "!", "."], 2, id="no pattern"),
        pytest.param(["explain", "GF999"], 2, id="no such rule to explain"),
        pytest.param(["chekc"], 2, id="no such command"),
        pytest.param(["check", "--config", "nowhere.toml", "."], 2, id="no such configuration"),
    ],
)
def test_exit_status(arguments: list[str], status: int, tree: Path) -> None:
    outcome = guardfix(*arguments, cwd=tree)
    assert outcome.returncode == status, outcome.stdout + outcome.stderr
    assert "Traceback" not in outcome.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "nowhere.cpp"], "no such file or directory: nowhere.cpp"),
        (["check", "--select", "GF999", "."], "no rule is called `GF999`; `guardfix rules` lists them"),
        (["check", "--exclude", "!", "."], "--exclude: `!` is not a pattern in .gitignore's syntax"),
        (["explain", "xyzzy"], "no rule is called `xyzzy`"),
    ],
)
def test_errors_say_what_and_what_to_do(arguments: list[str], message: str, tree: Path) -> None:
    assert message in guardfix(*arguments, cwd=tree).stderr


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        pytest.param("selekt = ['GF1']", "unknown setting `selekt`", id="misspelt key"),
        pytest.param("select = 'GF1'", "`select` must be a list of strings", id="string for a list"),
        pytest.param("force-exclude = 1", "`force-exclude` must be true or false", id="number for a switch"),
        pytest.param("select = []", "`select` is empty", id="nothing selected"),
        pytest.param("select = ['']", "no rule is called ``", id="a rule without a name"),
        pytest.param("select = [", "guardfix.toml", id="no TOML"),
        pytest.param("select = ['GF9']", "no rule is called `GF9`", id="no such rule"),
        pytest.param("per-file-ignores = {'a' = [1]}", "maps patterns to lists of rules", id="number for a rule"),
        pytest.param("exclude = ['!']", "guardfix.toml: `!` is not a pattern", id="no pattern to exclude"),
        pytest.param("per-file-ignores = {'[z-a]' = ['GF1']}", "`[z-a]` is not a pattern", id="no pattern of files"),
    ],
)
def test_bad_configuration_is_a_failed_run(toml: str, message: str, tree: Path) -> None:
    (tree / "guardfix.toml").write_text(toml)
    outcome = guardfix("check", "kernel.cpp", cwd=tree)
    assert outcome.returncode == 2
    assert message in outcome.stderr
    assert "internal error" not in outcome.stderr


@pytest.mark.parametrize("toml", ["tool = 3 # [tool.guardfix]", "[tool]\nguardfix = 3 # [tool.guardfix]"])
def test_a_pyproject_whose_tables_are_none(toml: str, tree: Path) -> None:
    (tree / "pyproject.toml").write_text(toml)
    outcome = guardfix("check", "kernel.cpp", cwd=tree)
    assert outcome.returncode == 2
    assert "must be a table: settings go under `[tool.guardfix]`" in outcome.stderr


@pytest.mark.parametrize(
    ("cwd", "path"),
    [
        pytest.param(".", ".", id="from its folder"),
        pytest.param("src", "..", id="from a folder below"),
        pytest.param("src", "../tests/kernel.cpp", id="a file from elsewhere"),
        pytest.param(".", "{tree}", id="an absolute folder"),
        pytest.param("src", "{tree}/tests/kernel.cpp", id="an absolute file"),
        pytest.param(".", "src/../tests", id="a roundabout path"),
    ],
)
@pytest.mark.parametrize("setting", ["per-file-ignores = {'tests/**' = ['GF101']}", "exclude = ['/tests/']"])
def test_patterns_start_from_the_configuration_s_folder(setting: str, cwd: str, path: str, tree: Path) -> None:
    for folder in ("src", "tests"):
        (tree / folder).mkdir()
    (tree / "kernel.cpp").rename(tree / "tests" / "kernel.cpp")
    (tree / "guardfix.toml").write_text(setting)
    outcome = guardfix("check", "--force-exclude", path.format(tree=tree), cwd=tree / cwd)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_patterns_of_a_named_configuration_start_from_the_working_folder(tree: Path) -> None:
    (tree / "settings").mkdir()
    (tree / "settings" / "guardfix.toml").write_text("exclude = ['/kernel.cpp']")
    assert guardfix("check", "--config", "settings/guardfix.toml", ".", cwd=tree).returncode == 0


@pytest.mark.parametrize(
    ("name", "toml"),
    [
        pytest.param("guardfix.toml", "exclude = ['kernel.cpp']", id="guardfix.toml"),
        pytest.param("pyproject.toml", "[tool.guardfix]\nexclude = ['kernel.cpp']", id="pyproject.toml"),
        pytest.param("guardfix.toml", "select = ['GF102']", id="select"),
        pytest.param("guardfix.toml", "ignore = ['GF101']", id="ignore"),
        pytest.param("guardfix.toml", "per-file-ignores = {'kernel.*' = ['GF101']}", id="per file"),
    ],
)
def test_configuration_is_found_from_a_folder_below(name: str, toml: str, tree: Path) -> None:
    (tree / name).write_text(toml)
    (tree / "below").mkdir()
    assert guardfix("check", "..", cwd=tree / "below").returncode == 0
    assert guardfix("check", "--isolated", "..", cwd=tree / "below").returncode == 1


def test_json_has_the_contract_s_fields(tree: Path) -> None:
    outcome = guardfix("check", "--output-format", "json", "kernel.cpp", cwd=tree)
    assert outcome.returncode == 1
    (finding,) = json.loads(outcome.stdout)
    assert finding["decision"].pop("evidence")[0] == {
        "message": "for kernel: is in `F::forward` of a torch::autograd::Function, which runs as an autograd kernel",
        "filename": "kernel.cpp",
        "row": 4,
    }
    assert finding.pop("url").endswith("gf101-legacy-guard")
    assert finding == {
        "code": "GF101",
        "name": "legacy-guard",
        "message": "AutoNonVariableTypeMode is deprecated; use at::AutoDispatchBelowADInplaceOrView for code that runs "
        "as a kernel below autograd",
        "severity": "warning",
        "filename": "kernel.cpp",
        "location": {"row": 5, "column": 5},
        "end_location": {"row": 5, "column": 32},
        "decision": {
            "context": "kernel",
            "replacement": "at::AutoDispatchBelowADInplaceOrView",
            "confidence": "high",
        },
        "steps": None,
        "fix": {
            "applicability": "safe",
            "message": "replace at::AutoNonVariableTypeMode with at::AutoDispatchBelowADInplaceOrView",
            "edits": [
                {
                    "content": "at::AutoDispatchBelowADInplaceOrView",
                    "location": {"row": 5, "column": 5},
                    "end_location": {"row": 5, "column": 32},
                }
            ],
        },
        "noqa_row": 5,
    }


def test_json_without_findings_is_an_empty_array(tree: Path) -> None:
    outcome = guardfix("check", "--output-format", "json", "clean.cpp", cwd=tree)
    assert (outcome.returncode, json.loads(outcome.stdout)) == (0, [])


def test_json_is_sorted_by_file_then_place(tree: Path) -> None:
    (tree / "a.cpp").write_text(UNKNOWN + UNKNOWN.replace("swap", "swap2"))
    found = json.loads(guardfix("check", "--output-format", "json", ".", cwd=tree).stdout)
    assert [(f["filename"], f["location"]["row"]) for f in found] == [("a.cpp", 2), ("a.cpp", 6), ("kernel.cpp", 5)]


def test_columns_count_characters(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text("void swap() { /* ünïcødé 🙂 */ at::AutoNonVariableTypeMode g; f(); }\n", "utf-8")
    (finding,) = json.loads(guardfix("check", "--output-format", "json", "a.cpp", cwd=tmp_path).stdout)
    assert finding["location"] == {"row": 1, "column": 31}


def test_text_shows_frame_evidence_and_fix(tree: Path) -> None:
    assert guardfix("check", "kernel.cpp", cwd=tree).stdout == (
        "kernel.cpp:5:5: GF101 [*] AutoNonVariableTypeMode is deprecated; use at::AutoDispatchBelowADInplaceOrView for "
        "code that runs as a kernel below autograd\n"
        "   |\n"
        " 5 |     at::AutoNonVariableTypeMode g;\n"
        "   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^ kernel, high confidence\n"
        "   = for kernel: is in `F::forward` of a torch::autograd::Function, which runs as an autograd kernel "
        "(line 4)\n"
        "   = fix: replace at::AutoNonVariableTypeMode with at::AutoDispatchBelowADInplaceOrView\n"
        "\n"
        "Found 1 issue in 1 file (1 file checked).\n"
        "[*] 1 can be applied: `guardfix migrate --apply`.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "env", "colored"),
    [
        pytest.param([], {}, False, id="plain in a pipe"),
        pytest.param(["--color", "always"], {}, True, id="always"),
        pytest.param([], {"FORCE_COLOR": "1"}, True, id="FORCE_COLOR"),
        pytest.param(["--color", "auto"], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, id="NO_COLOR wins"),
    ],
)
def test_colors(arguments: list[str], env: dict[str, str], colored: bool, tree: Path) -> None:
    for command in ("check", "migrate"):
        outcome = guardfix(command, *arguments, "kernel.cpp", cwd=tree, env=env)
        assert ("\x1b[" in outcome.stdout) is colored
        assert re.sub(r"\x1b\[\d*m", "", outcome.stdout).count("AutoNonVariableTypeMode") > 0


def test_migrate_shows_a_diff_that_patch_takes_and_changes_nothing(tree: Path) -> None:
    outcome = guardfix("migrate", ".", cwd=tree)
    assert (tree / "kernel.cpp").read_text() == KERNEL
    assert "-    at::AutoNonVariableTypeMode g;\n+    at::AutoDispatchBelowADInplaceOrView g;\n" in outcome.stdout
    subprocess.run(["git", "apply", "-p1"], input=outcome.stdout, text=True, cwd=tree, check=True)
    assert (tree / "kernel.cpp").read_text() == KERNEL.replace("NonVariableTypeMode", "DispatchBelowADInplaceOrView")


def test_migrate_lists_what_it_leaves_with_the_reason(tree: Path) -> None:
    (tree / "swap.cpp").write_text(UNKNOWN)
    outcome = guardfix("migrate", "--apply", ".", cwd=tree)
    assert outcome.returncode == 0
    assert "swap.cpp:2:3: GF101 no fix: AutoNonVariableTypeMode is deprecated; the code doesn't show" in outcome.stderr
    assert "Applied 1 fix in 1 file." in outcome.stderr
    assert guardfix("migrate", "--apply", ".", cwd=tree).stderr.endswith("Nothing to change.\n")


def test_migrate_lists_what_it_leaves_where_it_stands_now(tree: Path) -> None:
    """The edits above have moved it."""
    inference = LOAD.replace("  at::AutoNon", "  torch::NoGradGuard no_grad;\n  at::AutoNon")
    never = UNKNOWN.replace(" g;", " g(false);")  # what `false` was meant for is not in the code
    (tree / "mixed.cpp").write_text(inference + never)
    before = guardfix("check", "mixed.cpp", cwd=tree).stdout
    assert "mixed.cpp:10:3: GF101" in before
    outcome = guardfix("migrate", "--apply", "--no-hoist", "--unsafe", "mixed.cpp", cwd=tree)
    assert "mixed.cpp:9:3: GF101 no fix" in outcome.stderr
    assert (tree / "mixed.cpp").read_text().splitlines()[8].startswith("  at::AutoNonVariableTypeMode")


def test_check_fix_applies_and_reports_the_rest(tree: Path) -> None:
    (tree / "swap.cpp").write_text(UNKNOWN)
    outcome = guardfix("check", "--fix", ".", cwd=tree)
    assert outcome.returncode == 1
    assert "kernel.cpp" not in outcome.stdout
    assert "swap.cpp:2:3" in outcome.stdout


LOAD = """#include <torch/script.h>

at::Tensor predict(const at::Tensor& input) {
  auto module = torch::jit::load("m.pt");
  at::AutoNonVariableTypeMode guard;
  return module.forward({input}).toTensor();
}
"""
BYPASS = KERNEL.replace("class F", "at::Tensor f(const at::Tensor& x) {\n  return x.mul(2);\n}\n\nclass F")


@pytest.mark.parametrize(
    ("choice", "there"),
    [
        pytest.param([], ["= torch::jit", "g;"], id="safe fixes"),
        pytest.param(["--unsafe"], ["guard;\n  auto module", "g;"], id="unsafe ones: the guard moves up"),
        pytest.param(["--unsafe", "--no-hoist"], ['"m.pt");\n  c10::InferenceMode guard;', "g;"], id="not moved"),
        pytest.param(["--unsafe", "--remove-redundant"], ["guard;\n  auto module", "{\n    return f(x)"], id="removed"),
    ],
)
def test_check_fix_takes_the_options_of_migrate(choice: list[str], there: list[str], tmp_path: Path) -> None:
    results = []
    for command in (["migrate", "--apply"], ["check", "--fix"]):
        (tmp_path / "load.cpp").write_text(LOAD)
        (tmp_path / "kernel.cpp").write_text(BYPASS)
        guardfix(*command, *choice, ".", cwd=tmp_path)
        results.append([(tmp_path / name).read_text() for name in ("load.cpp", "kernel.cpp")])
    assert results[0] == results[1]
    assert all(text in result for text, result in zip(there, results[0], strict=True))


@pytest.mark.parametrize("option", ["--unsafe", "--no-hoist", "--remove-redundant"])
def test_options_of_fix_without_it_are_an_error(option: str, tree: Path) -> None:
    outcome = guardfix("check", option, ".", cwd=tree)
    assert outcome.returncode == 2
    assert "need --fix" in outcome.stderr


def test_files_that_cannot_be_read_are_findings_and_the_run_goes_on(tree: Path) -> None:
    (tree / "broken.cpp").write_bytes(b"\xff\xfea")
    outcome = guardfix("check", "--output-format", "json", ".", cwd=tree)
    assert [f["code"] for f in json.loads(outcome.stdout)] == ["GF001", "GF101"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_does_not_stop_the_run(tree: Path) -> None:
    os.mkfifo(tree / "pipe.cpp")
    outcome = guardfix("check", "pipe.cpp", "clean.cpp", cwd=tree)
    assert outcome.returncode == 1
    assert "GF001 cannot read this file: not a regular file" in outcome.stdout


def test_a_partly_parsed_file_is_noted(tree: Path) -> None:
    (tree / "odd.cpp").write_text("@@ {{ void f() {\n  at::AutoNonVariableTypeMode g;\n}\n")
    assert "note: 1 file could only be parsed partially (odd.cpp:1)" in guardfix("check", ".", cwd=tree).stderr


def test_long_output_is_written_whole_before_the_process_ends(tmp_path: Path) -> None:
    (tmp_path / "many.cpp").write_text("void f() {\n" + "  { at::AutoNonVariableTypeMode g; run(); }\n" * 300 + "}\n")
    command = [sys.executable, "-m", "guardfix", "check", "--output-format", "json", "many.cpp"]
    outcome = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert outcome.returncode == 1
    assert len(json.loads(outcome.stdout)) == 300


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a Linux device")
def test_a_full_disk_is_a_failed_run(tree: Path) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "guardfix", "check", "kernel.cpp"]
        outcome = subprocess.run(command, cwd=tree, stdout=full, stderr=subprocess.PIPE, check=False, timeout=60)
    assert outcome.returncode == 2


def test_a_closed_pipe_is_no_traceback(tree: Path) -> None:
    for number in range(200):
        (tree / f"swap{number}.cpp").write_text(UNKNOWN)
    command = f"{sys.executable} -m guardfix check . | head -1"
    outcome = subprocess.run(command, shell=True, cwd=tree, capture_output=True, text=True, check=False)
    assert "Traceback" not in outcome.stderr


QUICK = [
    pytest.param(["check", "clean.cpp"], id="one file"),
    pytest.param(["check", "clean.cpp", "./clean.cpp", "more.h"], id="a file twice"),
    pytest.param(["check", "README.txt"], id="no file of a language"),
    pytest.param(["check", "clean.cpp", "kernel.cpp"], id="a file with a guard"),
    pytest.param(["check", "--force-exclude", "--", "clean.cpp"], id="as pre-commit calls it"),
    pytest.param(["check", "--", "--force-exclude"], id="a name like an option's, and no such file"),
]


@pytest.mark.parametrize("arguments", QUICK)
def test_the_quick_answer_is_the_real_one(arguments: list[str], tree: Path) -> None:
    (tree / "more.h").write_text("#pragma once\n")
    (tree / "README.txt").write_text("at::AutoNonVariableTypeMode\n")
    quick = guardfix(*arguments, cwd=tree)
    real = guardfix(arguments[0], "--isolated", *arguments[1:], cwd=tree)
    assert (quick.returncode, quick.stdout, quick.stderr) == (real.returncode, real.stdout, real.stderr)


def test_the_quick_answer_imports_next_to_nothing(tree: Path) -> None:
    code = (
        "import sys; sys.argv[1:] = ['check', 'clean.cpp']; from guardfix.__main__ import main; main();"
        "print(sorted({'click', 'dataclasses', 'tree_sitter', 'libcst', 'numpy', 'ast', 'json'} & set(sys.modules)))"
    )
    outcome = subprocess.run([sys.executable, "-S", "-c", code], cwd=tree, capture_output=True, text=True, check=False)
    if outcome.returncode:  # an editable install needs site
        outcome = subprocess.run([sys.executable, "-c", code], cwd=tree, capture_output=True, text=True, check=True)
    assert outcome.stdout.splitlines()[0] == "All checks passed (1 file)."
    assert not {"click", "tree_sitter", "libcst", "numpy"} & set(re.findall(r"\w+", outcome.stdout.splitlines()[1]))


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        pytest.param("guardfix mi", ["migrate"], id="a command"),
        pytest.param("guardfix check --sel", ["--select"], id="an option"),
        pytest.param("guardfix check --output-format j", ["json", "json-lines", "junit"], id="a value"),
        pytest.param("guardfix explain GF10", ["GF101", "GF102", "GF103", "GF104", "GF105"], id="codes"),
        pytest.param("guardfix check --select inference-e", ["inference-escape"], id="a name"),
        pytest.param("guardfix check --select rai", ["raises"], id="a group"),
        pytest.param("guardfix check --ignore GF2,gf40", [f"GF2,GF40{n}" for n in range(1, 10)], id="in a list"),
    ],
)
def test_completion_in_bash(words: str, offered: list[str], tree: Path) -> None:
    command = tree / "bin" / "guardfix"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from guardfix.cli.main import run; run()" "$@"\n')
    command.chmod(0o755)
    script = (
        'eval "$(_GUARDFIX_COMPLETE=bash_source guardfix)"\n'
        'IFS=" " read -ra COMP_WORDS <<< "$1"; [[ $1 == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n'
        '_guardfix_completion guardfix; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    outcome = subprocess.run(
        ["bash", "-c", script, "bash", words],
        cwd=tree,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.stdout.split() == offered, outcome.stderr


def test_every_rule_explains_itself_in_the_same_order(tree: Path) -> None:
    codes = [rule["code"] for rule in json.loads(guardfix("rules", "--output-format", "json", cwd=tree).stdout)]
    parts = (
        "What it flags:",
        "Why it is bad:",
        "Example:",
        "Use instead:",
        "Fix:",
        "Not flagged:",
        "Limits:",
        "References:",
    )
    for code in codes:
        text = guardfix("explain", code, cwd=tree).stdout
        assert text.startswith(code + " ")
        places = [text.find(part) for part in parts]
        assert -1 not in places, f"{code}: {parts[places.index(-1)]} is missing"
        assert places == sorted(places), code


def test_pre_commit_passes_every_file_that_the_walk_takes() -> None:
    hooks = (Path(__file__).resolve().parents[3] / ".pre-commit-hooks.yaml").read_text()
    patterns = re.findall(r"^  files: '(.*)'$", hooks, re.MULTILINE)
    assert len(patterns) == hooks.count("- id:")
    for pattern in patterns:
        for suffix in LANGUAGES:
            assert re.search(pattern, f"src/a{suffix}"), suffix
        assert not re.search(pattern, "src/a.cpp.bak")
        assert not re.search(pattern, "src/cpp")


@pytest.mark.parametrize("command", ["migrate --unsafe --apply", "check --add-noqa"])
def test_what_a_killed_run_left_is_removed(command: str, tree: Path) -> None:
    """Also beside a file that has no guard any more."""
    (tree / "done").mkdir()
    (tree / "done" / "plain.cpp").write_text("int x;\n")
    left = tree / "done" / ".plain.cpp.0123456789abcdef.guardfix"
    left.touch()
    guardfix(*command.split(), ".", cwd=tree)
    assert not left.exists()
