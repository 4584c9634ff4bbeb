"""Names of guard variables: renamed only when the name speaks of the old guard."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from ..linter.facts import Facts, Form, GuardUse, Span
from ..linter.findings import Edit
from ..linter.guards import LEGACY

_OLD = re.compile(r"non_?var|nonvariable|auto_?non", re.IGNORECASE)
_CANDIDATES = ("guard", "mode_guard", "autograd_guard", "guard_")


def speaks_of_the_old_guard(name: str) -> bool:
    return _OLD.search(name) is not None


def takes_new_name(use: GuardUse) -> bool:
    """Whether migrating the use gives its variable a name it did not have."""
    if use.guard != LEGACY:
        return False
    return use.form is Form.TEMPORARY or (use.macro is None and speaks_of_the_old_guard(use.variable or ""))


def renaming(use: GuardUse, facts: Facts, text: bytes, dropped: list[Span], skip: int = 0) -> tuple[str, list[Edit]]:
    """(the variable's name afterwards, the edits that rename it everywhere).

    A name that the function already uses is not taken; names inside `dropped` statements are free.
    """
    name = use.variable or ""
    if use.macro is not None or not speaks_of_the_old_guard(name):
        return name, []
    if re.search(rb"(?:\.|->)\s*" + name.encode() + rb"\b", text):
        return name, []  # something else in the file is called so, or the member is read through an object
    new = free_name(facts, text, use, dropped, skip)
    return new, [Edit(place, new) for place in use.variable_spans]


def free_name(facts: Facts, text: bytes, use: GuardUse, dropped: Sequence[Span] = (), skip: int = 0) -> str:
    """A name for a guard that its function does not use yet; the first `skip` are left to others."""
    function = facts.enclosing(use.function)
    taken = _names_in(text, function[-1].span if function else use.scope, dropped)
    numbered = (f"guard{number}" for number in itertools.count(2))
    free = (name for name in itertools.chain(_CANDIDATES, numbered) if name not in taken)
    return next(itertools.islice(free, skip, None))


def _names_in(text: bytes, span: Span, dropped: Sequence[Span]) -> set[str]:
    names = set()
    for match in re.finditer(rb"[A-Za-z_]\w*", text[span.start : span.end]):
        place = Span(span.start + match.start(), span.start + match.end())
        if not any(hole.holds(place) for hole in dropped):
            names.add(match.group().decode())
    return names
