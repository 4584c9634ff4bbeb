"""Weighs signals: which context they come to, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable

from ..findings import Confidence, Context, Decision, Side
from ..named_tuples import NamedTuple
from .policy import Policy
from .signal_kinds import KERNEL_SIDES, Signal, Weight


class Weighed(NamedTuple):
    """What signals come to."""

    context: Context
    confidence: Confidence


UNDECIDED = Weighed(Context.UNKNOWN, Confidence.LOW)


def weigh(signals: Iterable[Signal], policy: Policy) -> Weighed:
    """The context for which the signals speak; `UNDECIDED` where they are too few, or speak against each other."""
    signals = list(signals)
    declared = {signal.side.context for signal in signals if signal.weight is Weight.DECLARED}
    if declared and policy.declared_settles:
        context = declared.pop()
        return UNDECIDED if declared or context is None else Weighed(context, Confidence.HIGH)
    found = _by_points(signals, policy)
    if found.confidence is Confidence.HIGH and not all(signal.shown for signal in signals):
        # A signal from a name in a file that isn't linked to this one makes nothing certain.
        shown = _by_points([signal for signal in signals if signal.shown], policy)
        found = found if shown == found else found._replace(confidence=Confidence.MEDIUM)
    tried = {signal.side.context for signal in signals if signal.weight is Weight.TRIED}
    if policy.tried_settles and len(tried) == 1 and is_open(found):
        return Weighed(tried.pop() or Context.UNKNOWN, Confidence.LOW)
    return found


def _by_points(signals: list[Signal], policy: Policy) -> Weighed:
    scores = {side: _score(side, signals, policy) for side in Side}
    kernel = sum(scores[side] for side in KERNEL_SIDES)
    inference, remove, against = scores[Side.INFERENCE], scores[Side.REMOVE], scores[Side.AGAINST_INFERENCE]
    decisive = {signal.side for signal in signals if signal.weight is Weight.DECISIVE}

    if Side.REMOVE in decisive and not inference:
        # In forward and backward the guard's place says what it does; being in a kernel does not speak against it.
        return Weighed(Context.REMOVE, Confidence.MEDIUM)
    if decisive.intersection(KERNEL_SIDES):
        opposed = inference >= policy.objection or remove
        return Weighed(_kernel_context(signals, policy), Confidence.MEDIUM if opposed else Confidence.HIGH)

    sides = {Side.KERNEL: kernel, Side.INFERENCE: inference, Side.REMOVE: remove}
    winner = max(sides, key=lambda side: sides[side])
    score = sides[winner]
    rivals = sum(sides.values()) - score
    doubts = against if winner is Side.INFERENCE else 0
    if score < policy.least_score or (rivals + doubts) * policy.outweighs > score:
        return UNDECIDED
    if winner is Side.REMOVE:
        return Weighed(Context.REMOVE, Confidence.LOW)
    if rivals or doubts > policy.weak or score < policy.medium_score:
        confidence = Confidence.LOW
    elif doubts or score < policy.high_score or (winner is Side.KERNEL and policy.kernel_is_high_only_if_decisive):
        confidence = Confidence.MEDIUM
    else:
        confidence = Confidence.HIGH
    return Weighed(Context.INFERENCE if winner is Side.INFERENCE else _kernel_context(signals, policy), confidence)


def _score(side: Side, signals: Iterable[Signal], policy: Policy) -> int:
    points = sorted((policy.points(signal.weight) for signal in signals if signal.side is side), reverse=True)
    full, cut = policy.counted_in_full, policy.counted_in_full + policy.counted_as_weak
    return sum(points[:full]) + sum(min(each, policy.weak) for each in points[full:cut])


def _kernel_context(signals: Iterable[Signal], policy: Policy) -> Context:
    """Kernel or below_autograd: the heaviest signal says, and of equals the first."""
    family = [signal for signal in signals if signal.side in KERNEL_SIDES]
    heaviest = max(family, key=lambda signal: policy.points(signal.weight))
    return Context.KERNEL if heaviest.side is Side.KERNEL else Context.BELOW_AUTOGRAD


def is_open(weighed: Weighed | Decision) -> bool:
    """Whether more should be asked: nothing is decided, or hardly anything speaks for it."""
    return weighed.context is Context.UNKNOWN or weighed.confidence is Confidence.LOW


def is_left_open(signals: Iterable[Signal], policy: Policy) -> bool:
    """Whether the signals come to nothing, or to little."""
    return is_open(weigh(signals, policy))


def is_declared(signals: Iterable[Signal]) -> bool:
    """Whether a person has said what the use is for."""
    return any(signal.weight is Weight.DECLARED for signal in signals)


def is_settled(signals: Iterable[Signal], policy: Policy) -> bool:
    """Whether the signals need no others: one is decisive, or together they leave no doubt."""
    signals = list(signals)
    decisive = any(signal.weight is Weight.DECISIVE and signal.shown for signal in signals)
    return decisive or weigh(signals, policy).confidence is Confidence.HIGH
