"""Which fixes a run takes."""

from __future__ import annotations

from msgspec import Struct

from guardfix.linter.findings import Applicability

from .fix import HOIST, Fix


class FixChoice(Struct, frozen=True):
    """Which fixes a run takes: the safe ones alone, unless it says more."""

    unsafe: bool = False
    """Unsafe fixes are taken too."""
    hoist: bool = True
    """Among the unsafe fixes, those that move guards above the model load or run."""
    remove_redundant: bool = False
    """Guards in `Function<T>::forward` whose callee provably bypasses the dispatcher are removed, not replaced."""
    preserve: bool = False
    """A use that stays unknown gets the guard that does literally the same since torch 1.9."""
    compat: bool = False
    """The old guard stays, for torch before 1.9, in the other branch of an `#if`."""

    def takes(self, fix: Fix) -> bool:
        """Whether a fix of this applicability, and of this name, is applied."""
        if fix.name == HOIST and not self.hoist:
            return False
        return fix.applicability is Applicability.SAFE or (self.unsafe and fix.applicability is Applicability.UNSAFE)

    def wanted(self, fix: Fix | None, *, chosen: bool = False) -> list[Fix]:
        """What to try of a finding's fix, in order: where the further-reaching one does not fit, the plain one may.

        A fix that a person chose is taken although it is unsafe.
        """
        if fix is None:
            return []
        if chosen:
            return [] if fix.applicability is Applicability.DISPLAY else [fix]
        further = fix.further[:1] if self.unsafe and self.hoist else ()
        return [one for one in (*further, fix) if self.takes(one)]
