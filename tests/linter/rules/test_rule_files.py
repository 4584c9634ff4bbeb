"""A rule's file as CONTRIBUTING asks for it: what is wrong with one is said, before a user meets it."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from guardfix.linter import rules
from guardfix.linter.frontends.frontend import frontends
from guardfix.linter.guards import no_guards
from guardfix.linter.rule import Rule, all_rules, load_rule
from guardfix.linter.rule_names import RuleGroup, RuleName, rule_names

HEADINGS = ("What it flags", "Why it is bad", "Example", "Use instead", "Fix", "Not flagged", "Limits", "References")
each_rule = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: f"{rule.code} {rule.name}")


def test_every_file_of_the_folder_has_the_name_of_a_rule() -> None:
    """One that is called otherwise would never be looked at."""
    files = {path.stem for path in Path(str(rules.__file__)).parent.glob("*.py")} - {"__init__"}
    assert files == {name.module for name in rule_names()}


@pytest.mark.parametrize("part", ["code", "name"])
def test_a_code_or_name_is_that_of_one_rule(part: str) -> None:
    """In comments, in `--select` and on the pages a name means one rule, as a code does."""
    assert [one for one, times in Counter(getattr(rule, part) for rule in rule_names()).items() if times > 1] == []


@each_rule
def test_a_rule_names_front_ends_that_exist(rule: Rule) -> None:
    assert set(rule.languages) <= set(frontends())


@each_rule
def test_a_rule_says_its_group_and_since_when_it_exists(rule: Rule) -> None:
    assert rule.group is not None
    assert (rule.group is RuleGroup.GUARDFIX) == rule.code.startswith("GF0")
    assert re.fullmatch(r"\d+\.\d+\.\d+", rule.since)


def test_a_group_is_called_like_no_rule() -> None:
    assert not set(RuleGroup) & {rule.name for rule in rule_names()}


@each_rule
def test_the_documentation_has_its_parts_in_order(rule: Rule) -> None:
    known = "|".join(HEADINGS)
    found = re.findall(rf"^({known}):", rule.documentation, re.MULTILINE)
    assert tuple(found) == HEADINGS, "see CONTRIBUTING, Adding a rule"
    assert rule.documentation.startswith(f"{rule.code} {rule.name}: ")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        pytest.param({"guards": no_guards}, "GF990 looks at no guards and .*: give `needles`", id="looks at nothing"),
        pytest.param({"needles": ("set_enabled",)}, "`needles` is a tuple of bytes", id="needles are texts"),
        pytest.param({"needles": b"set_enabled"}, "`needles` is a tuple of bytes", id="needles are one text"),
        pytest.param({"needles": (b"",)}, "`needles` is a tuple of bytes, none of them empty", id="an empty needle"),
        pytest.param({"languages": "python"}, "`languages` is a tuple of names", id="languages are one name"),
        pytest.param({"languages": ()}, "`languages` is a tuple of names", id="no language"),
    ],
)
def test_a_rule_that_cannot_find_anything_is_refused(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Rule("GF990", "sets-the-mode", **given)


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        pytest.param({}, r"rules/gf990_sets_the_mode\.py defines no `RULE`", id="no RULE"),
        pytest.param({"RULE": "GF990"}, "defines no `RULE`", id="something else"),
        pytest.param(
            {"RULE": Rule("GF990", "sets-the-mode")}, "GF990 has no check: nothing is decorated with", id="no check"
        ),
    ],
)
def test_a_file_without_a_working_rule_is_named(
    module: dict[str, Any], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = RuleName("GF990", "sets-the-mode", "gf990_sets_the_mode")
    planted = ModuleType(f"{rules.__name__}.{name.module}")
    vars(planted).update(module)
    monkeypatch.setitem(sys.modules, planted.__name__, planted)
    with pytest.raises(ValueError, match=reason):
        load_rule(name)
