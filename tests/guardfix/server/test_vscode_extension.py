"""The extension for Visual Studio Code, as far as it can be tested without it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import asdict

import pytest

from fixture_files import ROOT
from guardfix.server.server_settings import ServerSettings

FOLDER = ROOT / "editors" / "vscode"


def test_it_offers_the_settings_of_the_server() -> None:
    manifest = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    offered = manifest["contributes"]["configuration"]["properties"]
    defaults = {name.removeprefix("guardfix."): one["default"] for name, one in offered.items()}
    assert defaults.pop("command") == ["guardfix"]
    assert defaults == asdict(ServerSettings())


def test_what_the_walkthrough_names_is_there() -> None:
    offered = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))["contributes"]
    commands = {one["command"] for one in offered["commands"]}
    steps = [step for walkthrough in offered["walkthroughs"] for step in walkthrough["steps"]]
    named = {name for step in steps for name in re.findall(r"command:(guardfix\.\w+)", step["description"])}
    assert named
    assert named <= commands
    assert all((FOLDER / step["media"]["markdown"]).is_file() for step in steps)
    extension = (FOLDER / "extension.js").read_text(encoding="utf-8")
    assert {f"guardfix.{name}" for name in re.findall(r'registerCommand\("guardfix\.(\w+)"', extension)} == commands


def test_the_page_lists_the_settings_of_the_server() -> None:
    page = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
    for name, default in asdict(ServerSettings()).items():
        assert f"| `{name}` | `{json.dumps(default)}` |" in page


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_its_own_tests_pass() -> None:
    ran = subprocess.run(["node", "--test", "test/"], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
