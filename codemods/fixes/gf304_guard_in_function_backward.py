"""GF304: the guard is removed."""

from __future__ import annotations

from ..edits.guard_comment_edits import doubts_of_comments
from ..edits.guard_removal import guard_removal
from ..fix import Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()


@FIX.fix_in("cpp")
def remove(site: Site) -> Fix | None:
    edits = guard_removal(site)
    if not edits:
        return None
    message = "remove the guard, so `backward` can be differentiated"
    return site.fix(message, edits, doubts=doubts_of_comments(site.use, site.facts))
