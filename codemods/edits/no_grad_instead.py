"""`no_grad` in the place of `inference_mode`, where the file has torch under a name to say it with."""

from __future__ import annotations

from guardfix.linter import guards
from guardfix.linter.facts import Span
from guardfix.linter.facts.expressions import is_unqualified, renamed

from ..fix import Edit, Fix
from ..site import Site


def no_grad_instead(site: Site) -> Fix | None:
    if site.finding.use is None:
        return None  # it is in another file
    use, found = site.use, site.python_use
    if found is None or is_unqualified(use.named) or use.alias is not None:
        return None
    instead = f"{renamed(use.named, guards.NO_GRAD)}()"
    return site.fix(f"use `{instead}`", [Edit(Span(use.type_span.start, found.call_span.end), instead)])
