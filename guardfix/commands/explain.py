"""`guardfix explain`."""

from __future__ import annotations

from collections.abc import Iterable

import click

from ..linter.rule import Rule, UnknownRule, find_rule, load_rule, rule_names
from ..options import Failure, no_such_rule


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name.code for name in rule_names() if name.code.startswith(incomplete.upper())]


@click.command("explain")
@click.argument("rule", shell_complete=_complete)
def command(rule: str) -> None:
    """Print a rule's documentation. RULE is a code (GF101), a name (legacy-guard), or ALL (as in docs/rules.md)."""
    if rule.upper() == "ALL":
        click.echo(pages(load_rule(name) for name in rule_names()), nl=False)
        return
    try:
        click.echo(find_rule(rule).documentation)
    except UnknownRule:
        raise Failure(no_such_rule(rule)) from None


def pages(rules: Iterable[Rule]) -> str:
    """Every rule's documentation as one Markdown page: docs/rules.md."""
    parts = ["# Rules\n\nMade by `guardfix explain ALL`, from the rules' own documentation.\n"]
    for rule in rules:
        title, _, rest = rule.documentation.partition("\n")
        heading, _, summary = title.partition(": ")
        fix = f"{rule.fix} fix" if rule.fix else "no fix"
        state = "on by default" if rule.default else "off by default"
        parts.append(f"## {heading}\n\n*{rule.severity}, {fix}, {state}.* {summary[:1].upper()}{summary[1:]}\n{rest}\n")
    return "\n".join(parts)
