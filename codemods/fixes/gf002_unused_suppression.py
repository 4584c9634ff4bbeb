"""GF002: the codes are taken out of the comment, and a comment that says nothing else with them."""

from __future__ import annotations

from ..edits.suppression_comments import without_codes
from ..fix import Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()


@FIX.fix
def take_out(site: Site) -> Fix | None:
    codes = site.finding.variable.split(",")
    comment = next((one for one in site.facts.suppressions if one.places[:1] == (site.finding.span,)), None)
    if comment is None:
        return None
    edits = [without_codes(site, place, codes) for place in comment.places]
    if any(edit is None for edit in edits):
        return None
    return site.fix(f"take {', '.join(codes)} out of the comment", [edit for edit in edits if edit is not None])
