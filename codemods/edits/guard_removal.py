"""A guard's declaration is taken out."""

from __future__ import annotations

from ..fix import Edit
from ..site import Site
from .guard_comment_edits import removal_with_comments
from .intent_edits import intent_that_goes


def guard_removal(site: Site) -> list[Edit] | None:
    """Removes the statement if it holds nothing else and nothing mentions the variable; None otherwise."""
    use = site.use
    if use.shared or use.under_error or len(use.variable_spans) > 1:
        return None
    return removal_with_comments(site.text, use, intent_that_goes(site))
