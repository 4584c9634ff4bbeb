"""The documentation of the rules: its examples are found, and what it says instead is silent."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest

from guardfix.linter.engine import Options, check
from guardfix.linter.findings import Severity
from guardfix.linter.rule import Rule, select_rules

RULES = select_rules(("GF1", "GF2", "GF3", "GF4", "GF5"), ())
"""All but GF0, whose examples are about files and comments."""
CPP_LIFETIMES = select_rules(("GF2", "GF3", "GF506", "GF507"), ())
IN_PYTHON = ("GF105",)
"""Rules for several languages whose example is in Python."""


def each_of(rules: Sequence[Rule]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("rule", rules, ids=lambda rule: f"{rule.code} {rule.name}")


INCLUDES = "#include <torch/script.h>\n#include <torch/torch.h>\n"


def block(rule: Rule, heading: str) -> str:
    """The indented code below a heading of the rule's documentation; empty where it has none."""
    match = re.search(rf"^{heading}:[^\n]*\n(?:[^\n]+\n)*\n((?:    [^\n]*\n|\n)+)", rule.documentation, re.MULTILINE)
    return textwrap.dedent(match[1]).strip("\n") + "\n" if match else ""


def is_cpp(rule: Rule) -> bool:
    return "cpp" in rule.languages and rule.code not in IN_PYTHON


def programs(code: str, rule: Rule) -> list[str]:
    """The code as a file: as it stands, and as a function's or class's body; brackets that an excerpt leaves open are
    closed."""
    if not is_cpp(rule):
        return [f"import torch\n{code}", f"import torch\n\n\nclass Excerpt:\n{textwrap.indent(code, '    ')}"]
    code += "}\n" * (code.count("{") - code.count("}"))
    return [INCLUDES + code, f"{INCLUDES}torch::Tensor excerpt() {{\n{textwrap.indent(code, '  ')}}}\n"]


def found(code: str, rule: Rule, folder: Path) -> bool:
    file = folder / ("example.cpp" if is_cpp(rule) else "example.py")
    file.write_text(code)
    report = check([str(file)], Options(select=(rule.code,), workers=1, minimum_torch="1.13"))
    return any(finding.code == rule.code for finding in report.findings)


@each_of(RULES)
def test_the_example_is_found_and_what_to_use_instead_is_not(rule: Rule, tmp_path: Path) -> None:
    spoken = [found(program, rule, tmp_path) for program in programs(block(rule, "Example"), rule)]
    assert any(spoken), "the rule is silent on its own example"
    instead = block(rule, "Use instead")
    assert not any(found(program, rule, tmp_path) for program in programs(instead, rule))


@each_of(CPP_LIFETIMES)
def test_says_when_not_to_use_it_and_where_it_was_seen(rule: Rule) -> None:
    text = rule.documentation
    assert "\nWhen not to use it: " in text
    assert "\nSeen in public code: " in text
    assert re.search(r"^Fix: (?:none|safe|unsafe|display only)\.", text, re.MULTILINE)


@each_of(CPP_LIFETIMES)
def test_a_rule_that_one_function_cannot_prove_says_so(rule: Rule) -> None:
    text = rule.documentation
    assert (rule.severity is Severity.INFO) <= ("\nLevel: info" in text)
    assert rule.default or "\nOff by default: " in text
