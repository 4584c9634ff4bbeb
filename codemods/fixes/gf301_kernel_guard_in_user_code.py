"""GF301: a kernel guard around a workload becomes `c10::InferenceMode`; what that makes redundant is removed."""

from __future__ import annotations

from guardfix.linter import guards
from guardfix.linter.analysis.redundancy import redundant_guards

from ..edits.guard_comment_edits import doubts_of_comments, removal_with_comments
from ..edits.guard_spelling import inference_qualifier
from ..edits.hazards import hazards_in_words
from ..edits.includes import needed_include
from ..fix import Edit, Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()


@FIX.fix
def replace_by_inference_mode(site: Site) -> Fix | None:
    use, facts = site.use, site.facts
    if use.under_error:
        return None
    spelling = inference_qualifier(facts) + guards.INFERENCE_MODE
    edits = [Edit(use.type_span, spelling)]
    for other in redundant_guards(use, facts):
        edits += removal_with_comments(site.text, other)
    include = needed_include(site, guards.INFERENCE_MODE)
    if include is not None:
        edits.append(include)
    doubts = [*doubts_of_comments(use, facts), *hazards_in_words(use, facts, site.project)]
    return site.fix(f"replace {use.written} with {spelling}", sorted(set(edits)), doubts=doubts)
