"""Plain checks, which do without click: what they do is what the real command does."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from guardfix.cli import plain_check
from guardfix.cli.check_arguments import ENVIRONMENT, FLAGS, LISTS
from guardfix.cli.check_command import command
from guardfix.cli.checking import CheckOptions
from guardfix.cli.chosen_fixes import FixOptions
from guardfix.cli.command_run import SharedOptions
from guardfix.cli.finding_filters import FilterOptions
from guardfix.cli.plain_check import plain_arguments
from guardfix.cli.record_arguments import RECORD, recorded_arguments
from guardfix.cli.reporting import Reporting

PLAIN = [
    [],
    ["a.cpp"],
    ["a.cpp", "b.py", "a.cpp", "", "a b"],
    ["-q", "a.cpp", "--no-cache", "-n", "b.cpp"],
    ["--select", "GF101", "a.cpp", "--select=GF4,GF5", "--ignore", ""],
    ["--select", "-q", "a.cpp", "--exclude", "--x"],
    ["--config", "select = ['GF1']", "--config=a.toml", "."],
    ["--isolated", "src", "--exit-zero", "--statistics"],
]
NOT_PLAIN = [
    ["-"],
    ["--", "a.cpp"],
    ["-qn", "a.cpp"],
    ["--help"],
    ["--no-such-option"],
    ["a.cpp", "--select"],
    ["--jobs", "2", "a.cpp"],
    ["--output-format", "json", "a.cpp"],
    ["--minimum-torch", "1.9"],
    ["--diff"],
    ["--quiet=1"],
]


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)


def plain_options(arguments: list[str]) -> CheckOptions:
    given = plain_arguments(arguments)
    assert given is not None
    return CheckOptions.of(given)


def click_options(arguments: list[str]) -> CheckOptions:
    return CheckOptions.of(command.make_context("check", list(arguments)).params)


def test_every_argument_of_click_is_an_option() -> None:
    kinds = (CheckOptions, SharedOptions, FixOptions, Reporting, FilterOptions)
    names = {name for kind in kinds for name in kind.__struct_fields__} - {"shared", "fixes", "reporting", "filters"}
    assert names == set(command.make_context("check", []).params)


def test_the_record_is_current() -> None:
    assert Path(RECORD).read_text(encoding="utf-8") == recorded_arguments(), (
        "run `python -m guardfix.cli.record_arguments` (or `make generate`)"
    )


@pytest.mark.parametrize("arguments", [*PLAIN, *([flag] for flag in FLAGS)], ids=" ".join)
def test_arguments_are_read_as_click_reads_them(arguments: list[str]) -> None:
    assert plain_options(arguments) == click_options(arguments)


def test_all_pairs_of_options_are_read_as_click_reads_them() -> None:
    options = [*([flag] for flag in FLAGS), *([name, "x"] for name in LISTS), ["path"]]
    for one, other in itertools.product(options, options):
        assert plain_options([*one, *other]) == click_options([*one, *other]), (one, other)


@pytest.mark.parametrize("arguments", NOT_PLAIN, ids=" ".join)
def test_other_arguments_are_left_to_click(arguments: list[str]) -> None:
    assert plain_arguments(arguments) is None


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_the_environment_is_left_to_click(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "1")
    assert plain_arguments(["a.cpp"]) is None


HIT = "#include <torch/script.h>\nint main() {\n  at::AutoNonVariableTypeMode g;\n  torch::jit::load(m);\n}\n"
ENDINGS = [
    pytest.param(["hit.cpp"], id="a finding"),
    pytest.param(["clean.cpp", "hit.cpp", "--exit-zero"], id="no status"),
    pytest.param(["hit.cpp", "-q", "--statistics"], id="statistics"),
    pytest.param(["missing.cpp"], id="no such file"),
    pytest.param(["hit.cpp", "--select", ""], id="an empty selection"),
    pytest.param(["hit.cpp", "--select", "GF999"], id="no such rule"),
    pytest.param(["hit.cpp", "--preserve"], id="an option that needs another one"),
    pytest.param(["hit.cpp", "--config", "no.toml"], id="no such configuration"),
    pytest.param(["hit.cpp", "--config", "nonsense = 1"], id="no such setting"),
    pytest.param(["@list"], id="a list of paths"),
    pytest.param(["@nothing"], id="no list of paths"),
]


@pytest.mark.parametrize("arguments", ENDINGS)
@pytest.mark.some(2)
def test_it_ends_as_the_real_command_does(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "hit.cpp").write_text(HIT)
    (tmp_path / "clean.cpp").write_text("int x;\n")
    (tmp_path / "list").write_text("hit.cpp\n")
    plain, real = (
        subprocess.run(
            [sys.executable, "-m", "guardfix", "check", *arguments, *more],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        for more in ([], ["--color", "auto"])
    )
    assert (plain.returncode, plain.stdout, plain.stderr) == (real.returncode, real.stdout, real.stderr)


def test_a_finding_is_told_without_click(tmp_path: Path) -> None:
    (tmp_path / "hit.cpp").write_text(HIT)
    code = (
        "import sys\n"
        "before = set(sys.modules)  # an editable install has imported some\n"
        "from guardfix.cli import plain_check\n"
        "try:\n"
        "    plain_check.run_plainly(['hit.cpp'])\n"
        "except SystemExit as end:\n"
        "    print(end.code, sorted({'click', 'dataclasses', 'libcst', 'hashlib'} & set(sys.modules) - before))\n"
    )
    outcome = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert outcome.stdout.splitlines()[-1] == "1 []"


def test_an_unexpected_error_is_told_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from guardfix.cli import checking

    def fail(arguments: dict[str, object]) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr(checking, "check", fail)
    monkeypatch.setattr("guardfix.cli.ending_signals.end_as_interrupted", lambda: None)
    with pytest.raises(SystemExit) as ending:
        plain_check.run_plainly(["a.cpp"])
    assert ending.value.code == 2
    assert capsys.readouterr().err.startswith("guardfix: internal error: RuntimeError: planted\n")
