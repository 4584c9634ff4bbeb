"""What the preprocessor makes of a file: what it includes, defines and forgets."""

from __future__ import annotations

from collections.abc import Mapping

from ..named_tuples import NamedTuple


class MacroDefinition(NamedTuple):
    """`#define name value` without parameters."""

    name: str
    value: str
    offset: int
    is_sure: bool
    """It is below no condition but an include guard."""


class HeaderFacts(NamedTuple):
    includes: tuple[tuple[str, bool], ...] = ()
    """(header, whether it is written in angle brackets)."""
    definitions: tuple[MacroDefinition, ...] = ()
    undefined: frozenset[str] = frozenset()
    """What an `#undef` names."""
    declared: tuple[tuple[str, ...], ...] = ()
    """As `Facts.declared`."""


class MacroValues(NamedTuple):
    """What is known of macros where a file is compiled."""

    values: Mapping[str, int]
    defined: frozenset[str] = frozenset()
    """Those that are defined, as something else than a number that is known."""
    undefined: frozenset[str] = frozenset()
    """Those that are surely not defined. Of all others nothing is known."""
