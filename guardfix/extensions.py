"""What a project adds by its configuration: guards of its own, and rules of other packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from guardfix.linter.guards import Guard
    from guardfix.linter.rule import Rule

    from .configuration import Configuration


def own_guards(configuration: Configuration) -> tuple[tuple[str, Guard], ...]:
    """(language, row of the guard table) of the setting `guards`."""
    return ()


def plugin_rules(configuration: Configuration) -> tuple[Rule, ...]:
    """The rules of the entry points that the setting `plugins` names."""
    return ()
