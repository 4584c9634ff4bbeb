"""What each guard switches while it lives, in words."""

from __future__ import annotations

from dataclasses import dataclass

from guardfix.linter.guards import Effect


@dataclass(frozen=True)
class SwitchedState:
    """What happens to operations on normal tensors inside a guard."""

    gradients: str
    views: str
    versions: str
    new_tensors: str

    def rows(self) -> tuple[tuple[str, str], ...]:
        """(subject, what happens), as in a table."""
        return (
            ("gradients", self.gradients),
            ("views", self.views),
            ("in-place changes", self.versions),
            ("new tensors", self.new_tensors),
        )


_TRACKED, _COUNTED, _NORMAL = "tracked", "bump the version counter", "normal tensors"

SWITCHED = {
    Effect.INFERENCE: SwitchedState(
        "not recorded; grad mode is off",
        "of normal tensors are tracked; of inference tensors they are not",
        "of normal tensors bump the version counter; inference tensors have none",
        "inference tensors, which autograd refuses later",
    ),
    Effect.GRAD_MODE: SwitchedState(
        "recorded only while grad mode is on, which this sets", _TRACKED, _COUNTED, _NORMAL
    ),
    Effect.BELOW_AUTOGRAD: SwitchedState("not recorded; grad mode stays as it is", _TRACKED, _COUNTED, _NORMAL),
    Effect.BELOW_ADINPLACEORVIEW: SwitchedState(
        "not recorded; grad mode stays as it is",
        "not tracked: a view looks like a tensor of its own",
        "don't bump the version counter",
        _NORMAL,
    ),
}
"""The effects that change what autograd sees; a test holds them to what the shim does."""
