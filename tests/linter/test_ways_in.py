"""`check FILE`, `check DIR` and the quick path agree on whether something is found, rule by rule, on every fixture."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixture_files import Fixture, all_fixtures
from guardfix.cli.quick import is_clean
from guardfix.linter.engine import Options, check
from guardfix.linter.files.languages import language_of
from guardfix.linter.findings import Finding
from guardfix.linter.rule_names import rule_names

FILES = [fixture for fixture in all_fixtures() if fixture.path.is_file()]


def keys(findings: list[Finding]) -> set[tuple[object, ...]]:
    return {(finding.path, finding.code, finding.name, finding.span, finding.message) for finding in findings}


@pytest.mark.parametrize("fixture", FILES, ids=lambda fixture: fixture.name)
@pytest.mark.some(8)
def test_every_way_in_finds_the_same(fixture: Fixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fixture.copy_to(tmp_path)
    monkeypatch.chdir(folder)
    name = fixture.path.name
    common = {"workers": 1, "minimum_torch": fixture.minimum_torch()}
    by_folder = keys(check(["."], Options(**common)).findings)  # type: ignore[arg-type]
    assert keys(check([name], Options(**common)).findings) == by_folder  # type: ignore[arg-type]
    if by_folder:
        assert is_clean(["check", name]) is None

    every = check(["."], Options(select=("ALL",), **common)).findings  # type: ignore[arg-type]
    language = language_of(name)
    for rule in rule_names():
        wanted = keys([finding for finding in every if (finding.code, finding.name) == (rule.code, rule.name)])
        if not wanted and not rule_concerns(rule.module, language):
            continue
        found = check([name], Options(select=(rule.code,), ignore=others(rule.code, rule.name), **common))  # type: ignore[arg-type]
        assert {key for key in keys(found.findings) if key[2] == rule.name} == wanted, rule


def rule_concerns(module: str, language: str | None) -> bool:
    from guardfix.linter.rule import load_rule

    return any(language in load_rule(name).languages for name in rule_names() if name.module == module)


def others(code: str, name: str) -> tuple[str, ...]:
    return tuple(rule.name for rule in rule_names() if rule.code == code and rule.name != name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("a.cpp", "int f() { return 1; }\n", id="no guard in C++"),
        pytest.param("a.ixx", "export module a;\n", id="no guard in a module of C++20"),
        pytest.param("a.py", "import torch\n", id="no guard in Python"),
        pytest.param("a.py", "import torch\nwith torch.no_grad():\n    f()\n", id="a guard in an ordinary shape"),
    ],
)
def test_the_quick_path_answers_for_clean_files(
    name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That it leaves nothing out must not come from its never answering."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(text)
    assert is_clean(["check", name]) == "All checks passed (1 file).\n"
