"""What a person declared a use to be for, when the use is migrated: the comment goes, stays, or is written."""

from __future__ import annotations

from msgspec.structs import replace

from guardfix.linter.analysis.declared_purposes import intent_at
from guardfix.linter.analysis.dispatcher_bypass import bypasses_dispatcher
from guardfix.linter.facts import Facts, GuardUse, Span
from guardfix.linter.facts.intents import Intent, Purpose
from guardfix.linter.findings import Confidence, Context, Decision, Evidence, Side
from guardfix.linter.frontends.frontend import frontend_named
from guardfix.linter.guards import Effect
from guardfix.linter.rules.gf301_kernel_guard_in_user_code import looks_like_user_code

from ..fix import Edit, insertion
from ..site import Site
from .guard_comment_edits import whole_lines
from .statements import line_end, line_start

PRESERVED = "preserved"
"""The evidence of a use that no one decided, and that keeps doing what it does."""
CHOSEN = "chosen"
"""The evidence of a use for which a person took a replacement while guardfix ran."""


def preserving(site: Site) -> Site:
    """The site; where its context is unknown and the run preserves, decided so that nothing changes."""
    if site.decision.context is not Context.UNKNOWN or not site.choice.preserve:
        return site
    decision = declared_decision(
        Purpose.PRESERVE, site.use, site.facts, site.decision, PRESERVED, "--preserve keeps what the code does today"
    )
    return replace(site, finding=replace(site.finding, decision=decision))


_CONTEXTS = {
    Purpose.INFERENCE: (Context.INFERENCE, Effect.INFERENCE),
    Purpose.KERNEL: (Context.KERNEL, Effect.BELOW_ADINPLACEORVIEW),
    Purpose.BELOW_AUTOGRAD: (Context.BELOW_AUTOGRAD, Effect.BELOW_AUTOGRAD),
    Purpose.PRESERVE: (Context.BELOW_AUTOGRAD, Effect.BELOW_AUTOGRAD),
}


def declared_decision(
    purpose: Purpose, use: GuardUse, facts: Facts, decision: Decision, signal: str, message: str
) -> Decision:
    """The decision as a person made it, with the evidence that there is; `signal` and `message` say who made it."""
    context, effect = _CONTEXTS.get(purpose, (Context.REMOVE, None))
    replacement = None if effect is None else frontend_named(facts.language).replacements[effect]
    start = use.type_span.start
    said = Evidence(message, facts.path, start, facts.row(start), Side(context.value), signal)
    return Decision(context, replacement, Confidence.HIGH, (said, *decision.evidence))


def is_preserved(site: Site) -> bool:
    """Whether the site's guard keeps doing what the old one does, by `--preserve`, a comment or the configuration."""
    return any(evidence.signal in (PRESERVED, "declared-preserve") for evidence in site.decision.evidence)


def intent_edits(site: Site) -> list[Edit]:
    """What becomes of the comment that declares what the use is for.

    It goes with the migration, unless it says more, or speaks for a guard that a rule would object to without it.
    `--preserve` writes one, and so does a choice that a rule would object to.
    """
    comment = intent_at(site.use, site.facts)
    if comment is not None:
        return [] if _stays(comment, site) else [_gone(comment, site.text)]
    signals = {evidence.signal for evidence in site.decision.evidence}
    if PRESERVED in signals:
        return [_written(Purpose.PRESERVE, site)]
    if CHOSEN in signals and site.decision.context is Context.KERNEL and _is_objected_to(site):
        return [_written(Purpose.KERNEL, site)]
    if CHOSEN in signals and site.decision.context is Context.BELOW_AUTOGRAD and _is_objected_to(site):
        return [_written(Purpose.BELOW_AUTOGRAD, site)]
    return []


def intent_that_goes(site: Site) -> Span | None:
    """The comment that the migration takes away; None where it stays, or there is none."""
    if site.finding.decision is None:
        return None
    comment = intent_at(site.use, site.facts)
    return comment.span if comment is not None and not _stays(comment, site) else None


def _stays(comment: Intent, site: Site) -> bool:
    if comment.says_more or comment.purpose is Purpose.PRESERVE:
        return True
    return comment.purpose.is_of_kernels and _is_objected_to(site)


def _is_objected_to(site: Site) -> bool:
    """Whether GF301, GF302 or GF304 could object to a kernel guard here if no one had declared it."""
    use, facts, project = site.use, site.facts, site.project
    if looks_like_user_code(use, facts) or bypasses_dispatcher(use, facts, project):
        return True
    return any(project.autograd_method(facts, function) == "backward" for function in facts.enclosing(use.function))


def _gone(comment: Intent, text: bytes) -> Edit:
    before = text[line_start(text, comment.span.start) : comment.span.start]
    after = text[comment.span.end : line_end(text, comment.span.end)]
    if not before.strip() and not after.strip():
        return whole_lines(text, comment.span)
    cut = comment.span.start
    while text[cut - 1 : cut] in (b" ", b"\t"):
        cut -= 1
    return Edit(Span(cut, comment.span.end), "")


def _written(purpose: Purpose, site: Site) -> Edit:
    end = site.use.span.end
    after = site.text[end : line_end(site.text, end)].strip()
    if site.use.macro is None and not after:
        return insertion(end, f"  // guardfix: {purpose}")
    return insertion(end, f" /* guardfix: {purpose} */")
