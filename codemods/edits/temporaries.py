"""A guard that is a temporary gets a name."""

from __future__ import annotations

import re

from guardfix.linter import guards
from guardfix.linter.facts import GuardUse, Span
from guardfix.linter.lazy_regex import lazy_regex

from ..fix import Edit, Fix
from ..site import Site
from .variables import free_name


def named_temporary(site: Site) -> Fix | None:
    """`G();` -> `G guard;`, `G(true);` -> `G guard(true);`."""
    use, argument = site.use, site.use.argument
    if argument is None or use.type_span.start != use.span.start or not _stands_in_a_block(use, site.text):
        return None
    if argument.empty and guards.CPP[use.guard].takes is guards.Takes.BOOL:
        return None  # it cannot be made without a value
    name = free_name(site.facts, site.text, use)
    # Without an argument the brackets go: `G guard();` would declare a function.
    end = argument.span.end if argument.empty else argument.span.start
    message = f"name the guard `{name}`, so it covers the rest of its block"
    return site.fix(message, [Edit(Span(use.type_span.end, end), f" {name}")])


_ASIDE = lazy_regex(rb"//[^\n]*|/\*.*?\*/|^[ \t]*#[^\n]*", re.DOTALL | re.MULTILINE)


def _stands_in_a_block(use: GuardUse, text: bytes) -> bool:
    """Whether the statement can become a declaration: it is not an unbraced branch, and has no label."""
    before = _ASIDE.sub(b"", text[use.scope.start : use.span.start]).rstrip()
    return before.endswith((b"{", b"}", b";"))
