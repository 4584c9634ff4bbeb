"""GF207: the guard is declared again at the top of the lambda that runs in another thread."""

from __future__ import annotations

from functools import lru_cache

from guardfix.linter.analysis.thread_targets import started_functions
from guardfix.linter.facts import Facts, Function, Span
from guardfix.linter.facts.index import index_of
from guardfix.linter.rules.gf207_guard_lost_in_thread import thread_start

from ..edits.statements import indentation, line_start, newline_of
from ..fix import Edit, Fix, insertion
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()


@FIX.fix
def repeat_in_the_thread(site: Site) -> Fix | None:
    use, text = site.use, site.text
    holding = index_of(site.facts).functions_around.around(site.finding.span)
    around = [f for f in holding if f.body.holds(site.finding.span)][::-1]
    lambdas = [f for f in around if f.is_lambda and thread_start(f, site.facts)]
    started = [f for f in around if f.span in _started(site.facts)]
    if use.shared or not (lambdas or started):
        return None
    function = (lambdas or started)[-1]
    declaration = text[use.span.start : use.span.end].decode("utf-8", "replace")
    if not declaration.isascii():
        return None  # compilers differ in which other letters a name may have
    where = "the lambda" if function.is_lambda else f"`{function.name}`"
    return site.fix(f"repeat `{declaration}` at the top of {where}", [_at_the_top(function, declaration, text)])


@lru_cache(maxsize=4)
def _started(facts: Facts) -> frozenset[Span]:
    """The functions that threads run, by their places."""
    return frozenset(one.function.span for one in started_functions(facts))


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
