"""GF508: `no_grad` instead."""

from __future__ import annotations

from ..edits.no_grad_instead import no_grad_instead
from ..fix import Applicability
from ..fix_rule import FixRule

FIX = FixRule(Applicability.UNSAFE)
FIX.fix(no_grad_instead)
