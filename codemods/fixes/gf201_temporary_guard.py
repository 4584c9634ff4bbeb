"""GF201: the guard gets a name, and lives to the end of its block."""

from __future__ import annotations

from ..edits.temporaries import named_temporary
from ..fix import Applicability
from ..fix_rule import FixRule

FIX = FixRule(Applicability.UNSAFE)
FIX.fix(named_temporary)
