"""The documentation site: what is generated for it, and that its first page tells the truth."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fixture_files import ROOT
from guardfix import runtime_shim

sys.path.insert(0, str(ROOT / "docsite"))

from guard_nesting import DEEPEST, GUARDS, RECORDED, inside, page_data, table
from record_pytorch_nestings import recording
from rule_pages import index_page, page_name, rule_page, rules
from terminal_picture import PICTURES, picture, pieces, printed
from verified_fixtures import verified_fixture


def test_the_pictures_are_what_the_command_prints() -> None:
    for path, columns in PICTURES.items():
        assert path.read_text(encoding="utf-8") == picture(printed(), columns), "run make generate"


def test_a_long_line_of_the_picture_goes_on_below() -> None:
    text = "\x1b[33m\x1b[1mGF101\x1b[0m " + "word " * 40
    assert list(pieces("\x1b[33m\x1b[1mGF101\x1b[0m <b>")) == [("GF101", "#f0c060", True), (" <b>", "", False)]
    drawn = picture(text + "\n\x1b[34m<b>\x1b[0m\n", 92)
    rows = re.findall(r"<text [^>]*>(.*?)</text>", drawn)
    assert rows[-1] == '<tspan fill="#82b7ff">&lt;b&gt;</tspan>'
    assert all(len(re.sub("<[^>]*>", "", row)) <= 92 for row in rows)
    assert " ".join(re.sub("<[^>]*>", "", row).strip() for row in rows[:-1]) == "GF101 " + "word " * 39 + "word"


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
    found = inside(tuple(BY_KEY[key] for key in keys), runtime_shim)
    said = (found.grad_mode, found.inference_mode, found.recorded, found.view_tracked, found.version_counted)
    assert (*said, found.new_is_inference) == expected


def test_the_page_has_every_nesting() -> None:
    data = page_data()
    assert len(data["nestings"]) == sum(len(GUARDS) ** depth for depth in range(DEEPEST + 1))
    assert data["nestings"]["i"] == "".join(map(str, map(int, inside((BY_KEY["i"],), runtime_shim))))


def test_the_shim_answers_as_pytorch_did() -> None:
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    assert recorded["version"] == "2.13.0"
    assert recorded["nestings"] == page_data()["nestings"]


@pytest.mark.oracle
def test_pytorch_answers_as_it_did() -> None:
    torch = pytest.importorskip("torch")

    assert recording(torch) == json.loads(RECORDED.read_text(encoding="utf-8"))


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


def test_what_verify_shows_for_a_fixture() -> None:
    [rule] = [rule for rule in rules() if rule.code == "GF402"]
    page = rule_page(rule, verified_fixture)
    assert "## What verify shows\n" in page
    assert "**changed**" in page, "the guard takes effect now"
    assert re.search(r"^\| \d+ ≠ \| `mul` gives .* \|$", page, re.MULTILINE)
    assert "## What verify shows" not in rule_page(rule)


NOT_RUN = [
    pytest.param("kernel.cpp", "at::Tensor f(at::Tensor x);\n", id="no main"),
    pytest.param("needs.py", "import torch\ntorch.no_such_thing()\n", id="what the shim lacks"),
]


@pytest.mark.parametrize(("name", "text"), NOT_RUN)
def test_what_cannot_be_run_is_left_out(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert verified_fixture(tmp_path / name, tmp_path / name) == ""


GUIDES = [
    pytest.param("index.md", 4, id="five minutes"),
    pytest.param("kernel_libraries.md", 9, id="a library of kernels", marks=pytest.mark.thorough),
    # Compiles a program twice.
    pytest.param("inference_applications.md", 4, id="an inference application", marks=pytest.mark.thorough),
]
_BLOCK = re.compile(
    r'^```(?:\w+ title="(?P<file>[^"]+)"(?P<edit> edit)?|console)\n(?P<text>.*?)^```', re.MULTILINE | re.DOTALL
)


@pytest.mark.parametrize(("page", "commands"), GUIDES)
def test_a_guide_s_commands_print_what_it_says(page: str, commands: int, tmp_path: Path) -> None:
    ran = 0
    for block in _BLOCK.finditer((ROOT / "docs" / page).read_text(encoding="utf-8")):
        text = block["text"]
        if block["file"]:
            path = tmp_path / block["file"]
            if block["edit"]:  # the line that takes the place of the one that begins with the same word
                old = next(line for line in path.read_text().splitlines() if line.split(".")[0] == text.split(" =")[0])
                text = path.read_text().replace(f"{old}\n", text)
            path.write_text(text, encoding="utf-8")
            continue
        for command, expected in re.findall(r"^\$ guardfix (.*?)\n(.*?)(?=^\$ |\Z)", text, re.MULTILINE | re.DOTALL):
            done = subprocess.run(
                [sys.executable, "-m", "guardfix", *command.split()],
                cwd=tmp_path, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": str(ROOT)},
            )  # fmt: skip
            assert done.stdout == expected, command
            ran += 1
    assert ran == commands


def test_landmarks_have_names_of_their_own() -> None:
    pytest.importorskip("mkdocs")
    from types import SimpleNamespace

    from site_hooks import on_post_page

    lists = [
        f'<nav class="md-nav" data-md-level="1" aria-labelledby="__nav_{n}_label" aria-expanded="true">' for n in (1, 2)
    ]
    search = '<div class="md-search" data-md-component="search" role="dialog">'
    page = on_post_page("".join([search, *lists]), None, SimpleNamespace(nav=[{"Guides": []}, {"Rules": []}]))
    assert re.findall(r'aria-label="([^"]*)"', page) == ["Search", "Guides: pages", "Rules: pages"]
    assert "aria-labelledby" not in page


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"rules.md"}  # on the site, each rule has a page
    assert {page for page in pages if f": {page}\n" not in navigation} == set()


_HEADER = re.compile(r"^\|(?P<cells>.*)\|\n\|[-:| ]+\|$", re.MULTILINE)


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.stem)
def test_every_column_of_a_table_has_a_heading(page: Path) -> None:
    """Screen readers read it out with each cell."""
    headers = [match["cells"].split("|") for match in _HEADER.finditer(page.read_text(encoding="utf-8"))]
    assert [cells for cells in headers if not all(map(str.strip, cells))] == []
