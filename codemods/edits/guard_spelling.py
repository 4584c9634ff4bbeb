"""How a replacement is written in a file: its name, its qualifier, and what using declarations do to it."""

from __future__ import annotations

from guardfix.linter import guards
from guardfix.linter.analysis.project import Project
from guardfix.linter.answered_once import answered_once
from guardfix.linter.decision import decide
from guardfix.linter.facts import Facts, Form
from guardfix.linter.facts.expressions import is_named, is_unqualified, renamed
from guardfix.linter.findings import Context

from ..site import Site

NEW_NAME = {
    Context.INFERENCE: guards.INFERENCE_MODE,
    Context.KERNEL: guards.BELOW_ADINPLACEORVIEW,
    Context.BELOW_AUTOGRAD: guards.BELOW_AUTOGRAD,
}


_INFERENCE_MODES = tuple(f"{space}::{guards.INFERENCE_MODE}" for space in ("c10", "at", "torch"))


def spelling(site: Site) -> str:
    """How the replacement is written here."""
    use, context = site.use, site.decision.context
    name = NEW_NAME[context]
    if context is Context.INFERENCE:
        if using_declaration_follows(site):
            return name
        return inference_qualifier(site.facts) + name
    if use.alias is not None:
        return f"at::{name}"
    if is_unqualified(use.named) and _has_using_declaration(site.facts) and not using_declaration_follows(site):
        return f"at::{name}"
    return str(renamed(use.named, name))


@answered_once
def inference_qualifier(facts: Facts) -> str:
    """The qualifier under which the file uses InferenceMode already; c10:: when it does not."""
    for other in facts.guard_uses:
        if other.guard == guards.INFERENCE_MODE and other.written in _INFERENCE_MODES:
            return other.written.removesuffix(guards.INFERENCE_MODE)
    return "c10::"


@answered_once
def _has_using_declaration(facts: Facts) -> bool:
    return any(use.guard == guards.LEGACY and use.form is Form.USING for use in facts.guard_uses)


def using_agrees(facts: Facts, project: Project, context: Context) -> bool:
    return _contexts_of_the_bare_name(project, facts) <= {context}


@answered_once
def _contexts_of_the_bare_name(project: Project, facts: Facts) -> frozenset[Context]:
    return frozenset(
        decide(other, facts, project).context
        for other in facts.guard_uses
        if other.guard == guards.LEGACY and is_named(other.named, guards.LEGACY) and other.form is not Form.USING
    )


def using_declaration_follows(site: Site) -> bool:
    """Whether the name is brought by a using declaration that this migration renames too."""
    return (
        is_named(site.use.named, guards.LEGACY)
        and _has_using_declaration(site.facts)
        and using_agrees(site.facts, site.project, site.decision.context)
    )
