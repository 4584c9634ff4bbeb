"""Names of guard variables: renamed only when the name speaks of the old guard."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from guardfix.linter.facts import Facts, Form, GuardUse, Span
from guardfix.linter.facts.use_model import MOST_NAMED
from guardfix.linter.guards import LEGACY
from guardfix.linter.lazy_regex import lazy_regex

from ..fix import Edit

_OLD = lazy_regex(r"non_?var|nonvariable|auto_?non", re.IGNORECASE)
_NAME = lazy_regex(rb"[A-Za-z_]\w*")
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
    if use.macro is not None or not speaks_of_the_old_guard(name) or len(use.variable_spans) >= MOST_NAMED:
        return name, []
    if _is_read_through_an_object(name, text):
        return name, []  # something else in the file is called so, or the member is read through an object
    new = free_name(facts, text, use, dropped, skip)
    return new, [Edit(place, new) for place in use.variable_spans]


@lru_cache(maxsize=16)
def _is_read_through_an_object(name: str, text: bytes) -> bool:
    return re.search(rb"(?:\.|->)\s*" + name.encode() + rb"\b", text) is not None


def free_name(facts: Facts, text: bytes, use: GuardUse, dropped: Sequence[Span] = (), skip: int = 0) -> str:
    """A name for a guard that its function does not use yet; the first `skip` are left to others."""
    function = facts.enclosing(use.function)
    span = function[-1].span if function else use.scope
    taken, in_holes = _counted(text, span), [_counted(text, hole) for hole in dropped if span.holds(hole)]
    numbered = (f"guard{number}" for number in itertools.count(2))
    candidates = itertools.chain(_CANDIDATES, numbered)
    free = (name for name in candidates if taken[name] == sum(hole[name] for hole in in_holes))
    return next(itertools.islice(free, skip, None))


@lru_cache(maxsize=16)
def _counted(text: bytes, span: Span) -> Counter[str]:
    """How often each name is in the span."""
    return Counter(match.group().decode() for match in _NAME.finditer(text, *span))
