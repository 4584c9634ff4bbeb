"""Aliases of the old guard: an alias and its uses change together, or not at all."""

from __future__ import annotations

from guardfix.linter import guards
from guardfix.linter.analysis.alias_scopes import mentions_of_wrapper
from guardfix.linter.analysis.project import Project
from guardfix.linter.answered_once import answered_once
from guardfix.linter.decision import decide
from guardfix.linter.facts import Form
from guardfix.linter.facts.expressions import is_unqualified, renamed
from guardfix.linter.facts.index import index_of
from guardfix.linter.findings import Context

from ..fix import Edit, Fix
from ..site import Site
from .compat_gates import gated_edits
from .constructor_arguments import argument_edits
from .guard_comment_edits import doubts_of_comments
from .guard_spelling import NEW_NAME, inference_qualifier, using_agrees
from .hazards import hazards_in_words
from .includes import needed_include
from .intent_edits import intent_edits
from .replacement_doubts import doubts_about_the_context, unnoticed_in_words


@answered_once
def alias_decision(project: Project, name: str) -> Context | None:
    """The context on which all uses through an alias agree; None when they do not, or one cannot follow.

    The alias and its uses change together or not at all, so an argument may only be in the alias's own file.
    """
    contexts = set()
    for where, use in project.mentions(name):
        argument = use.argument
        if argument is not None and not argument.empty:
            defined_here = name in index_of(where).alias_names.values()
            if argument.value is not True or not defined_here:
                return None
        contexts.add(decide(use, where, project).context)
    return next(iter(contexts)) if len(contexts) == 1 else None


def agreed_context(site: Site, name: str) -> Context | None:
    """As `alias_decision`; where the run preserves, uses that are all unknown agree on what changes nothing."""
    agreed = alias_decision(site.project, name)
    return Context.BELOW_AUTOGRAD if agreed is Context.UNKNOWN and site.choice.preserve else agreed


def retargeted_alias(site: Site) -> Fix | None:
    """The alias's target is changed when all uses through it want the same replacement."""
    use, context = site.use, site.decision.context
    name = index_of(site.facts).alias_names.get(use.span)
    if name is None or use.under_error:
        return None
    if use.form is Form.USING:
        if not using_agrees(site.facts, site.project, context):
            return None
    elif agreed_context(site, name) is not context:
        return None
    new = NEW_NAME[context]
    if context is Context.INFERENCE:
        target = inference_qualifier(site.facts) + new
    else:
        target = f"at::{new}" if is_unqualified(use.named) else str(renamed(use.named, new))
    edits = [Edit(use.type_span, target)]
    mentions = mentions_of_wrapper(use, name, site.facts, site.project)
    for where, other in mentions:
        if where.path == site.facts.path and use.form is not Form.USING:
            edits += argument_edits(other, site) or []
    if context is Context.INFERENCE:
        include = needed_include(site, guards.INFERENCE_MODE)
        edits += [include] if include is not None else []
    doubts = [*doubts_about_the_context(site.decision), *doubts_of_comments(use, site.facts)]
    for where, other in mentions:
        if context is Context.INFERENCE:
            doubts += hazards_in_words(other, where, site.project)
        elif context is Context.KERNEL:
            doubts += unnoticed_in_words(other, where, site)
    message = f"let `{name}` stand for {target}"
    edits += intent_edits(site)
    if site.choice.compat:
        gated = gated_edits(site, edits)
        if gated is None:
            return None
        edits, message = gated, f"{message} with torch 1.9 and newer"
    return site.fix(message, sorted(set(edits)), doubts=list(dict.fromkeys(doubts)))
