"""GF306: a guard is declared in front of the statement that calls the op."""

from __future__ import annotations

from guardfix.linter.facts.index import index_of
from guardfix.linter.frontends.cpp.cpp_masking import code_only
from guardfix.linter.guards import BELOW_ADINPLACEORVIEW

from ..edits.statements import indentation, newline_of, statement_around
from ..fix import Fix, insertion
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()


@FIX.fix
def declare_a_guard(site: Site) -> Fix | None:
    function = next(index_of(site.facts).functions_around.around(site.finding.span), None)
    if function is None or site.facts.partial:
        return None
    code = code_only(site.text)
    begin = statement_around(code, function.body, site.finding.span.start)
    if b"{" in code[begin : site.finding.span.start] or b"#" in code[begin : site.finding.span.end]:
        return None  # it is in its own block, or the preprocessor decides about it
    name = "guard" if b"guard" not in code[slice(*function.span)] else "below_autograd"
    newline, indent = newline_of(site.text, begin).decode(), indentation(site.text, begin).decode()
    declared = f"at::{BELOW_ADINPLACEORVIEW} {name};{newline}{indent}"
    return site.fix(f"declare `at::{BELOW_ADINPLACEORVIEW} {name};` above the statement", [insertion(begin, declared)])
