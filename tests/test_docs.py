"""The documentation agrees with the code: generated pages are current, links lead somewhere, commands exist."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from fixture_files import ROOT
from guardfix.cli.main import cli
from test_house import sources

sys.path.insert(0, str(ROOT / "bench"))

from attacks import with_table
from links import external_links, malformed

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "bench").glob("*.md")])
_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")
_OWN = re.compile(r"https://github\.com/guardfix/guardfix/(?:blob|tree)/main/")
_FENCED = re.compile(r"^( *)(```|~~~).*?^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)

GENERATED = {"docs/errors.md": ["explain", "ERRORS"], "docs/rules.md": ["explain", "ALL"]}
"""Checked-in files and the guardfix command that prints them, as in the Makefile's `generate`."""


@pytest.mark.parametrize(("path", "command"), GENERATED.items(), ids=list(GENERATED))
def test_generated_pages_are_current(path: str, command: list[str]) -> None:
    assert CliRunner().invoke(cli, command).stdout == (ROOT / path).read_text(encoding="utf-8"), "run `make generate`"


def test_the_table_of_attacks_is_that_of_their_last_run() -> None:
    page = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    assert with_table(page) == page, "run `make generate`"
    assert "<!-- attacks: generated -->" in page


def anchors(page: Path) -> set[str]:
    """The fragments that GitHub gives a page's headings, and those that the page names itself."""
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ +(.*?) *$", text, re.MULTILINE)
    named = set(re.findall(r'<a id="([\w-]+)"></a>', text))
    return named | {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


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


_INLINE = re.compile(r"`guardfix ([a-z][^`\n]*)`")
_IN_BLOCK = re.compile(r"^ *(?:\$ )?guardfix ([a-z][^\n|#;]*)", re.MULTILINE)
_INDENTED = re.compile(r"^ {4}guardfix ([a-z][^\n|#;]*)", re.MULTILINE)


def command_lines(page: Path) -> list[str]:
    """What follows `guardfix` where a page shows a command, in its text or in a block."""
    text = page.read_text(encoding="utf-8")
    prose = _FENCED.sub("", text)
    blocks = [block[0] for block in _FENCED.finditer(text)]
    return [
        *_INLINE.findall(prose),
        *_INDENTED.findall(prose),
        *(line for block in blocks for line in _IN_BLOCK.findall(block)),
    ]


def unknown_parts(line: str) -> list[str]:
    """What of a command line guardfix doesn't know: its commands, or its options."""
    found: click.Command = cli
    unknown = []
    for word in line.split():
        if word.startswith(("…", "\\", "<", ">", "2>", "&&", "|")):
            break
        if isinstance(found, click.Group):
            inner = found.get_command(click.Context(found), word.partition("|")[0])
            if inner is None:
                return [] if word.isupper() else [word]
            found = inner
        elif word.startswith("-") and word not in ("-", "--"):
            options = {name for option in found.params for name in (*option.opts, *option.secondary_opts)} | {"--help"}
            name = word.partition("=")[0].rstrip(".,:)")
            if name not in options:
                unknown.append(name)
    return unknown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_guardfix_command_that_is_named_exists(page: Path) -> None:
    lines = command_lines(page)
    assert {line: wrong for line in lines if (wrong := unknown_parts(line))} == {}


def test_commands_are_found_and_known() -> None:
    lines = command_lines(ROOT / "docs/index.md")
    assert {"check", "migrate --apply scale.cpp", "verify"} <= set(lines), "in the text and in blocks"
    assert len(command_lines(ROOT / "docs/verify.md")) > 10
    assert unknown_parts("check --since origin/main --no-such-option src/") == ["--no-such-option"]
    assert unknown_parts("no-such-command src/") == ["no-such-command"]


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


def test_links_to_other_sites_have_the_form_of_one() -> None:
    links = external_links()
    assert any("linter/rules/" in name for names in links.values() for name in names), "references of rules, too"
    assert {address: why for address in links if (why := malformed(address))} == {}


FORMS = [
    pytest.param("https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place", "", id="well"),
    pytest.param("http://pytorch.org/", "not https", id="without encryption"),
    pytest.param("https://localhost/a", "`localhost` is not the plain name of a host", id="a machine's own name"),
    pytest.param("https://pytorch.org:8000/a", "`pytorch.org:8000` is not the plain name of a host", id="a port"),
    pytest.param("https://me@pytorch.org/a", "it has the name of a user", id="a user"),
    pytest.param("https://pytorch.org/caf\u00e9", "characters that must be written as %XX", id="not ASCII"),
    pytest.param("https://pytorch.org/docs//stable", "two slashes in the path", id="a part is missing"),
]


@pytest.mark.parametrize(("address", "wrong"), FORMS)
def test_what_is_wrong_with_an_address(address: str, wrong: str) -> None:
    assert malformed(address) == wrong


def test_where_addresses_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "[a](https://a.org/x), <https://b.org>.\n```\nhttps://example.org\n```\n[o](https://github.com/guardfix/guardfix)\n"
    )
    assert external_links([page]) == {"https://a.org/x": [str(page)], "https://b.org": [str(page)]}


def test_the_readme_lists_every_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `guardfix ([\w-]+)", readme, re.MULTILINE))
    assert listed == {*cli.list_commands(click.Context(cli))}


_READ = re.compile(r"""(?:environ|environment)(?:\.get\(|\[)"([A-Z_]+)"|"(GUARDFIX_[A-Z_]+)"|envvar="(\w+)\"""")
_BETWEEN_OUR_PROCESSES = {
    "GUARDFIX_GUARD_TABLE",
    "GUARDFIX_KEEP_BUILDING",
    "GUARDFIX_MADE_UP_FILES",
    "GUARDFIX_ONLY_TESTS",
    "GUARDFIX_RECORDED_PROCESS",
    "GUARDFIX_RECORDING_FOLDER",
    "GUARDFIX_TEST_BACKEND",
    "GUARDFIX_OUTPUT",
}
"""Set by guardfix for what it starts; the last is how two of them begin."""
_OF_OTHERS = {"TMPDIR", "LC_ALL", "LD_PRELOAD"}
"""Set for programs that are started, as these are for any."""


def test_every_variable_of_the_environment_is_described() -> None:
    page = (ROOT / "docs/configuration.md").read_text(encoding="utf-8").partition("## Environment")[2]
    read = {name for path in sources() for match in _READ.findall(path.read_text(encoding="utf-8")) for name in match}
    described = set(re.findall(r"`([A-Z][A-Z_]+)`", page))
    unknown = {name for name in read - described - _BETWEEN_OUR_PROCESSES if name and name not in _OF_OTHERS}
    assert unknown == set()
    assert {name for name in described if name.startswith("GUARDFIX")} <= read
    assert {"GUARDFIX_CACHE_DIR", "GUARDFIX_NO_CACHE", "GUARDFIX_YES", "CXX", "NO_COLOR"} <= read


def test_every_measurement_has_a_row() -> None:
    page = (ROOT / "bench/README.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| `(\w+\.py)` \|", page, re.MULTILINE))
    scripts = {path.name for path in (ROOT / "bench").glob("*.py") if "__main__" in path.read_text(encoding="utf-8")}
    assert scripts - {"guided_fuzzing.py"} == rows, "guided_fuzzing.py is started by fuzz.py"
