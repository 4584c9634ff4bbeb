"""GF504: `no_grad` instead, where the file has torch under a name to say it with."""

from __future__ import annotations

from guardfix.linter import guards
from guardfix.linter.facts import Span
from guardfix.linter.facts.expressions import is_unqualified, renamed

from ..fix import Applicability, Edit, Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule(Applicability.UNSAFE)


@FIX.fix
def use_no_grad(site: Site) -> Fix | None:
    use, found = site.use, site.python_use
    if found is None or is_unqualified(use.named) or use.alias is not None:
        return None
    instead = f"{renamed(use.named, guards.NO_GRAD)}()"
    return site.fix(f"use `{instead}`", [Edit(Span(use.type_span.start, found.call_span.end), instead)])
