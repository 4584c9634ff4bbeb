"""The documentation agrees with the code: generated pages are current, links lead somewhere, commands exist."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from fixture_files import ROOT
from guardfix.cli.main import cli

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "bench").glob("*.md")])
_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")
_OWN = re.compile(r"https://github\.com/guardfix/guardfix/(?:blob|tree)/main/")
_FENCED = re.compile(r"^( *)(```|~~~).*?^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)

GENERATED = {"docs/rules.md": ["explain", "ALL"]}
"""Checked-in files and the guardfix command that prints them, as in the Makefile's `generate`."""


@pytest.mark.parametrize(("path", "command"), GENERATED.items(), ids=list(GENERATED))
def test_generated_pages_are_current(path: str, command: list[str]) -> None:
    assert CliRunner().invoke(cli, command).stdout == (ROOT / path).read_text(encoding="utf-8"), "run `make generate`"


def anchors(page: Path) -> set[str]:
    """The fragments that GitHub gives a page's headings."""
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ +(.*?) *$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings_that_exist(page: Path) -> None:
    broken = []
    for link in _LINK.findall(_FENCED.sub("", page.read_text(encoding="utf-8"))):
        # The README's links are absolute: PyPI shows it, too.
        own = _OWN.match(link)
        if "://" in link and own is None:
            continue
        name, _, fragment = (link[own.end() :] if own else link).partition("#")
        target = (ROOT if own else page.parent) / name if name else page
        if not target.exists() or (fragment and fragment not in anchors(target)):
            broken.append(link)
    assert broken == []


def targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def test_every_make_command_that_is_named_exists() -> None:
    texts = [*PAGES, ROOT / ".ci/run", ROOT / ".pre-commit-config.yaml", *(ROOT / ".github/workflows").glob("*.yml")]
    named = {
        (path.name, word)
        for path in texts
        for words in re.findall(r"(?:`|^|run: |entry: |\+ )make((?: [a-z]+)+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        for word in words.split()
    }  # fmt: skip
    assert {word for name, word in named if name == "CONTRIBUTING.md"} >= {"install", "test", "generate"}
    assert {(name, word) for name, word in named if word not in targets()} == set()


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_lists_every_target() -> None:
    listed = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert set(re.findall(r"^  make (\w+)  ", listed, re.MULTILINE)) == targets()


def test_the_readme_s_links_lead_somewhere_on_pypi_too() -> None:
    links = _LINK.findall(_FENCED.sub("", (ROOT / "README.md").read_text(encoding="utf-8")))
    assert [link for link in links if "://" not in link and not link.startswith("#")] == []
