"""Choosing rules by group, together with codes, prefixes and names."""

from __future__ import annotations

import pytest

from guardfix.linter.facts import Facts
from guardfix.linter.rule import Rule, Selection, UnknownRule, chosen_rules, select_rules
from guardfix.linter.rule_names import RuleGroup

REDUNDANT = ["GF302", "GF303", "GF407"]
LEAKS = ["GF204", "GF205", "GF206", "GF405", "GF406", "GF408"]


@pytest.mark.parametrize(
    ("select", "ignore", "expected"),
    [
        pytest.param(["redundant"], [], REDUNDANT, id="also rules that are off by default"),
        pytest.param(["LEAKS"], [], LEAKS, id="in capitals"),
        pytest.param(["redundant", "leaks"], [], sorted(REDUNDANT + LEAKS), id="two groups"),
        pytest.param(["redundant", "GF206"], [], ["GF206", *REDUNDANT], id="with a code"),
        pytest.param(["leaks"], ["GF4"], LEAKS[:3], id="without those of a prefix"),
        pytest.param(["leaks"], ["GF40"], LEAKS[:3], id="without those of a longer prefix"),
        pytest.param(["leaks"], ["heap-guard"], ["GF204", *LEAKS[2:]], id="without one by name"),
        pytest.param(["GF303", "GF204"], ["redundant"], ["GF204", "GF303"], id="a code is closer than a group"),
        pytest.param(["GF30"], ["silently-wrong"], ["GF301", "GF302", "GF303", "GF304", "GF306", "GF307"], id="so is GF30"),
        pytest.param(["GF3"], ["silently-wrong"], ["GF302", "GF303", "GF306"], id="a group ignored in a prefix"),
        pytest.param(["GF"], [*RuleGroup][1:], [one.code for one in select_rules(["raises"])], id="groups ignored in all"),
        pytest.param(["ALL"], [*RuleGroup][:-1], ["GF001", "GF002"], id="groups ignored in ALL"),
        pytest.param(["redundant"], ["redundant"], [], id="selected and ignored"),
    ],
)  # fmt: skip
def test_rules_are_chosen_by_group(select: list[str], ignore: list[str], expected: list[str]) -> None:
    assert [rule.code for rule in select_rules(select, ignore)] == expected


def test_ignoring_a_group_leaves_the_defaults_of_the_others() -> None:
    left = select_rules((), ["leaks", "deprecated"])
    assert [rule.code for rule in left] == [
        rule.code for rule in select_rules() if rule.group not in (RuleGroup.LEAKS, RuleGroup.DEPRECATED)
    ]


def test_a_layer_adds_a_group_to_those_before() -> None:
    chosen = chosen_rules([Selection(select=("GF101",)), Selection(extend=("redundant",))])
    assert [rule.code for rule in chosen] == ["GF101", *REDUNDANT]


@pytest.mark.parametrize("selector", ["raise", "raises ", "no effect", "none", ""])
def test_what_is_no_group(selector: str) -> None:
    with pytest.raises(UnknownRule):
        select_rules([selector])


def test_rules_of_plugins_may_have_a_group() -> None:
    with_group, without = Rule("MY001", "one", group=RuleGroup.LEAKS), Rule("MY002", "two")
    for rule in (with_group, without):

        @rule.check_file
        def nothing(facts: Facts, project: object) -> tuple[()]:
            return ()

    assert [rule.code for rule in select_rules(["leaks"], more=[with_group, without])] == [*LEAKS, "MY001"]
    assert (without.in_short, with_group.in_short) == (
        "warning, no fix, on by default",
        "warning, group `leaks`, no fix, on by default",
    )
