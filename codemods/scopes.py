"""Rules on how guards live and which guard is chosen: a finding -> the edits that mend it."""

from __future__ import annotations

import re

from guardfix.linter import guards
from guardfix.linter.analysis.inference_escapes import escape_hazards
from guardfix.linter.analysis.redundancy import redundant_guards
from guardfix.linter.facts import Function, GuardUse, Span
from guardfix.linter.findings import Applicability, Edit, Fix
from guardfix.linter.rules.gf207_guard_lost_in_thread import thread_start
from guardfix.linter.rules.gf208_guard_after_work import late_work

from .edits.hoisting import hoisted
from .edits.includes import needed_include
from .edits.statements import indentation, line_start, newline_of, removal
from .edits.variables import free_name
from .legacy_guard import HOIST, Site, hazard_in_words, inference_qualifier

Fixes = tuple[Fix | None, tuple[Fix, ...]]
NONE: Fixes = (None, ())


def name_the_temporary(site: Site) -> Fixes:
    """`G();` -> `G guard;`, `G(true);` -> `G guard(true);`."""
    use, argument = site.use, site.use.argument
    if argument is None or not _stands_in_a_block(use, site.text):
        return NONE
    if argument.empty and guards.CPP[use.guard].takes is guards.Takes.BOOL:
        return NONE  # it cannot be made without a value
    name = free_name(site.facts, site.text, use)
    # Without an argument the brackets go: `G guard();` would declare a function.
    end = argument.span.end if argument.empty else argument.span.start
    message = f"name the guard `{name}`, so that it covers the rest of its block"
    return Fix(message, Applicability.UNSAFE, (Edit(Span(use.type_span.end, end), f" {name}"),)), ()


_ASIDE = re.compile(rb"//[^\n]*|/\*.*?\*/|^[ \t]*#[^\n]*", re.DOTALL | re.MULTILINE)


def _stands_in_a_block(use: GuardUse, text: bytes) -> bool:
    """Whether the statement may become a declaration: it is no branch without braces, and no label stands before it."""
    before = _ASIDE.sub(b"", text[use.scope.start : use.span.start]).rstrip()
    return before.endswith((b"{", b"}", b";"))


def repeat_in_the_thread(site: Site) -> Fixes:
    """The guard, declared again at the top of the lambda that runs in another thread."""
    use, text = site.use, site.text
    inside = [
        f
        for f in site.facts.functions
        if f.is_lambda and f.body.holds(site.finding.span) and thread_start(f, site.facts)
    ]
    if not inside or use.shared:
        return NONE
    declaration = text[use.span.start : use.span.end].decode("utf-8", "replace")
    message = f"repeat `{declaration}` at the top of the lambda"
    return Fix(message, Applicability.UNSAFE, (_at_the_top(inside[-1], declaration, text),)), ()


def _at_the_top(function: Function, declaration: str, text: bytes) -> Edit:
    """`{ work(); }` -> `{ declaration work(); }`, on a line of its own where the body has lines."""
    start = function.body.start + 1
    end = start
    while end < function.body.end and text[end : end + 1].isspace():
        end += 1
    if line_start(text, end) <= start:
        return Edit(Span(start, start), f" {declaration}")
    indent = indentation(text, end).decode()
    return Edit(Span(start, start), f"{newline_of(text, start).decode()}{indent}{declaration}")


def hoist_the_guard(site: Site) -> Fixes:
    """`InferenceMode`, moved above the load or the run that it should cover."""
    use = site.use
    late = late_work(use, site.facts)
    if use.guard != guards.INFERENCE_MODE or late is None:
        return NONE  # the fix of GF101 moves the old guard
    declaration = site.text[use.span.start : use.span.end].decode("utf-8", "replace")
    moved = hoisted(use, site.facts, site.text, declaration, late)
    if moved is None:
        return NONE
    message = "; ".join(["move the guard up", *map(hazard_in_words, escape_hazards(use, site.facts, site.project)[:3])])
    return Fix(message, Applicability.UNSAFE, tuple(sorted(moved)), HOIST), ()


_REMOVED = {
    "GF302": (
        Applicability.UNSAFE,
        "remove the guard; an op that is called back through the dispatcher would recurse",
    ),
    "GF303": (Applicability.SAFE, "remove the guard, which InferenceMode implies"),
    "GF304": (Applicability.UNSAFE, "remove the guard, so that `backward` can be differentiated"),
}


def remove_the_guard(site: Site) -> Fixes:
    """The statement is taken out, where nothing else stands in it and nothing mentions the variable."""
    use = site.use
    if use.shared or use.under_error or len(use.variable_spans) > 1:
        return NONE
    applicability, message = _REMOVED[site.finding.code]
    return Fix(message, applicability, (removal(site.text, use.span),)), ()


def replace_by_inference_mode(site: Site) -> Fixes:
    """A kernel guard around a workload -> `c10::InferenceMode`; what that makes redundant goes too."""
    use, facts = site.use, site.facts
    if use.under_error:
        return NONE
    edits = [Edit(use.type_span, inference_qualifier(facts) + guards.INFERENCE_MODE)]
    edits += [removal(site.text, other.span) for other in redundant_guards(use, facts)]
    include = needed_include(facts, site.text, guards.INFERENCE_MODE)
    if include is not None:
        edits.append(include)
    hazards = map(hazard_in_words, escape_hazards(use, facts, site.project)[:3])
    message = "; ".join([f"replace {use.written} by {inference_qualifier(facts)}{guards.INFERENCE_MODE}", *hazards])
    return Fix(message, Applicability.UNSAFE, tuple(sorted(set(edits)))), ()
