"""Which versions of the parsers are tested is declared, and told where others are installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from guardfix.api import check_text
from guardfix.linter import parser_versions
from guardfix.linter.parser_versions import TESTED, installed_parsers, untested_parsers
from guardfix.output.report_summary import notes

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytestmark = pytest.mark.usefixtures("away_from_home")

ROOT = Path(__file__).resolve().parents[2]


def test_the_package_asks_for_the_tested_versions() -> None:
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    for module, (first, beyond) in TESTED.items():
        low, high = (".".join(map(str, version)) for version in (first, beyond))
        assert f"{module.replace('_', '-')}>={low},<{high}" in wanted


def test_those_installed_are_known_and_tested() -> None:
    assert installed_parsers().keys() == TESTED.keys()
    assert all(version[0].isdecimal() for version in installed_parsers().values())
    assert untested_parsers() == []


VERSIONS = [
    pytest.param("0.24.9", ["tree_sitter 0.24.9"], id="older"),
    pytest.param("0.25", [], id="the first"),
    pytest.param("0.26.99.post1", [], id="the last"),
    pytest.param("0.27.0rc1", ["tree_sitter 0.27.0rc1"], id="the next"),
    pytest.param("1.0.0", ["tree_sitter 1.0.0"], id="much newer"),
    pytest.param("/usr/x.py 1 2", ["tree_sitter of an unknown version"], id="none that is told"),
]


@pytest.mark.parametrize(("version", "told"), VERSIONS)
def test_an_untested_one_is_told(version: str, told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_versions, "installed_parsers", lambda: {"tree_sitter": version, "libcst": "1.9.0"})
    assert untested_parsers() == told
    report = check_text("at::AutoNonVariableTypeMode guard;\n", "a.cpp")
    found = [note for note in notes(report) if "tested" in note]
    assert found == [f"note: guardfix isn't tested with {one}: findings may differ" for one in told]


def test_where_no_file_is_read_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_versions, "installed_parsers", lambda: {"tree_sitter": "9.9"})
    assert list(notes(check_text("int x;\n", "a.cpp"))) == []
