"""Why replacing the old guard may change what a program does."""

from __future__ import annotations

import re
from functools import lru_cache

from guardfix.linter import guards
from guardfix.linter.analysis.redundancy import sets_grad_mode_in
from guardfix.linter.answered_once import answered_once
from guardfix.linter.facts import Facts, Form, GuardUse, Span
from guardfix.linter.facts.spans import Sorted
from guardfix.linter.findings import Confidence, Context, Decision
from guardfix.linter.rules.gf206_guard_member import is_struct_of_guards

from ..site import Site
from .guard_comment_edits import doubts_of_comments
from .hazards import hazards_in_words, uncounted_in_words
from .torch_in_use import is_built_before_1_9


def doubts_about_the_context(decision: Decision) -> list[str]:
    """The doubt that the evidence leaves; none when it is strong."""
    if decision.confidence is Confidence.HIGH:
        return []
    return [f"the context has only {decision.confidence} confidence"]


def doubts_about(site: Site) -> list[str]:
    """Why the edit is not safe; empty when it is."""
    use, decision = site.use, site.decision
    hazards = _hazards(site)
    # What is seen to go wrong says more than how sure the context is.
    doubts = [] if hazards else doubts_about_the_context(decision)
    doubts += doubts_of_comments(use, site.facts)
    if use.under_error:
        doubts.append("the parser got lost here")
    if use.form is Form.TEMPORARY and not use.shared:
        doubts.append("the temporary was destroyed at once, but the named guard isn't")
    elif use.form is Form.VEXING_PARSE:
        doubts.append("this declared a function, and now declares a guard")
    elif use.form in (Form.STATIC, Form.GLOBAL):
        doubts.append("a guard with static storage sets the state of whichever thread initializes it")
    elif use.form not in (Form.DECLARATION, Form.AUTO, Form.MEMBER):
        doubts.append(f"the guard is used as {use.form.value}, so its scope is not certain")
    elif use.form is Form.MEMBER and not _is_guard_struct(site):
        doubts.append("a member guard lives as long as its object")
    if use.argument is not None and not use.argument.empty and use.argument.value is not True:
        doubts.append("the argument had to be true, and now turns InferenceMode on or off")
    if use.form is Form.MEMBER and is_constructed_out_of_line(site):
        doubts.append("a constructor is defined elsewhere and may initialize it")
    if decision.context is Context.INFERENCE and switches_grad_on_below(site):
        doubts.append("grad mode is turned on again below, where nothing can be recorded anymore")
    if use.shared:
        doubts.append("the declaration contains more than this guard")
    return doubts + hazards


def _hazards(site: Site) -> list[str]:
    if site.decision.context is Context.INFERENCE:
        return hazards_in_words(site.use, site.facts, site.project)
    if site.decision.context is Context.KERNEL:
        return unnoticed_in_words(site.use, site.facts, site)
    return []


def unnoticed_in_words(use: GuardUse, facts: Facts, site: Site) -> list[str]:
    """Writes and views that the old guard counts and tracks since torch 1.9, and the kernel guard does not.

    None where the project is built with torch before 1.9 alone: there the old guard hid them too.
    """
    if is_built_before_1_9(site.facts.path, site.workspace):
        return []
    return uncounted_in_words(use, facts, site.project)


def is_constructed_out_of_line(site: Site) -> bool:
    """Whether the class declares a constructor without a body."""
    if site.use.class_ is None:
        return False
    class_ = site.facts.classes[site.use.class_]
    return _declares_constructor(site.text, class_.span, class_.name)


@lru_cache(maxsize=64)
def _declares_constructor(text: bytes, place: Span, name: str) -> bool:
    pattern = rb"(?<![~\w])" + name.encode() + rb"\s*\([^(){}]*\)\s*(?:noexcept\s*)?;"
    return re.search(pattern, text[slice(*place)]) is not None


def switches_grad_on_below(site: Site) -> bool:
    """Whether something under the guard wants gradients after all."""
    live = site.use.live
    return sets_grad_mode_in(live, site.facts) or _switches_on(site.facts).first(live) is not None


@answered_once
def _switches_on(facts: Facts) -> Sorted[GuardUse]:
    switches = (
        use
        for use in facts.guard_uses
        if use.guard in ("AutoGradMode", guards.INFERENCE_MODE)
        and use.argument is not None
        and not use.argument.empty
        and use.argument.value is not (use.guard == guards.INFERENCE_MODE)
    )
    return Sorted(switches, lambda use: use.span)


def _is_guard_struct(site: Site) -> bool:
    return site.use.class_ is not None and is_struct_of_guards(site.facts, site.use.class_)
