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

    weak: int = _because(1, "points of a weak signal: seen beside every label, only more often beside its own")
    moderate: int = _because(2, "points of a moderate signal: enough to decide, with low confidence, where it is alone")
    strong: int = _because(3, "points of a strong signal: enough to decide, with medium confidence, where it is alone")
    decisive: int = _because(
        6, "points of a decisive signal: it stood beside one label only, and counts like two strong ones"
    )
    declared_settles: bool = _because(
        True, "what a person declared, in a comment or the configuration, decides by itself, with high confidence"
    )
    counted_in_full: int = _because(
        2, "signals of one side that count with all their points: many places can say the same thing about one use"
    )
    counted_as_weak: int = _because(
        3, "further signals of that side, each counted as a weak one at most; the rest is not counted"
    )
    outweighs: int = _because(3, "a side wins when it has at least so many times the points of all the others together")
    least_score: int = _because(2, "points below which nothing is decided: one weak signal alone isn't enough")
    medium_score: int = _because(3, "points from which an unopposed side is decided with medium confidence")
    high_score: int = _because(6, "points from which unopposed inference is decided with high confidence")
    kernel_is_high_only_if_decisive: bool = _because(
        True, "strong signals for a kernel come from one habit of writing, so that many say no more than one"
    )
    objection: int = _because(
        3,
        "points of inference that lower a decisive kernel: a model that runs here, not one elsewhere in the file",
    )
    calls_up: int = _because(3, "how many calls up a helper's callers are asked")
    most_callers: int = _because(50, "a function with more callers is a library's: they say nothing about it")

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
