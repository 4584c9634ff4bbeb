"""Which rules there are, by the names of their files alone, and which groups: importing a rule takes time."""

from __future__ import annotations

import os
import re
from functools import cache

from .named_tuples import NamedTuple
from .str_enum import StrEnum


class RuleGroup(StrEnum):
    """What comes of the code that a rule flags."""

    RAISES = "raises"
    SILENTLY_WRONG = "silently-wrong"
    NO_EFFECT = "no-effect"
    LEAKS = "leaks"
    REDUNDANT = "redundant"
    DEPRECATED = "deprecated"
    GUARDFIX = "guardfix"

    @property
    def meaning(self) -> str:
        return _MEANINGS[self]


_MEANINGS = {
    RuleGroup.RAISES: "the program ends with an error, each time or on one of its ways",
    RuleGroup.SILENTLY_WRONG: "gradients are wrong or missing, and no error says so",
    RuleGroup.NO_EFFECT: "what is meant to run under a guard runs without one",
    RuleGroup.LEAKS: "a mode outlives the code that it is meant for",
    RuleGroup.REDUNDANT: "another guard, or PyTorch, already does what the guard does",
    RuleGroup.DEPRECATED: "it uses what PyTorch has deprecated or removed",
    RuleGroup.GUARDFIX: "it is about guardfix's own work: files that it can't read, comments that silence nothing",
}


def group_named(selector: str) -> RuleGroup | None:
    """The group that is called so; None if none is."""
    return next((group for group in RuleGroup if group == selector.lower()), None)


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
