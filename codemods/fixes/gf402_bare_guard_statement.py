"""GF402: a statement just before a `def` becomes its decorator."""

from __future__ import annotations

from ..edits.decorator_lines import made_decorator
from ..fix import Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()


@FIX.fix
def make_decorator(site: Site) -> Fix | None:
    around = f"put `with {site.use.written}():` around the code that it should cover"
    return made_decorator(site) or site.suggestion(around)
