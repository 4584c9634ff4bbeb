"""The documentation site: what is generated for it, and that its first page tells the truth."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fixture_files import ROOT

sys.path.insert(0, str(ROOT / "docsite"))

from guard_nesting import DEEPEST, GUARDS, inside, page_data, table
from rule_pages import index_page, page_name, rule_page, rules

BY_KEY = {guard.key: guard for guard in GUARDS}

NESTED = [
    # Keys from the outside in -> what holds: grad mode, inference mode, recorded, views, versions, new inference tensors.
    pytest.param("", (True, False, True, True, True, False), id="none"),
    pytest.param("n", (False, False, False, True, True, False), id="NoGradGuard"),
    pytest.param("ng", (True, False, True, True, True, False), id="on again inside of it"),
    pytest.param("i", (False, True, False, True, True, True), id="InferenceMode"),
    pytest.param("ij", (True, False, True, True, True, False), id="InferenceMode(false) undoes it"),
    pytest.param("ig", (True, True, False, True, True, True), id="grad mode alone doesn't"),
    pytest.param("a", (True, False, False, True, True, False), id="below Autograd"),
    pytest.param("v", (True, False, False, False, False, False), id="below ADInplaceOrView"),
]


@pytest.mark.parametrize(("keys", "expected"), NESTED)
def test_guards_inside_each_other(keys: str, expected: tuple[bool, ...]) -> None:
    found = inside(tuple(BY_KEY[key] for key in keys))
    said = (found.grad_mode, found.inference_mode, found.recorded, found.view_tracked, found.version_counted)
    assert (*said, found.new_is_inference) == expected


def test_the_page_has_every_nesting() -> None:
    data = page_data()
    assert len(data["nestings"]) == sum(len(GUARDS) ** depth for depth in range(DEEPEST + 1))
    assert data["nestings"]["i"] == "".join(map(str, map(int, inside((BY_KEY["i"],)))))


def test_the_table_has_every_guard() -> None:
    assert table().count("\n") == len(GUARDS) + 2
    assert "| `c10::NoGradGuard` / `torch.no_grad()` | off | no | yes | yes | normal |" in table()


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.code)
def test_a_rule_s_page(rule: object) -> None:
    page = rule_page(rule)  # type: ignore[arg-type]
    assert page.startswith(f"# {rule.code} {rule.name}\n")  # type: ignore[attr-defined]
    assert page.count("```") % 2 == 0
    assert {"## What it flags", "## Why it is bad", "## Fix"} <= set(page.splitlines())
    assert page_name(rule).removeprefix("rules/") in index_page()  # type: ignore[arg-type]


def test_a_fixture_is_shown_with_what_becomes_of_it() -> None:
    [page] = [rule_page(rule) for rule in rules() if rule.code == "GF101"]
    assert "```diff\n" in page
    assert re.search(r"^-.*AutoNonVariableTypeMode", page, re.MULTILINE)


def test_the_first_page_s_commands_print_what_it_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for name, text in re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```', page, re.MULTILINE | re.DOTALL):
        (tmp_path / name).write_text(text, encoding="utf-8")
    ran = 0
    for block in re.findall(r"^```console\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        for command, expected in re.findall(r"^\$ guardfix (.*?)\n(.*?)(?=^\$ |\Z)", block, re.MULTILINE | re.DOTALL):
            done = subprocess.run(
                [sys.executable, "-m", "guardfix", *command.split()],
                cwd=tmp_path, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": str(ROOT)},
            )  # fmt: skip
            assert done.stdout == expected, command
            ran += 1
    assert ran == 4


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"rules.md"}  # on the site, each rule has a page
    assert {page for page in pages if f": {page}\n" not in navigation} == set()


@pytest.mark.thorough
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("material")
    pytest.importorskip("mkdocstrings")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    guards = (tmp_path / "site" / "guards" / "index.html").read_text(encoding="utf-8")
    assert 'id="guards-data"' in guards
    assert (tmp_path / "site" / "rules" / "gf201-temporary-guard" / "index.html").is_file()
