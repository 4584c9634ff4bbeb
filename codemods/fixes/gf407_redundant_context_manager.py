"""GF407: the redundant guard is taken out of its `with`, or off its function."""

from __future__ import annotations

from ..edits.python_guard_removal import python_guard_removal
from ..fix import Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()


@FIX.fix
def take_out(site: Site) -> Fix | None:
    return python_guard_removal(site, "remove {}")
