"""Why a finding is left as it is by a run that takes fixes."""

from __future__ import annotations

from msgspec.structs import replace

from guardfix.linter.findings import Applicability
from guardfix.linter.str_enum import StrEnum

from ..choice import FixChoice
from ..fixable import FixableFinding


class Why(StrEnum):
    """Why a finding is left as it is."""

    NO_FIX = "no fix"
    SHOWN_ONLY = "shown only"
    UNSAFE = "unsafe"
    NOT_MOVED = "left by --no-hoist"
    HELD_BACK = "overlaps another fix"
    REFUSED = "refused"


def why_left(finding: FixableFinding, choice: FixChoice, refused: str = "") -> tuple[Why, str]:
    """Why a finding whose fix was not applied is left, and what there is to say about it.

    `refused` says why its file was left as it was although fixes were chosen; empty where it was not.
    """
    fix = finding.fix
    if fix is None:
        return Why.NO_FIX, finding.message
    if fix.applicability is Applicability.DISPLAY:
        return Why.SHOWN_ONLY, fix.message
    if not choice.takes(fix) and replace(choice, hoist=True).takes(fix):
        return Why.NOT_MOVED, fix.message
    if not choice.takes(fix):
        return Why.UNSAFE, fix.message
    if refused:
        return Why.REFUSED, refused
    return Why.HELD_BACK, fix.message
