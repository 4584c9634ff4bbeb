"""`guardfix rules`."""

from __future__ import annotations

import json

import click

from guardfix.codemods.fix_rule import find_fix_rule
from guardfix.linter.rule import load_rule, rule_names


@click.command("rules", short_help="List every rule.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", help="How the list is printed.")
def command(output_format: str) -> None:
    """List every rule: code, name, whether it is on by default, its fix, and what it says."""
    rules = [load_rule(name) for name in rule_names()]
    fixes = [find_fix_rule(rule.code, rule.name) for rule in rules]
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
                        "fix": fix.most.value if fix else None,
                        "default": rule.default,
                    }
                    for rule, fix in zip(rules, fixes, strict=True)
                ],
                indent=2,
            )
        )
        return
    width = max(len(rule.name) for rule in rules)
    for rule, fix in zip(rules, fixes, strict=True):
        claim = f"{fix.most} fix" if fix else "no fix"
        state = "" if rule.default else " (off by default)"
        click.echo(f"{rule.code}  {rule.name:<{width}}  {claim:<11}  {rule.summary}{state}")
