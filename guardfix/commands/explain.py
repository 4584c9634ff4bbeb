"""`guardfix explain`."""

from __future__ import annotations

import click

from ..linter.rule import UnknownRule, find_rule, rule_names


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name.code for name in rule_names() if name.code.startswith(incomplete.upper())]


@click.command("explain")
@click.argument("rule", shell_complete=_complete)
def command(rule: str) -> None:
    """Print a rule's documentation. RULE is a code (GF101) or a name (legacy-guard)."""
    try:
        click.echo(find_rule(rule).documentation)
    except UnknownRule:
        raise click.UsageError(f"no rule is called `{rule}`; `guardfix rules` lists them") from None
