#!/usr/bin/env python3
"""Measures the signals: how often each stood beside each label, and what the numbers of the policy come to.

    bench/signals.py SITES.tsv CHECKOUTS [SITES.tsv CHECKOUTS …]

Tables and checkouts are as bench/labelled_sites.py says. Prints, for every table,

  signals   how often each kind of signal stood beside each label, its weight today, and the weight that the table
            suggests; the last column says where all tables agree that it is too low or too high, and with which weight
  strength  what was decided on which points, and how often that was within what maintainers accept
  policy    what each number of the policy, one step lower and higher, would change

A weight follows from the ratio of two shares: of the uses whose maintainers accept the signal's side, those that have
the signal, and of the other uses those that have it (half a use is added to each count, so that no share is nothing).
The ratio is taken one standard error too low (of its logarithm, Katz et al. 1978), because the tables are small. Twice
as often is weak, four times moderate, eight times strong; decisive is a signal that stood beside no other, and at least
thirty-two times as often. Uses of one repository are alike: from fewer than five uses, or fewer than three
repositories, nothing is suggested.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from guardfix.linter.analysis.project import Project
from guardfix.linter.decision import POLICY, Policy, decide
from guardfix.linter.decision.signal_gathering import signals_of
from guardfix.linter.decision.signal_kinds import KERNEL_SIDES, Signal, SignalKind, Weight
from guardfix.linter.decision.signal_registry import signal_kinds
from guardfix.linter.decision.use_context import scene_of
from guardfix.linter.facts import Facts, GuardUse
from guardfix.linter.findings import Confidence, Context, Decision, Side
from labelled_sites import LabelledSite, labelled_sites, read_table

LABELS = ("kernel", "below_autograd", "inference", "remove", "ambiguous", "no-touch")
FEWEST_USES = 5
FEWEST_REPOSITORIES = 3
STEPS = ((32, Weight.DECISIVE), (8, Weight.STRONG), (4, Weight.MODERATE), (2, Weight.WEAK))


class Decided(NamedTuple):
    """A use that was reported, with its signals."""

    site: LabelledSite
    use: GuardUse
    facts: Facts
    project: Project
    signals: list[Signal]

    def has(self, kind: SignalKind) -> bool:
        return any(signal.kind is kind for signal in self.signals)

    def decision(self, policy: Policy) -> Decision:
        return decide(self.use, self.facts, self.project, policy)


def decided_sites(table: Path, checkouts: Path) -> Iterator[Decided]:
    for site in labelled_sites(read_table(table), checkouts):
        if site.finding is None or site.finding.use is None:
            continue
        facts, project = site.report.project.files[site.path], site.report.project
        signals = signals_of(scene_of(project, facts, site.finding.use), POLICY.calls_up, POLICY)
        yield Decided(site, site.finding.use, facts, project, signals)


def suggested_weight(kind: SignalKind, sites: Sequence[Decided]) -> Weight | str:
    """The weight that follows from the table; "nothing" for a signal without a side, "too few" for one seldom seen."""
    own = [is_own(kind, site.site.accepted) for site in sites]
    has = [site.has(kind) for site in sites]
    repositories = {site.site.row["repo"] for site in sites if site.has(kind)}
    if sum(has) < FEWEST_USES or len(repositories) < FEWEST_REPOSITORIES:
        return "too few"
    right = sum(o and h for o, h in zip(own, has, strict=True))
    wrong = sum(has) - right
    ratio = careful_ratio(right, sum(own), wrong, len(sites) - sum(own))
    for times, weight in STEPS:
        if ratio >= times and (weight is not Weight.DECISIVE or not wrong):
            return weight
    return "nothing"


def careful_ratio(hits: int, uses: int, other_hits: int, other_uses: int) -> float:
    """How many times as often `hits` of `uses` is as `other_hits` of `other_uses`, one standard error too low."""
    a, n, b, m = hits + 0.5, uses + 1, other_hits + 0.5, other_uses + 1
    error = math.sqrt(1 / a - 1 / n + 1 / b - 1 / m)
    return (a / n) / (b / m) * math.exp(-error)


def is_own(kind: SignalKind, accepted: frozenset[str]) -> bool:
    """Whether the signal speaks for what is accepted. Both kinds of kernel count as one, as in the weighing."""
    if kind.side is Side.AGAINST_INFERENCE:
        return "inference" not in accepted
    sides = KERNEL_SIDES if kind.side in KERNEL_SIDES else (kind.side,)
    return not accepted.isdisjoint(side.value for side in sides)


def agreed_change(kind: SignalKind, suggested: Sequence[Weight | str]) -> str:
    """The more careful of the suggestions, where all of them lie above, or all below, the weight of today."""
    order = [weight for _, weight in reversed(STEPS)]
    weights = [weight for weight in suggested if isinstance(weight, Weight)]
    if len(weights) < len(suggested):
        return ""
    places = [order.index(weight) - order.index(kind.weight) for weight in weights]
    if all(place > 0 for place in places):
        return order[order.index(kind.weight) + min(places)].value
    if all(place < 0 for place in places):
        return order[order.index(kind.weight) + max(places)].value
    return ""


def print_signals(tables: dict[str, list[Decided]]) -> None:
    for name, sites in tables.items():
        labels = Counter(site.site.label for site in sites)
        print(f"\nsignals of {name}: {len(sites)} decided uses")
        heads = [f"{label} ({labels[label]})" for label in LABELS if labels[label]]
        print(f"{'signal':36}{'speaks for':19}" + "".join(f"{head:>20}" for head in heads) + "   today     suggested")
        for kind in signal_kinds():
            beside = Counter(site.site.label for site in sites if site.has(kind))
            counts = "".join(f"{beside[label]:>20}" for label in LABELS if labels[label])
            suggested = suggested_weight(kind, sites)
            said = suggested.value if isinstance(suggested, Weight) else suggested
            print(f"{kind.name:36}{kind.side.value:19}{counts}   {kind.weight.value:10}{said}")
    print("\nwhere all tables say otherwise")
    for kind in signal_kinds():
        change = agreed_change(kind, [suggested_weight(kind, sites) for sites in tables.values()])
        if change:
            print(f"{kind.name:36}{kind.weight.value} -> {change}")


def strength(site: Decided) -> str:
    """On what the decision rests: decisive signals, or how many points, with or without objection."""
    decision = site.decision(POLICY)
    sides = KERNEL_SIDES if decision.context in (Context.KERNEL, Context.BELOW_AUTOGRAD) else (Side(decision.context),)
    own = [signal for signal in site.signals if signal.side in sides]
    opposed = ", opposed" if len(own) < len(site.signals) else ""
    if any(signal.weight is Weight.DECISIVE for signal in own):
        return f"decisive{opposed}"
    points = sum(POLICY.points(signal.weight) for signal in own)
    bounds = (POLICY.high_score, POLICY.medium_score, POLICY.least_score)
    return next((f"{bound} points or more{opposed}" for bound in bounds if points >= bound), f"less{opposed}")


def print_strength(sites: Sequence[Decided]) -> None:
    rows: Counter[tuple[str, str, str, bool]] = Counter()
    for site in sites:
        decision = site.decision(POLICY)
        if decision.context is not Context.UNKNOWN:
            accepted = decision.context.value in site.site.accepted
            rows[decision.context.value, strength(site), decision.confidence.value, accepted] += 1
    print(f"\n{'context':16}{'rests on':34}{'confidence':12}{'right':>6}{'wrong':>6}")
    for context, rests, confidence in sorted({row[:3] for row in rows}):
        right, wrong = (rows[context, rests, confidence, is_right] for is_right in (True, False))
        print(f"{context:16}{rests:34}{confidence:12}{right:>6}{wrong:>6}")


def outcomes(sites: Sequence[Decided], policy: Policy) -> dict[str, int]:
    """How many decisions are right, open and wrong, and how many of these have high confidence."""
    tally = dict.fromkeys(("right", "right, high", "unknown", "wrong", "wrong, high"), 0)
    for site in sites:
        decision = site.decision(policy)
        high = decision.confidence is Confidence.HIGH
        if decision.context.value in site.site.accepted:
            tally["right"] += 1
            tally["right, high"] += high
        elif decision.context is Context.UNKNOWN:
            tally["unknown"] += 1
        else:
            tally["wrong"] += 1
            tally["wrong, high"] += high
    return tally


def variants() -> Iterator[tuple[str, Policy]]:
    yield "today", POLICY
    for name, (value, _) in POLICY.reasons().items():
        others: tuple[float, ...] = (not value,) if isinstance(value, bool) else (value - 1, value + 1)
        for other in others:
            changed: dict[str, Any] = {name: other}
            yield f"{name} = {other}", replace(POLICY, **changed)


def print_policy(sites: Sequence[Decided]) -> None:
    print()
    for name, policy in variants():
        tally = outcomes(sites, policy)
        if name == "today":
            print(f"{'policy':44}" + "".join(f"{head:>14}" for head in tally))
        print(f"{name:44}" + "".join(f"{count:>14}" for count in tally.values()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, nargs="+", metavar="SITES.tsv CHECKOUTS")
    arguments = parser.parse_args()
    if len(arguments.pairs) % 2:
        parser.error("each table needs its folder of checkouts")
    pairs = zip(arguments.pairs[::2], arguments.pairs[1::2], strict=True)
    tables = {table.name: list(decided_sites(table, checkouts)) for table, checkouts in pairs}
    print_signals(tables)
    for name, sites in tables.items():
        print(f"\nstrength and policy, {name}")
        print_strength(sites)
        print_policy(sites)
    return 0


if __name__ == "__main__":
    sys.exit(main())
