"""GF501: the block runs under `no_grad`, whose tensors are ordinary ones."""

from __future__ import annotations

from guardfix.linter import guards
from guardfix.linter.facts import Span
from guardfix.linter.facts.expressions import last_name

from ..fix import Edit, Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()


@FIX.fix
def use_no_grad(site: Site) -> Fix | None:
    use = site.finding.use
    if use is None or use.alias is not None:
        return None
    name_start = use.type_span.end - len(last_name(use.named).encode())
    cloned = f"`{site.finding.variable}`" if site.finding.variable else "it"
    message = f"clone {cloned} after the block, or use `no_grad` for the block"
    return site.fix(message, [Edit(Span(name_start, use.type_span.end), guards.NO_GRAD)])
