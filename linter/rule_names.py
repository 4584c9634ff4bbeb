"""Which rules there are, by the names of their files alone: importing a rule takes time."""

from __future__ import annotations

import os
import re
from functools import cache

from .named_tuples import NamedTuple


class RuleName(NamedTuple):
    """What a rule's file name says, without importing it."""

    code: str
    name: str
    module: str


@cache
def rule_names() -> tuple[RuleName, ...]:
    """Every rule, by its file name, sorted by code."""
    folder = os.path.join(os.path.dirname(__file__), "rules")
    found = []
    for entry in os.listdir(folder):
        match = re.fullmatch(r"(gf\d{3})_(\w+)\.py", entry)
        if match is not None:
            found.append(RuleName(match[1].upper(), match[2].replace("_", "-"), entry[:-3]))
    return tuple(sorted(found))
