"""`guardfix rules`."""

from __future__ import annotations

import json

import click

from guardfix.linter.rule import load_rule
from guardfix.linter.rule_names import rule_names


@click.command("rules", short_help="List every rule.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", help="How the list is printed.")
def command(output_format: str) -> None:
    """List every rule: code, name, whether it is on by default, its fix, and what it says."""
    rules = [load_rule(name) for name in rule_names()]
    if output_format == "json":
        click.echo(
            json.dumps(
                [
                    {
                        "code": rule.code,
                        "name": rule.name,
                        "summary": rule.summary,
                        "severity": rule.severity.value,
                        "languages": list(rule.languages),
                        "fix": rule.fix.value if rule.fix else None,
                        "default": rule.default,
                    }
                    for rule in rules
                ],
                indent=2,
            )
        )
        return
    width = max(len(rule.name) for rule in rules)
    for rule in rules:
        fix = f"{rule.fix} fix" if rule.fix else "no fix"
        state = "" if rule.default else " (off by default)"
        click.echo(f"{rule.code}  {rule.name:<{width}}  {fix:<11}  {rule.summary}{state}")
