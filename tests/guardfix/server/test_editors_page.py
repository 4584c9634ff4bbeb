"""docs/editors.md: what it tells people to write into their editors' settings can be read, and starts the server.

What Neovim and Emacs do with it, they show themselves (test_neovim_client, test_emacs_client).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from fixture_files import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAGE = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
READ = {"json": json.loads, "toml": tomllib.loads}


def blocks(heading: str) -> Iterator[Any]:
    """The settings below a heading, read as the editor reads them."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, heading
    for language, text in re.findall(r"^```(\w+)\n(.*?)^```", found[1], re.MULTILINE | re.DOTALL):
        if language in READ:
            yield READ[language](text)


SERVER = ["guardfix", "server"]


def test_helix() -> None:
    [settings] = blocks("Helix")
    [(name, server)] = settings["language-server"].items()
    assert [server["command"], *server["args"]] == SERVER
    assert {one["name"] for one in settings["language"]} == {"cpp", "python"}
    assert all(name in one["language-servers"] for one in settings["language"])


def test_zed() -> None:
    [settings] = blocks("Zed")
    [server] = settings["lsp"].values()
    assert [server["binary"]["path"], *server["binary"]["arguments"]] == SERVER


def test_sublime_text() -> None:
    [settings] = blocks("Sublime Text")
    [client] = settings["clients"].values()
    assert client["command"] == SERVER
    assert client["enabled"]
    assert {"source.c++", "source.python"} <= set(client["selector"].split(" | "))


def test_visual_studio_code() -> None:
    [settings] = blocks("Visual Studio Code")
    manifest = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))
    known = manifest["contributes"]["configuration"]["properties"]
    assert {key for key in settings if key.startswith("guardfix.")} <= set(known)
    assert f"guardfix-{manifest['version']}.vsix" in PAGE


@pytest.mark.parametrize("suffix", [".cpp", ".cc", ".cu", ".h", ".hpp", ".mm", ".py"])
def test_clion_s_patterns_are_of_files_that_are_checked(suffix: str) -> None:
    from guardfix.linter.files.languages import language_of

    assert f"*{suffix}" in PAGE
    assert language_of(f"a{suffix}") is not None
