"""GF409: the base's decorator is written above the override."""

from __future__ import annotations

from guardfix.linter.analysis.guarded_methods import overridden_methods

from ..edits.statements import indentation, line_start, newline_of
from ..fix import Fix, insertion
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()


@FIX.fix
def decorate(site: Site) -> Fix | None:
    found = next(
        (one for one in overridden_methods(site.facts, site.project) if one.name_place == site.finding.span), None
    )
    torch = site.facts.python.torch_name if site.facts.python is not None else ""
    if found is None or not torch:
        return None
    start = line_start(site.text, site.finding.span.start)
    guard = f"@{torch}.{found.guard}()"
    line = indentation(site.text, start).decode() + guard + newline_of(site.text, start).decode()
    message = f"write `{guard}` above `{found.method.name}`, as above that of `{found.base}`"
    return site.fix(message, [insertion(start, line)])
