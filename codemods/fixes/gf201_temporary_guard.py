"""GF201: the guard gets a name, and lives to the end of its block."""

from __future__ import annotations

from ..edits.temporaries import named_temporary
from ..fix_rule import FixRule

FIX = FixRule()
FIX.fix(named_temporary)
