"""A rule is one file, and its fix is another; with fixtures beside them nothing else has to know of either."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fixture_files import ROOT

RULE = '''"""GF998 guard-in-namespace-at: `at::NoGradGuard` is a name of long ago.

Fix: safe, the two names mean one class.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.project import Project
from ..facts import Facts, GuardUse
from ..findings import Applicability, Finding
from ..rule import Rule, RuleFix

RULE = Rule(
    "GF998", "guard-in-namespace-at", fix=RuleFix(Applicability.SAFE, always=True), needles=(b"NoGradGuard",)
)


@RULE.check_use
def named_in_at(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    if use.written == "at::NoGradGuard":
        yield RULE.at(facts, use.type_span, "`at::NoGradGuard` is `torch::NoGradGuard`", use=use)
'''
FIX = '''"""GF998: the name is spelled `torch::NoGradGuard`."""

from __future__ import annotations

from ..fix import Edit, Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()


@FIX.fix
def spell_it(site: Site) -> Fix | None:
    return site.fix("spell it `torch::NoGradGuard`", [Edit(site.use.type_span, "torch::NoGradGuard")])
'''
PROGRAM = "#include <torch/torch.h>\n\nat::Tensor f(at::Tensor x) {\n  at::NoGradGuard g;%s\n  return x * 2;\n}\n"
BEFORE, AFTER = PROGRAM % "  // GF998", (PROGRAM % "  // GF998").replace("at::NoGrad", "torch::NoGrad")
CLEAN = (PROGRAM % "").replace("at::NoGrad", "torch::NoGrad")

FILES = {
    "linter/rules/gf998_guard_in_namespace_at.py": RULE,
    "codemods/fixes/gf998_guard_in_namespace_at.py": FIX,
    "fixtures/cpp/guard_in_namespace_at.cpp": BEFORE,
    "fixtures/cpp/guard_in_namespace_at.migrated.cpp": AFTER,
    "fixtures/cpp/clean_guard_in_namespace_torch.cpp": CLEAN,
}
"""All that is written for a rule with a fix."""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with a rule, its fix and their fixtures in it, and no other fixtures."""
    folder = tmp_path_factory.mktemp("clone")
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("guardfix", "linter", "codemods"):
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)
    (folder / "tests").mkdir()
    for name in ("conftest.py", "fixture_files.py", "test_fixtures.py"):
        shutil.copy(ROOT / "tests" / name, folder / "tests" / name)
    shutil.copy(ROOT / "pyproject.toml", folder)
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def run(clone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=clone, env=env, capture_output=True, text=True, timeout=120, check=False)


def test_it_is_listed_with_what_its_fix_claims(clone: Path) -> None:
    rules = json.loads(run(clone, "guardfix", "rules", "--output-format", "json").stdout)
    assert {rule["code"]: rule["fix"] for rule in rules}["GF998"] == "safe"
    assert "GF998" in run(clone, "guardfix", "explain", "GF998").stdout
    assert (
        "*warning, always a safe fix, on by default.*"
        in run(clone, "guardfix", "explain", "ALL").stdout.split("## GF998")[1]
    )


@pytest.mark.parametrize("named", [pytest.param("a.cpp", id="a file"), pytest.param(".", id="a folder")])
@pytest.mark.few("a folder")
def test_it_is_reported_shown_and_applied(named: str, clone: Path) -> None:
    work = clone / "work" / ("file" if named == "a.cpp" else "folder")
    work.mkdir(parents=True)
    (work / "a.cpp").write_text(BEFORE)
    path = str((work / named).relative_to(clone))

    found = json.loads(run(clone, "guardfix", "check", "--output-format", "json", path).stdout)
    assert [(one["code"], one["location"]["row"]) for one in found] == [("GF998", 4)]
    assert found[0]["fix"]["applicability"] == "safe"
    assert found[0]["fix"]["edits"][0]["content"] == "torch::NoGradGuard"

    shown = run(clone, "guardfix", "check", path)
    assert "fix: spell it `torch::NoGradGuard`" in shown.stdout
    assert shown.returncode == 1

    diff = run(clone, "guardfix", "migrate", path).stdout
    assert "-  at::NoGradGuard g;  // GF998\n+  torch::NoGradGuard g;  // GF998\n" in diff
    assert (work / "a.cpp").read_text() == BEFORE

    assert run(clone, "guardfix", "migrate", "--apply", path).returncode == 0
    assert (work / "a.cpp").read_text() == AFTER
    assert run(clone, "guardfix", "check", path).stdout == "All checks passed (1 file).\n"


@pytest.mark.thorough
def test_its_fixtures_are_found_and_pass(clone: Path) -> None:
    done = run(clone, "pytest", "-q", "-n0", "tests/test_fixtures.py", "-k", "not as_many")
    assert " passed" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0, done.stdout
    (clone / "fixtures/cpp/guard_in_namespace_at.migrated.cpp").unlink()
    assert run(clone, "pytest", "-q", "-n0", "tests/test_fixtures.py", "-k", "not as_many").returncode == 1


@pytest.mark.thorough
def test_without_its_fix_the_rule_only_reports(clone: Path) -> None:
    (clone / "codemods/fixes/gf998_guard_in_namespace_at.py").unlink()
    program = clone / "reported.cpp"
    program.write_text(BEFORE)
    found = json.loads(run(clone, "guardfix", "check", "--output-format", "json", "reported.cpp").stdout)
    assert [(one["code"], one["fix"]) for one in found] == [("GF998", None)]
    assert "no fix: `at::NoGradGuard`" in run(clone, "guardfix", "migrate", "reported.cpp").stderr
