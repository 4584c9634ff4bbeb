"""`guardfix rules`: a list of all rules."""

from __future__ import annotations

import click

from guardfix.linter.rule import load_rule
from guardfix.linter.rule_names import rule_names

from ..output.format_registry import Output, load_format
from ..output.terminal_layout import terminal_width
from .command_run import configured_rules
from .options import output_format_option


@click.command("rules", short_help="List every rule.")
@output_format_option("rules", help="The output format.")
def command(output_format: str) -> None:
    """List every rule: code, name, group, its fix, a summary, and whether it is on by default.

    This includes the rules of the plugins that the configuration names.
    """
    write = load_format(output_format).rules
    assert write is not None, "only formats that can write rules are offered"
    write([*(load_rule(name) for name in rule_names()), *configured_rules()], Output(width=terminal_width()))
