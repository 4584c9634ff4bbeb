"""GF403: the guard of a `with` is called; a statement just before a `def` becomes its decorator."""

from __future__ import annotations

from guardfix.linter import guards
from guardfix.linter.facts import Form

from ..edits.decorator_lines import made_decorator
from ..fix import Fix, insertion
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()

_NEED_ARGUMENT = guards.GuardNames(guards.PYTHON, guards.needs_argument)


@FIX.fix
def call_it(site: Site) -> Fix | None:
    use, found = site.use, site.python_use
    if found is None:
        return None
    if use.guard in _NEED_ARGUMENT:
        return None
    if use.form is not Form.WITH:
        return made_decorator(site)
    if found.async_with:
        return None  # brackets do not help: no guard can be in it
    return site.fix(f"call `{use.written}()`", [insertion(found.call_span.end, "()")])
