"""GF207: the guard is declared again at the top of the function or lambda that runs in another thread."""

from __future__ import annotations

import re

from guardfix.linter.facts import Function
from guardfix.linter.facts.index import index_of

from ..edits.kept_comments import without_comments
from ..edits.statements import indentation, line_start, newline_of
from ..fix import Edit, Fix, insertion
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()


@FIX.fix
def repeat_in_the_thread(site: Site) -> Fix | None:
    text, finding = site.text, site.finding
    if finding.use is None or site.facts.language == "python":
        return None  # the guard is in another file, or what is run there may be used elsewhere as well
    use = finding.use
    handed_over = finding.steps[-2]
    around = index_of(site.facts).functions_around.around(finding.span)
    within = [f for f in around if f.body.holds(finding.span) and not _holds(f, handed_over.offset)]
    if use.shared or not within or finding.path != handed_over.path:
        return None
    function = min(within, key=lambda function: function.body.start)
    declaration = " ".join(without_comments(text, use.span, "cpp").decode("utf-8", "replace").split())
    if not declaration.isascii():
        return None  # compilers differ in which other letters a name may have
    body = text[function.body.start : function.body.end]
    if use.variable and re.search(rb"\b%s\b" % re.escape(use.variable.encode()), body):
        return None  # it would be declared twice, or hide what is meant there
    where = "the lambda" if function.is_lambda else f"`{function.name}`"
    return site.fix(f"repeat `{declaration}` at the top of {where}", [_at_the_top(function, declaration, text)])


def _holds(function: Function, offset: int) -> bool:
    return function.body.start <= offset < function.body.end


def _at_the_top(function: Function, declaration: str, text: bytes) -> Edit:
    """`{ work(); }` -> `{ declaration work(); }`, on its own line where the body has lines."""
    start = function.body.start + 1
    end = start
    while end < function.body.end and text[end : end + 1].isspace():
        end += 1
    if line_start(text, end) <= start:
        return insertion(start, f" {declaration}")
    indent = indentation(text, end).decode()
    return insertion(start, f"{newline_of(text, start).decode()}{indent}{declaration}")
