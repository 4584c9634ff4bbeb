"""`decide`: what a use of the old guard is for, and so what should be there instead.

Deciding knows nothing of text or edits. Every signal, for and against, ends up in the decision's evidence.
Where the signals conflict or are missing the context is `unknown`.
"""

from __future__ import annotations

from msgspec.structs import replace

from ..analysis.guard_comments import comments_about_guards, quoted
from ..analysis.project import Project
from ..facts import Facts, Form, GuardUse, Span
from ..facts.embedded_paths import real_path
from ..findings import Confidence, Context, Decision, Evidence
from ..frontends.frontend import frontend_named
from ..guards import Effect
from .asking import open_questions
from .guard_wrappers import scenes_of_wrapper, wrapper_of
from .policy import POLICY, Policy
from .signal_gathering import signals_of
from .signal_kinds import Signal
from .signal_registry import direct_signals
from .use_context import Scene, scene_of
from .weighing import UNDECIDED, Weighed, is_declared, is_open, weigh

_EFFECTS = {
    Context.INFERENCE: Effect.INFERENCE,
    Context.KERNEL: Effect.BELOW_ADINPLACEORVIEW,
    Context.BELOW_AUTOGRAD: Effect.BELOW_AUTOGRAD,
}
"""What has to be the effect of a guard that stands for the old one; no guard stands for it in the other contexts."""


class Decided(dict[tuple[str, Span, Form, Policy], Decision]):
    """Decisions by file, place and form of the use: rules and codemods ask for the same ones."""


def decide(use: GuardUse, facts: Facts, project: Project, policy: Policy = POLICY) -> Decision:
    """The context of one use of the old guard, with the evidence on every side."""
    decided = project.memory(Decided)
    key = (facts.path, use.type_span, use.form, policy)
    if key not in decided:
        decision = _with_comments(_decide(use, facts, project, policy), use, facts)
        if project.unseen and (is_open(decision) or open_questions(use, facts, project, policy)):
            decision = _of_a_part(decision, use, facts, project.unseen)
        decided[key] = decision
    return decided[key]


def _with_comments(decision: Decision, use: GuardUse, facts: Facts) -> Decision:
    """The decision with what comments at the use say about guards: for nothing, as only a person can weigh it."""
    said = tuple(
        Evidence(
            f"a comment here says {quoted(comment)}",
            real_path(facts.path),
            comment.span.start,
            facts.row(comment.span.start),
            None,
            "comment-about-guards",
        )
        for comment in comments_about_guards(use)
    )
    return replace(decision, evidence=(*decision.evidence, *said)) if said else decision


def _of_a_part(decision: Decision, use: GuardUse, facts: Facts, unseen: str) -> Decision:
    """What is decided when answers may be in files that were not looked at: less sure, and it says so."""
    start = use.type_span.start
    limit = Evidence(unseen, real_path(facts.path), start, facts.row(start), None, "part-of-project")
    evidence = (*decision.evidence, limit)
    if decision.context is Context.INFERENCE and decision.confidence is Confidence.LOW:
        # A function elsewhere that is called below the guard may train.
        return Decision(Context.UNKNOWN, None, Confidence.LOW, evidence)
    confidence = Confidence.MEDIUM if decision.confidence is Confidence.HIGH else decision.confidence
    return replace(decision, confidence=confidence, evidence=evidence)


def is_hardly_decided(use: GuardUse, facts: Facts, project: Project, policy: Policy = POLICY) -> bool:
    """Whether what was read of the project so far comes to nothing about a use, or to little."""
    _, weighed = _weighed(scene_of(project, facts, use), policy, runs=False)
    return is_open(weighed)


def _decide(use: GuardUse, facts: Facts, project: Project, policy: Policy) -> Decision:
    scene = scene_of(project, facts, use)
    signals, weighed = _weighed(scene, policy)
    signals.sort(key=lambda signal: _rank(signal, scene.facts, weighed.context, policy))
    effect = _EFFECTS.get(weighed.context)
    replacement = None if effect is None else frontend_named(facts.language).replacements[effect]
    evidence = tuple(signal.evidence() for signal in signals)
    return Decision(weighed.context, replacement, weighed.confidence, evidence)


def _weighed(scene: Scene, policy: Policy, *, runs: bool = True) -> tuple[list[Signal], Weighed]:
    signals = signals_of(scene, policy.calls_up, policy, runs=runs)
    weighed = weigh(signals, policy)
    name = wrapper_of(scene)
    if name is None or is_declared(direct_signals(scene)):
        return signals, weighed
    places = [signals_of(place, policy.calls_up - 1, policy, runs=runs) for place in scenes_of_wrapper(scene, name)]
    return signals, _agreed(weighed, {weigh(place, policy).context for place in places})


def _rank(signal: Signal, facts: Facts, context: Context, policy: Policy) -> tuple[bool, bool, int]:
    """The order in which reasons are shown: those for the decision, of them those in its own file, then the heaviest.

    So a file that is checked alone shows the same first reason as its project, where both decide the same.
    """
    return signal.side.context is not context, signal.path != facts.path, -policy.points(signal.weight)


def _agreed(weighed: Weighed, places: set[Context]) -> Weighed:
    """What all signals come to, given what each place comes to that uses the class, macro or alias."""
    if len(places - {Context.UNKNOWN}) > 1:
        return UNDECIDED  # One name for the guard, and its users want different replacements.
    if Context.UNKNOWN in places and weighed.confidence is Confidence.HIGH:
        # It isn't known what the unclear places are for: they get the same replacement as the clear ones.
        return weighed._replace(confidence=Confidence.MEDIUM)
    return weighed
