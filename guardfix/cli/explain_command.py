"""`guardfix explain`."""

from __future__ import annotations

from collections.abc import Iterable

import click

from guardfix.codemods.fix_rule import find_fix_rule
from guardfix.linter.rule import Rule, UnknownRule, find_rules, load_rule
from guardfix.linter.rule_names import rule_names

from ..output.finding_places import RULES_PAGE
from ..output.plain_echo import echo
from ..output.terminal_layout import reflowed, terminal_width
from .command_failure import Failure, no_such_rule
from .command_run import configured_rules
from .options import complete_rule


@click.command("explain")
@click.argument("rule", shell_complete=complete_rule)
def command(rule: str) -> None:
    """Print a rule's documentation. RULE is a code (GF101), a name (legacy-guard), or ALL (as in docs/rules.md).

    ALL leaves out the rules of plugins.
    """
    if rule.upper() == "ALL":
        echo(pages(load_rule(name) for name in rule_names()), nl=False)
        return
    try:
        echo("\n\n".join(_page(found) for found in find_rules(rule, configured_rules())))
    except UnknownRule:
        raise Failure(no_such_rule(rule)) from None


def _page(rule: Rule) -> str:
    """A rule's documentation as it fits the terminal, with its address."""
    url = rule.url if rule.url is not None else f"{RULES_PAGE}#{rule.code.lower()}-{rule.name}"
    return "\n\n".join(filter(None, (reflowed(rule.documentation, terminal_width()), url)))


def pages(rules: Iterable[Rule]) -> str:
    """Every rule's documentation as one Markdown page: docs/rules.md."""
    parts = ["# Rules\n\nMade by `guardfix explain ALL`, from the rules' own documentation.\n"]
    for rule in rules:
        title, _, rest = rule.documentation.partition("\n")
        heading, _, summary = title.partition(": ")
        found = find_fix_rule(rule.code, rule.name)
        fix = f"{found.most} fix" if found else "no fix"
        state = "on by default" if rule.default else "off by default"
        parts.append(f"## {heading}\n\n*{rule.severity}, {fix}, {state}.* {summary[:1].upper()}{summary[1:]}\n{rest}\n")
    return "\n".join(parts)
