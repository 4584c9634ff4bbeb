"""The numbers by which signals are weighed, each with its name and its reason."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from .signal_kinds import Weight

_REASONS: list[str] = []
"""Those of the policy's numbers, in their order."""


def _because(value: object, reason: str) -> Any:
    _REASONS.append(reason)
    return value


class Policy(Struct, frozen=True):
    """How signals become a context and a confidence."""

    weak: int = _because(1, "points of a weak signal: seen with every label, but more often with its own")
    moderate: int = _because(2, "points of a moderate signal: enough to decide alone, with low confidence")
    strong: int = _because(3, "points of a strong signal: enough to decide alone, with medium confidence")
    decisive: int = _because(
        6, "points of a decisive signal: seen with one label only, and counts like two strong ones"
    )
    tried: int = _because(
        2, "points of the one replacement that survived when all were run: enough to decide, with low confidence"
    )
    tried_settles: bool = _because(
        True, "what survived when all were run decides what stays open or hardly sure: the others were seen to fail"
    )
    declared_settles: bool = _because(
        True, "a declaration in a comment or the configuration decides on its own, with high confidence"
    )
    counted_in_full: int = _because(
        2,
        "signals of one side that count with all their points: many places can give the same information about one use",
    )
    counted_as_weak: int = _because(
        3, "further signals of that side, each counted at most as a weak one; the rest are not counted"
    )
    outweighs: int = _because(3, "a side wins if it has at least this many times the points of all the others together")
    least_score: int = _because(2, "points below which nothing is decided: one weak signal alone isn't enough")
    medium_score: int = _because(3, "points from which an unopposed side is decided with medium confidence")
    high_score: int = _because(6, "points from which unopposed inference is decided with high confidence")
    kernel_is_high_only_if_decisive: bool = _because(
        True, "strong signals for a kernel often come from one coding habit, so several show no more than one"
    )
    objection: int = _because(
        3,
        "points of inference that lower a decisive kernel: a model that runs here, not one elsewhere in the file",
    )
    calls_up: int = _because(3, "how many levels of a helper's callers are considered")
    most_callers: int = _because(
        50, "a function with more callers belongs to a library: its callers show nothing about it"
    )

    def points(self, weight: Weight) -> int:
        """What a signal of that weight counts."""
        found: int = getattr(self, Weight.DECISIVE.value if weight is Weight.DECLARED else weight.value)
        return found

    def reasons(self) -> dict[str, tuple[int, str]]:
        """Each number's value and reason, by its name."""
        names = self.__struct_fields__
        return {name: (getattr(self, name), reason) for name, reason in zip(names, _REASONS, strict=True)}


POLICY = Policy()
"""The policy by which guardfix decides."""
