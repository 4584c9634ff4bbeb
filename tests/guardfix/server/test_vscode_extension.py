"""The extension for Visual Studio Code, as far as it can be tested without it."""

from __future__ import annotations

import json
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


def test_the_page_lists_the_settings_of_the_server() -> None:
    page = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
    for name, default in asdict(ServerSettings()).items():
        assert f"| `{name}` | `{json.dumps(default)}` |" in page


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_its_own_tests_pass() -> None:
    ran = subprocess.run(["node", "--test", "test/"], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
