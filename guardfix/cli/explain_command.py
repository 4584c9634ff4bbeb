"""`guardfix explain`: a rule, a group of rules, a guard or an error message of PyTorch."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

import click

from guardfix.linter.findings import Context
from guardfix.linter.rule import Rule, UnknownRule, find_rules, load_rule
from guardfix.linter.rule_names import RuleGroup, group_named, rule_names

from ..output.finding_places import ERRORS_PAGE, PROJECT_PAGE, RULES_PAGE
from ..output.plain_echo import echo
from ..output.terminal_layout import reflowed, terminal_width
from .command_failure import Failure, no_such_rule
from .command_run import configured_rules
from .options import complete_rule


@click.command("explain", short_help="Explain a rule, a group of rules, a guard, or an error message of PyTorch.")
@click.argument("what", nargs=-1, shell_complete=complete_rule)
@click.option(
    "--traceback",
    metavar="FILE",
    help="Say where the error in FILE comes from (`-`: standard input), as `guardfix why` does.",
)
def command(what: tuple[str, ...], traceback: str | None) -> None:
    """Explain a rule, a group of rules, a guard, or an error message of PyTorch.

    WHAT is a rule's code (GF101) or name (legacy-guard), or several; a group (raises); a guard (torch.no_grad); a part
    of these; or an error message, pasted or, with `-`, piped. ALL prints the documentation of all rules but those of
    plugins, as in docs/rules.md; ERRORS all messages, as in docs/errors.md.
    """
    if traceback is not None:
        _explain_error((traceback,))
        return
    if not what or what == ("-",):
        if not what and (sys.stdin is None or sys.stdin.isatty()):
            raise click.UsageError(
                "name a rule or a guard, or paste an error message; `guardfix rules` lists the rules"
            )
        _explain_error(("-",))
        return
    text = " ".join(what)
    if text.upper() == "ALL":
        echo(pages(load_rule(name) for name in rule_names()), nl=False)
        return
    if text.upper() == "ERRORS":
        from .explained_topics import errors_page

        echo(errors_page(), nl=False)
        return
    try:
        plugged = configured_rules()
        found = [rule for name in what for rule in find_rules(name, plugged)]
    except UnknownRule:
        _explain_other(text)
        return
    echo("\n\n".join(map(_page, found)))


def _explain_error(given: tuple[str, ...]) -> None:
    """A log: where its error comes from."""
    from .why_command import error_text, show_answer

    if given != ("-",) and not os.path.isfile(given[0]):
        raise Failure(f"no such file: {given[0]}")
    show_answer(error_text(given), (), again="guardfix why …")


def _explain_other(text: str) -> None:
    """Explain something other than a rule's code or name."""
    from guardfix.pytorch_messages.message_lookup import find_messages

    from .explained_topics import group_page, guard_page, guards_named, list_of_rules, message_page, rules_named_like

    width = terminal_width()
    group = group_named(text)
    if group is not None:
        echo(group_page(group, width))
        return
    guards = guards_named(text)
    if guards:
        echo("\n\n".join(guard_page(*one, width) for one in guards))
        return
    if "\n" in text or "Traceback (most recent call last)" in text:
        from .why_command import show_answer

        show_answer(text, ())
        return
    messages, like = find_messages(text), rules_named_like(text)
    if messages and (messages[0].exact or not like):
        if len(messages) == 1:
            closest = "" if messages[0].exact else "The closest message:\n\n"
            echo(closest + message_page(messages[0].message, width))
            return
        echo("Several messages have these words:\n")
        for found in messages:
            echo(f"  {found.message.title}\n    {ERRORS_PAGE}#{found.message.key}")
        return
    if len(like) == 1:
        echo(_page(load_rule(like[0])))
    elif like:
        echo("\n".join(list_of_rules(like)))
        echo(f"\n`guardfix explain {like[0].code}` explains one of them.")
    elif text in set(Context):
        echo(
            f"`{text}` is a context: what a use of the old guard is for, as far as the code shows it.\n"
            f"How it is found: {PROJECT_PAGE}/blob/main/docs/decisions.md\n"
            f"How to decide an unknown one: {PROJECT_PAGE}/blob/main/docs/migrate.md#uses-that-stay-unknown"
        )
    else:
        raise Failure(no_such_rule(text) + _no_message(text))


def _no_message(text: str) -> str:
    return f", and no message of PyTorch that guardfix knows has these words; see {ERRORS_PAGE}" if " " in text else ""


def _page(rule: Rule) -> str:
    """A rule's documentation as it fits the terminal, with its address."""
    url = rule.url if rule.url is not None else f"{RULES_PAGE}#{rule.code.lower()}-{rule.name}"
    title, _, rest = rule.documentation.partition("\n")
    text = f"{title}\n\n{rule.in_short[:1].upper()}{rule.in_short[1:]}.\n{rest}"
    return "\n\n".join(filter(None, (_fitted(text.rstrip()), url)))


def _fitted(text: str) -> str:
    return reflowed(text, terminal_width())


def pages(rules: Iterable[Rule]) -> str:
    """Every rule's documentation as one Markdown page: docs/rules.md."""
    from .explained_topics import messages_of

    groups = "\n".join(f"- `{group}`: {group.meaning}." for group in RuleGroup)
    parts = [
        "# Rules\n\nMade by `guardfix explain ALL`, from the rules' own documentation.\n",
        "Each rule is in one group, which `--select`, `--ignore` and the configuration take like a code or a name "
        f"(`guardfix check --select raises`). A group says what comes of the code:\n\n{groups}\n",
    ]
    for rule in rules:
        title, _, rest = rule.documentation.partition("\n")
        heading, _, summary = title.partition(": ")
        text = f"## {heading}\n\n*{rule.in_short}.* {summary[:1].upper()}{summary[1:]}\n{rest}\n"
        messages = messages_of(rule)
        if messages:
            links = ", ".join(f"[{message.title}](errors.md#{message.key})" for message in messages)
            text += f"\nWhat PyTorch says: {links}.\n"
        parts.append(text)
    return "\n".join(parts)
