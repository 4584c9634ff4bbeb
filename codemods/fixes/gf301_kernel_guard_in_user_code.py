"""GF301: a kernel guard around a workload becomes `c10::InferenceMode`; what that makes redundant is removed."""

from __future__ import annotations

from guardfix.linter import guards
from guardfix.linter.analysis.redundancy import redundant_guards

from ..edits.guard_spelling import inference_qualifier
from ..edits.hazards import hazards_in_words
from ..edits.includes import needed_include
from ..edits.statements import removal
from ..fix import Applicability, Edit, Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule(Applicability.UNSAFE)


@FIX.fix
def replace_by_inference_mode(site: Site) -> Fix | None:
    use, facts = site.use, site.facts
    if use.under_error:
        return None
    spelling = inference_qualifier(facts) + guards.INFERENCE_MODE
    edits = [Edit(use.type_span, spelling)]
    edits += [removal(site.text, other.span) for other in redundant_guards(use, facts)]
    include = needed_include(site, guards.INFERENCE_MODE)
    if include is not None:
        edits.append(include)
    doubts = hazards_in_words(use, facts, site.project)
    return site.fix(f"replace {use.written} with {spelling}", sorted(set(edits)), doubts=doubts)
