"""GF203: the parentheses that make it a function declaration are dropped, or the guard gets its own name."""

from __future__ import annotations

from guardfix.linter import guards
from guardfix.linter.facts import Form

from ..edits.temporaries import named_temporary
from ..fix import Edit, Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()


@FIX.fix
def make_a_guard_of_it(site: Site) -> Fix | None:
    use = site.use
    if use.form is not Form.VEXING_PARSE:
        return named_temporary(site)
    if use.argument is None or guards.CPP[use.guard].takes is guards.Takes.BOOL:
        return None  # it cannot be made without a value
    return site.fix(f"drop the parentheses, so `{use.variable}` is a guard", [Edit(use.argument.span, "")])
