"""GF208: `InferenceMode` moves above the load or the run that it should cover."""

from __future__ import annotations

from guardfix.linter.rules.gf208_guard_after_work import late_work

from ..edits.hazards import hazards_in_words
from ..edits.hoisting import hoisted
from ..fix import HOIST, Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()


@FIX.fix
def move_up(site: Site) -> Fix | None:
    use = site.use
    late = late_work(use, site.facts)
    if late is None:
        return None
    declaration = site.text[use.span.start : use.span.end].decode("utf-8", "replace")
    moved = hoisted(use, site.facts, site.text, declaration, late)
    if moved is None:
        return None
    doubts = hazards_in_words(use, site.facts, site.project)
    return site.fix("move the guard up", sorted(moved), doubts=doubts, name=HOIST)
