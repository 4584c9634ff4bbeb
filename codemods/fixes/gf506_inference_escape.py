"""GF506: the tensor is cloned before it is used as no inference tensor can be."""

from __future__ import annotations

from ..fix import Applicability, Fix, insertion
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule(Applicability.DISPLAY)


@FIX.fix
def clone_before(site: Site) -> Fix | None:
    clone = f"{site.finding.variable} = {site.finding.variable}.clone();"
    message = f"make it an ordinary tensor first: `{clone}`"
    return site.fix(message, [insertion(site.finding.span.start, f"{clone} ")])
