"""GF505: the decorator is called."""

from __future__ import annotations

from ..fix import Fix, insertion
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()


@FIX.fix
def call_it(site: Site) -> Fix | None:
    found = site.python_use
    return site.fix(f"`@{site.use.written}()`", [insertion(found.call_span.end, "()")]) if found is not None else None
