"""What a version condition of the preprocessor says to torch 2."""

from __future__ import annotations

from collections.abc import Mapping

from . import Branch, Conditional
from .preprocessor_expressions import value_of

TORCH_2 = {"TORCH_VERSION_MAJOR": 2, "TORCH_VERSION_MINOR": 13, "TORCH_VERSION_PATCH": 0}
"""The version macros of torch/version.h, as the newest release that guardfix knows defines them."""


def mentions_torch_version(condition: str) -> bool:
    return "TORCH_VERSION" in condition


def evaluate(condition: str, values: Mapping[str, int]) -> bool | None:
    """The condition's truth for these macro values; None when something in it is unknown.

    An empty condition (`#else`) is None too: it depends on the arms before it.
    """
    value = value_of(condition, values)
    return None if value is None else bool(value)


def taken_branch(conditional: Conditional, values: Mapping[str, int]) -> Branch | None:
    """The arm that a compiler with these values takes; None when that isn't known, or no arm is."""
    for branch in conditional.branches:
        if not branch.condition:
            return branch
        verdict = evaluate(branch.condition, values)
        if verdict is None:
            return None
        if verdict:
            return branch
    return None
