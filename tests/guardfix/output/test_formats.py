"""A format is found by itself: one file, and every command that can use it offers it."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fixture_files import ROOT
from guardfix import Options, check_text
from guardfix.output.format_registry import Output, format_names, load_format

pytestmark = pytest.mark.usefixtures("away_from_home")

PLANTED = '''"""One line a finding, between bars."""

from __future__ import annotations

from collections.abc import Sequence

from guardfix.package_version import VERSION
from guardfix.linter.engine import Report
from guardfix.linter.files.source_positions import SourcePositions
from guardfix.linter.rule import Rule

from .format_registry import Output, OutputFormat


def _write_findings(report: Report, output: Output) -> None:
    positions = SourcePositions(report.workspace)
    for finding in report.findings:
        row, column = positions.start(finding.path, finding.span)
        output.write(f"{VERSION}|{finding.path}|{row}|{column}|{finding.code}|{output.color}|{output.width}")


def _write_rules(rules: Sequence[Rule], output: Output) -> None:
    output.write("|".join(rule.code for rule in rules))


'''
MACHINES = "FORMAT = OutputFormat(findings=_write_findings, for_machines=True)\n"
PEOPLE = "FORMAT = OutputFormat(findings=_write_findings, rules=_write_rules)\n"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages with two more formats."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "guardfix", folder / "guardfix", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "guardfix" / "output" / "bars_format.py").write_text(PLANTED + MACHINES)
    (folder / "guardfix" / "output" / "wide_bars_format.py").write_text(PLANTED + PEOPLE)
    (folder / "a.cpp").write_text("int a;\n\nvoid f() {\n  at::AutoNonVariableTypeMode g;\n}\n")
    return folder


def guardfix(copy: Path, *arguments: str) -> tuple[int, str, str]:
    """(exit status, output, errors) of the copy's command."""
    done = subprocess.run(
        [sys.executable, "-m", "guardfix", *arguments],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_planted_format_is_used(copy: Path) -> None:
    status, output, errors = guardfix(copy, "check", "--output-format", "bars", "a.cpp")
    assert (status, errors) == (1, "")
    assert output == "0.1.0|a.cpp|4|3|GF101|False|None\n"


def test_a_planted_format_for_people_has_a_summary(copy: Path) -> None:
    _, output, _ = guardfix(copy, "check", "--output-format", "wide-bars", "--color", "always", "a.cpp")
    assert output.splitlines() == [
        "0.1.0|a.cpp|4|3|GF101|True|None",
        "Found 1 issue in 1 file (1 file checked).",
        "1 wants review, as the fix may change behavior: `guardfix migrate --unsafe`.",
    ]


def test_commands_offer_what_they_can_use(copy: Path) -> None:
    assert {"full", "bars", "json", "wide-bars"} <= offered(copy, "check")
    assert offered(copy, "rules") == {"full", "json", "wide-bars"}
    assert offered(copy, "verify") == {"full", "json"}
    status, _, errors = guardfix(copy, "rules", "--output-format", "bars")
    assert (status, "'bars' is not one of" in errors) == (2, True)
    assert guardfix(copy, "rules", "--output-format", "wide-bars")[1].startswith("GF001|GF002|GF101|")


def offered(copy: Path, command: str) -> set[str]:
    """The formats that a command's help lists."""
    text = "".join(guardfix(copy, command, "--help")[1].split())
    return set(text.partition("--output-format[")[2].partition("]")[0].split("|"))


def test_without_it_there_is_no_such_format(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "guardfix", "check", "--output-format", "bars", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, "'bars' is not one of" in done.stderr) == (2, True)


def test_the_formats_there_are() -> None:
    assert format_names("findings")[0] == "full"
    assert {"full", "json"} <= set(format_names("verdicts")) & set(format_names("rules")) & set(
        format_names("findings")
    )
    assert (load_format("full").for_machines, load_format("json").for_machines) == (False, True)


@pytest.mark.parametrize("name", format_names("findings"))
def test_every_format_writes_where_it_is_told_to(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "void f() {\n  at::AutoNonVariableTypeMode g;\n}\n"
    written = []
    for path, content in (("a.cpp", text), ("new\nline.cpp", text), ("clean.cpp", "int a;\n")):
        stream = io.StringIO()
        load_format(name).findings(check_text(content, path, options=Options()), Output(stream))
        written.append(stream.getvalue())
    found, oddly_named, clean = written
    assert "GF101" in found
    assert "GF101" in oddly_named
    assert "GF101" not in clean
    assert capsys.readouterr().out == ""
