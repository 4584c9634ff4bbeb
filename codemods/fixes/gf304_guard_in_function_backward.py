"""GF304: the guard is removed."""

from __future__ import annotations

from ..edits.guard_comment_edits import doubts_of_comments
from ..edits.guard_removal import guard_removal
from ..edits.python_guard_removal import python_guard_removal
from ..fix import Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()


@FIX.fix_in("cpp")
def remove(site: Site) -> Fix | None:
    edits = guard_removal(site)
    if not edits:
        return None
    return site.fix(_MESSAGE.format("the guard"), edits, doubts=doubts_of_comments(site.use, site.facts))


@FIX.fix_in("python")
def take_out(site: Site) -> Fix | None:
    return python_guard_removal(site, _MESSAGE)


_MESSAGE = "remove {}, so `backward` can be differentiated"
