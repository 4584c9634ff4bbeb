"""GF207: the guard is declared again at the top of the lambda that runs in another thread."""

from __future__ import annotations

from guardfix.linter.analysis.thread_targets import started_functions
from guardfix.linter.facts import Function
from guardfix.linter.rules.gf207_guard_lost_in_thread import thread_start

from ..edits.statements import indentation, line_start, newline_of
from ..fix import Applicability, Edit, Fix, insertion
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule(Applicability.UNSAFE)


@FIX.fix
def repeat_in_the_thread(site: Site) -> Fix | None:
    use, text = site.use, site.text
    around = [f for f in site.facts.functions if f.body.holds(site.finding.span)]
    lambdas = [f for f in around if f.is_lambda and thread_start(f, site.facts)]
    started = [one.function for one in started_functions(site.facts) if one.function in around]
    if use.shared or not (lambdas or started):
        return None
    function = (lambdas or started)[-1]
    declaration = text[use.span.start : use.span.end].decode("utf-8", "replace")
    where = "the lambda" if function.is_lambda else f"`{function.name}`"
    return site.fix(f"repeat `{declaration}` at the top of {where}", [_at_the_top(function, declaration, text)])


def _at_the_top(function: Function, declaration: str, text: bytes) -> Edit:
    """`{ work(); }` -> `{ declaration work(); }`, on a line of its own where the body has lines."""
    start = function.body.start + 1
    end = start
    while end < function.body.end and text[end : end + 1].isspace():
        end += 1
    if line_start(text, end) <= start:
        return insertion(start, f" {declaration}")
    indent = indentation(text, end).decode()
    return insertion(start, f"{newline_of(text, start).decode()}{indent}{declaration}")
