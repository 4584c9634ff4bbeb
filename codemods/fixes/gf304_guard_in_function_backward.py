"""GF304: the guard is removed."""

from __future__ import annotations

from ..edits.guard_removal import guard_removal
from ..fix import Applicability, Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule(Applicability.UNSAFE)


@FIX.fix
def remove(site: Site) -> Fix | None:
    edits = guard_removal(site)
    return site.fix("remove the guard, so that `backward` can be differentiated", edits) if edits else None
