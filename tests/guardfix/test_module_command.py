"""A module of our own is started the same way by every Python, wherever the process stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from guardfix.module_command import module_command


@pytest.mark.parametrize(
    "version",
    [pytest.param((3, 10, 13), id="3.10, which has no -P"), pytest.param(tuple(sys.version_info), id="this one")],
)
def test_modules_in_the_current_folder_are_left_out(
    version: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("click", "json", "runpy", "guardfix"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('taken from the current folder')\n")
    with monkeypatch.context() as patched:
        patched.setattr(sys, "version_info", version)
        command = module_command("guardfix")
    assert ("-P" in command) is (version >= (3, 11))
    done = subprocess.run(
        [*command, "check", "--stdin-filename", "a.cpp", "-"],
        cwd=tmp_path, input="at::AutoNonVariableTypeMode guard;\n", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.startswith("a.cpp:1:1: GF101 "), done.stderr
    assert done.returncode == 1


def test_nothing_is_started_by_an_option_that_3_10_lacks() -> None:
    from fixture_files import ROOT

    folders = ("guardfix", "linter", "codemods", "runtime_shim")
    files = {path.resolve() for folder in folders for path in (ROOT / folder).rglob("*.py")}
    named = [path.name for path in sorted(files) if '"-P"' in path.read_text(encoding="utf-8")]
    assert named == ["module_command.py"]
