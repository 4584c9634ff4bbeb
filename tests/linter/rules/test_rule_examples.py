"""The documentation of the rules on how C++ guards live: its examples are found, and what it says instead is silent."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from guardfix.linter.engine import Options, check
from guardfix.linter.findings import Severity
from guardfix.linter.rule import Rule, select_rules

RULES = select_rules(("GF2", "GF3", "GF506", "GF507"), ())
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.code} {rule.name}")

INCLUDES = "#include <torch/script.h>\n#include <torch/torch.h>\n"


def block(rule: Rule, heading: str) -> str:
    """The indented code below a heading of the rule's documentation; empty where it has none."""
    match = re.search(rf"^{heading}:[^\n]*\n(?:[^\n]+\n)*\n((?:    [^\n]*\n|\n)+)", rule.documentation, re.MULTILINE)
    return textwrap.dedent(match[1]).strip("\n") + "\n" if match else ""


def programs(code: str) -> list[str]:
    """The code as a file: as it stands, and as a function's body; brackets that an excerpt leaves open are closed."""
    code += "}\n" * (code.count("{") - code.count("}"))
    return [INCLUDES + code, f"{INCLUDES}torch::Tensor excerpt() {{\n{textwrap.indent(code, '  ')}}}\n"]


def found(code: str, rule: Rule, folder: Path) -> bool:
    file = folder / "example.cpp"
    file.write_text(code)
    report = check([str(file)], Options(select=(rule.code,), workers=1))
    return any(finding.code == rule.code for finding in report.findings)


@each_rule
def test_the_example_is_found_and_what_to_use_instead_is_not(rule: Rule, tmp_path: Path) -> None:
    bad, good = programs(block(rule, "Example")), programs(block(rule, "Use instead"))
    spoken = [found(program, rule, tmp_path) for program in bad]
    assert any(spoken), "the rule is silent on its own example"
    assert not any(found(program, rule, tmp_path) for program in good)


@each_rule
def test_says_when_not_to_use_it_and_where_it_was_seen(rule: Rule) -> None:
    text = rule.documentation
    assert "\nWhen not to use it: " in text
    assert "\nSeen in public code: " in text
    assert re.search(r"^Fix: (?:none|safe|unsafe|display only)\.", text, re.MULTILINE)


@each_rule
def test_a_rule_that_one_function_cannot_prove_says_so(rule: Rule) -> None:
    text = rule.documentation
    assert (rule.severity is Severity.INFO) <= ("\nLevel: info" in text)
    assert rule.default or "\nOff by default: " in text
