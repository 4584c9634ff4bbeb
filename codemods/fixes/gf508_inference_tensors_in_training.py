"""GF508: `no_grad` instead."""

from __future__ import annotations

from ..edits.no_grad_instead import no_grad_instead
from ..fix_rule import FixRule

FIX = FixRule()
FIX.fix(no_grad_instead)
