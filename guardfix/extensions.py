"""What a project adds by its configuration: its own guards, and rules of other packages."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from guardfix.linter.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from guardfix.linter.guards import Guard
    from guardfix.linter.rule import Rule

NO_PLUGINS = "GUARDFIX_NO_PLUGINS"
_OFF = ("", "0", "false", "no", "off", "n", "f")
"""Values with which a variable says no, as for the command line."""
"""The environment variable with which no plugin is loaded, whatever a configuration says; as `--no-plugins`."""
RULES_GROUP = "guardfix.rules"
"""The group of entry points that give rules."""
_NAME = lazy_regex(r"(?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*")
_CODE = lazy_regex(r"[A-Z]+[0-9]{3,}")


class BadExtension(Exception):
    """A guard or a plugin that cannot be used; the message says why."""


def own_guards(given: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, Guard], ...]:
    """(language, row of the guard table) of what the setting `guards` says. Raises `BadExtension`."""
    if not given:
        return ()
    from guardfix.linter import guards

    rows = []
    for entry in given:
        like = guards.CPP.get(entry["like"].rpartition("::")[2])
        if like is None or not guards.gradient_guards(like):
            known = ", ".join(name for name, guard in guards.CPP.items() if guards.gradient_guards(guard))
            raise BadExtension(f"`guards`: `{entry['like']}` is not a guard of PyTorch's; these are: {known}")
        if _NAME.fullmatch(entry["name"]) is None:
            raise BadExtension(f"`guards`: `{entry['name']}` can't be the name of a C++ class")
        *spaces, name = entry["name"].lstrip(":").split("::")
        if name in guards.CPP:
            raise BadExtension(f"`guards`: `{name}` is the name of a guard of PyTorch's")
        space = ("::".join(spaces),) if spaces else ()
        row = guards.Guard(name, space, like.takes, like.effect, tuple(entry.get("headers", ())), like=like.name)
        rows.append(("cpp", row))
    return tuple(rows)


def plugin_rules(names: Iterable[str]) -> tuple[Rule, ...]:
    """The rules of the entry points that the setting `plugins` names. Raises `BadExtension`."""
    if os.environ.get(NO_PLUGINS, "").lower() not in _OFF:
        return ()
    return tuple(rule for name in names for rule in rules_of_plugin(name))


@cache
def rules_of_plugin(name: str) -> tuple[Rule, ...]:
    """The rules of one entry point, which gives a rule, or several. Raises `BadExtension`."""
    from importlib.metadata import entry_points

    found = [entry for entry in entry_points(group=RULES_GROUP) if entry.name == name]
    if not found:
        known = ", ".join(sorted(entry.name for entry in entry_points(group=RULES_GROUP)))
        raise BadExtension(
            f"`plugins`: no installed package has the entry point `{name}` in `{RULES_GROUP}`"
            + (f"; there are: {known}" if known else "")
        )
    try:
        loaded = found[0].load()
    except Exception as error:  # whatever a plugin does wrong, its name has to be reported
        raise BadExtension(f"`plugins`: `{name}` cannot be loaded: {type(error).__name__}: {error}") from error
    return tuple(_checked(rule, name) for rule in _rules_in(loaded))


def _rules_in(loaded: Any) -> Iterator[Any]:
    """What an entry point gives: a rule, a module with a `RULE`, or several of these."""
    if hasattr(loaded, "RULE"):
        import inspect

        from guardfix.linter.rule import documented

        yield documented(loaded.RULE, inspect.getdoc(loaded) or "")
    elif isinstance(loaded, (list, tuple)):
        for one in loaded:
            yield from _rules_in(one)
    else:
        yield loaded


def _checked(rule: Any, plugin: str) -> Rule:
    from guardfix.linter.frontends.frontend import frontends
    from guardfix.linter.rule import Rule
    from guardfix.linter.rule_names import rule_names

    if not isinstance(rule, Rule):
        raise BadExtension(f"`plugins`: `{plugin}` gives a {type(rule).__name__}, which is not a rule")
    if _CODE.fullmatch(rule.code) is None or any(rule.code == own.code for own in rule_names()):
        raise BadExtension(
            f"`plugins`: `{plugin}` has a rule with the code `{rule.code}`; a code is letters and three "
            "digits or more, and not one of guardfix's own"
        )
    for language in rule.languages:
        if language not in frontends():
            raise BadExtension(
                f"`plugins`: `{plugin}` has a rule, {rule.code}, for the language `{language}`; those that are read: "
                + ", ".join(frontends())
            )
    if not rule.has_check:
        raise BadExtension(
            f"`plugins`: `{plugin}` has a rule, {rule.code}, without a check: nothing is decorated with "
            "`@RULE.check_file` or `@RULE.check_use`"
        )
    rule.url = rule.url or ""
    return rule
