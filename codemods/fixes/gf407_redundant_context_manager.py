"""GF407: the redundant guard is taken out of its `with`, or off its function."""

from __future__ import annotations

from guardfix.linter.facts import Form

from ..edits.decorator_lines import decorator_removal
from ..edits.python_guard_comments import doubts_of_python_comments
from ..fix import Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()


@FIX.fix
def take_out(site: Site) -> Fix | None:
    found = site.python_use
    if found is None or found.target_used:
        return None
    if found.use.form is Form.DECORATOR:
        edits = decorator_removal(site.text, found)
    else:
        from ..edits.with_items import item_removal  # which imports libcst

        edits = item_removal(site.text, found)
    if edits is None:
        return None
    lines = sum(site.text.count(b"\n", *edit.span) for edit in edits)
    doubts = [f"it indents {lines} lines anew"] if lines > site.project.reindent_limit else []
    doubts += doubts_of_python_comments(site.text, found.call_span, site.facts)
    return site.fix(f"remove `{found.use.written}()`", edits, doubts=doubts)
