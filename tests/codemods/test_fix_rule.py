"""Fixes are found by their names, one file each, and claim what they say."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from fixture_files import FIXTURES
from guardfix.codemods import fixes
from guardfix.codemods.fix_rule import FixRule, find_fix_rule
from guardfix.codemods.fixable import fixes_for
from guardfix.codemods.site import Site
from guardfix.linter.engine import Options, check
from guardfix.linter.findings import Applicability
from guardfix.linter.rule import load_rule
from guardfix.linter.rule_names import RuleName, rule_names

ORDER = list(Applicability)
FILES = sorted(path.stem for path in Path(next(iter(fixes.__path__))).glob("*.py") if path.stem != "__init__")


def test_every_fix_is_the_twin_of_a_rule() -> None:
    assert set(FILES) <= {rule.module for rule in rule_names()}
    with_a_fix = [rule.module for rule in rule_names() if find_fix_rule(rule.code, rule.name) is not None]
    assert with_a_fix == FILES
    assert [rule.module for rule in rule_names() if load_rule(rule).fix is not None] == FILES


@pytest.mark.parametrize("rule", [rule for rule in rule_names() if rule.module in FILES], ids=lambda rule: rule.code)
def test_a_fix_is_made_in_every_language_of_its_rule(rule: RuleName) -> None:
    found = find_fix_rule(rule.code, rule.name)
    assert found is not None
    for language in load_rule(rule).languages:
        assert found.function_for(language) is not None, language


@pytest.mark.parametrize("rule", rule_names(), ids=lambda rule: rule.code)
def test_the_documentation_says_the_most_that_the_fix_claims(rule: RuleName) -> None:
    fix = load_rule(rule).fix
    said = re.search(
        r"^Fix: (none|safe|unsafe|display|the same as for GF101)\b", load_rule(rule).documentation, re.MULTILINE
    )
    assert said is not None
    assert said[1].replace("the same as for GF101", "safe") == (fix.most if fix is not None else "none")


def test_the_function_of_a_language_goes_before_the_one_for_all() -> None:
    fix = FixRule()
    assert fix.function_for("cpp") is None

    @fix.fix
    def anywhere(site: Site) -> None: ...

    @fix.fix_in("python", "docs")
    def in_python(site: Site) -> None: ...

    found = {language: fix.function_for(language) for language in ("cpp", "python", "docs")}
    assert found == {"cpp": anywhere, "python": in_python, "docs": in_python}


@pytest.mark.parametrize(("code", "name"), [("GF999", "no-rule"), ("GF206", "guard-member"), ("GF201", "guard-member")])
def test_no_fix(code: str, name: str) -> None:
    assert find_fix_rule(code, name) is None


@pytest.mark.thorough
def test_every_fix_claims_at_most_what_its_rule_says_and_somewhere_all_of_it(tmp_path: Path) -> None:
    # Fixtures end their lines with expectations, and here the comment itself is found.
    (tmp_path / "suppressed.cpp").write_text("int one() { return 1; }  // NOLINT(GF101)\n")
    report = fixes_for(
        check([str(FIXTURES), str(tmp_path)], Options(select=("ALL",), include_docs=True, minimum_torch="1.13"))
    )
    claimed: dict[str, set[Applicability]] = defaultdict(set)
    without: set[str] = set()
    for finding in report.findings:
        if finding.fix is not None:
            claimed[finding.code].add(finding.fix.applicability)
        else:
            without.add(finding.code)
    fixes_of = {rule.code: fix for rule in map(load_rule, rule_names()) if (fix := rule.fix) is not None}
    assert {code: min(found, key=ORDER.index) for code, found in claimed.items()} == {
        code: fix.most for code, fix in fixes_of.items()
    }
    assert not without & {code for code, fix in fixes_of.items() if fix.always}, "not every finding has its fix"
