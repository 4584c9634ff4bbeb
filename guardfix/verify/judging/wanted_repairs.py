"""Fixes that are meant to change the mode in which something runs, and whether that is all that they do.

A guard that gets a name, or is declared again in a thread, takes effect where it had none; what it covers now records
no gradients, or records them again. Nothing else may differ.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from guardfix.linter.findings import Finding
from guardfix.linter.flow.events import MESSAGES, pytorch_says
from guardfix.linter.guards import CPP, PYTHON, Effect
from guardfix.linter.rule import UnknownRule, find_rules
from guardfix.pytorch_messages.message_lookup import message_in

from .traces import TracedEvent, alike, in_words, paired_threads

_RECORDS = frozenset({Effect.GRAD_MODE, Effect.INFERENCE})
_DISPATCHES = frozenset({Effect.BELOW_AUTOGRAD, Effect.BELOW_ADINPLACEORVIEW})

_ASKS = frozenset(
    {
        *("requires_grad", "grad_fn", "is_leaf", "is_grad_enabled", "is_inference_mode_enabled", "is_inference"),
        *("_version", "_is_view", "_base"),
    }
)
"""Questions about what is recorded."""


@dataclass(frozen=True)
class WantedRepair:
    """A finding that a migration answers by changing in which mode something runs."""

    code: str
    guard: str = ""
    """The guard that it is about; empty where it is about none."""

    @property
    def effects(self) -> frozenset[Effect]:
        """What the guards do that may come or go."""
        effect = _effect(self.guard)
        return _DISPATCHES if effect in _DISPATCHES else _RECORDS


def wanted_repair(finding: Finding) -> WantedRepair | None:
    """What a finding asks for; None for one whose fix has to keep the program's results."""
    try:
        rules = find_rules(finding.code)
    except UnknownRule:  # of a plugin
        rules = ()
    if any(rule.keeps_results for rule in rules):
        return None
    return WantedRepair(finding.code, finding.use.guard if finding.use is not None else "")


def repairs_between(before: Iterable[Finding], after: Iterable[Finding]) -> tuple[WantedRepair, ...]:
    """What of the first findings the second ones don't have any more."""
    found = [Counter(filter(None, map(wanted_repair, findings))) for findings in (before, after)]
    return tuple((found[0] - found[1]).elements())


def seen_repair(
    before: Sequence[TracedEvent], after: Sequence[TracedEvent], wanted: Collection[WantedRepair]
) -> str | None:
    """What a repair did, in words, if the recordings differ in nothing but what it is meant to do; None otherwise."""
    if not wanted:
        return None
    walk = _Walk(frozenset(effect for one in wanted for effect in one.effects))
    threads = list(paired_threads(before, after, without_flags=True))
    for one, two in threads:
        walk.look(one, two)
    if not all(walk.explains(one, two) for one, two in threads):
        return None
    return walk.in_words(wanted)


def cured_ending(said: str, wanted: Collection[WantedRepair]) -> str | None:
    """What a repair did, in words, if the error that ended the program is one that the wanted rules find; else None.

    `said` is what the program printed, or its message.
    """
    known = message_in(said)
    if known is None:
        return None
    codes = sorted({one.code for one in wanted}.intersection(known.rules))
    if not codes:
        return None
    return f'before, "{known.title}" ended it; now it runs on, which is what {", ".join(codes)} asks for'


@dataclass
class _Walk:
    """Goes through two recordings side by side."""

    effects: frozenset[Effect]
    guards: Counter[str] = field(default_factory=Counter)
    """Those that came or went, by the steps below them."""
    came: bool = False
    recorded: Counter[bool] = field(default_factory=Counter)
    """Results that record no longer, and those that do now."""
    gone: TracedEvent | None = None
    """The error that is not raised any more."""
    instead: TracedEvent | None = None

    def look(self, before: Sequence[TracedEvent], after: Sequence[TracedEvent]) -> None:
        """Find the steps whose mode differs."""
        for b, a in zip(before, after, strict=False):
            if b.get("op") != a.get("op"):
                return
            came, went = self._difference(b, a)
            if not (came or went):
                continue
            self.came = self.came or bool(came)
            self.guards.update(came or went)
            self.recorded.update(_recorded(b, a))

    def explains(self, before: Sequence[TracedEvent], after: Sequence[TracedEvent]) -> bool:
        """Whether all that differs follows from the steps whose mode does."""
        for index, (b, a) in enumerate(zip_longest(before, after)):
            if b is not None and a is not None and (b == a or alike(b, a)):
                continue
            if b is None or a is None:
                return False
            if b["event"] == "raised":
                if not (_is_about_modes(b) and a["event"] != "raised"):
                    return False
                self.gone, self.instead = b, a
                return not any(event["event"] == "raised" for event in after[index:])
            if not self._follows(b, a):
                return False
        return True

    def _difference(self, before: TracedEvent, after: TracedEvent) -> tuple[set[str], set[str]]:
        """The guards that one of two steps is below, and not the other; those of the wanted kind."""
        one, two = (Counter(event.get("guards") or ()) for event in (before, after))
        came, went = ({name for name in names if _effect(name) in self.effects} for names in (two - one, one - two))
        return came, went

    def _follows(self, before: TracedEvent, after: TracedEvent) -> bool:
        if before["event"] != after["event"] or before["event"] != "step" or before["op"] != after["op"]:
            return False
        if before["op"] in _ASKS:
            return bool(self.guards)
        if not _same_values(before, after):
            return False
        # Below the guard, or made from what was; what recorded less can't make something record more.
        return all(self.recorded[now] for now in _recorded(before, after))

    def in_words(self, wanted: Collection[WantedRepair]) -> str | None:
        codes = ", ".join(sorted({one.code for one in wanted}))
        if self.gone is not None:
            assert self.instead is not None
            return f"before, {in_words(self.gone)}; now {in_words(self.instead)}, which is what {codes} asks for"
        if not self.guards:
            return None
        names = " and ".join(f"`{name}`" for name in sorted(self.guards))
        steps = max(self.guards.values())
        one = steps == 1
        where = f"{steps} step{'' if one else 's'}"
        it, covers = ("it", "covers") if len(self.guards) == 1 else ("they", "cover")
        how = f"{covers} {where} that {it} didn't cover" if self.came else f"no longer {covers} {where}"
        parts = [f"{names} {how}, which is what {codes} asks for"]
        for now, words in ((False, "no longer requires grad"), (True, "requires grad now")):
            count = self.recorded[now]
            if count:
                verb = words if count == 1 else words.replace("requires", "require")
                parts.append(f"{count} result{'' if count == 1 else 's'} {verb}")
        return f"{'; '.join(parts)}; nothing else differs"


def _recorded(before: TracedEvent, after: TracedEvent) -> Iterator[bool]:
    """For each result that differs in being recorded: whether it is, after."""
    for b, a in zip(before.get("results", ()), after.get("results", ()), strict=False):
        if isinstance(b, dict) and isinstance(a, dict):
            one, two = (bool(result["requires_grad"] or result["grad_fn"]) for result in (b, a))
            if one is not two:
                yield two


def _same_values(before: TracedEvent, after: TracedEvent) -> bool:
    one, two = before["results"], after["results"]
    return len(one) == len(two) and all(
        (b["shape"], b["dtype"], b["data"]) == (a["shape"], a["dtype"], a["data"])
        if isinstance(b, dict) and isinstance(a, dict)
        else b == a
        for b, a in zip(one, two, strict=True)
    )


def _is_about_modes(raised: TracedEvent) -> bool:
    said = (pytorch_says(kind) for kind in MESSAGES)
    return any(words in raised["message"] for words in said if words is not None)


_NAME = re.compile(r"(\w+)(?:\(.*\))?$")


def _effect(guard: str) -> Effect | None:
    """What a guard does, by its name as a recording or a finding has it: `c10::InferenceMode(true)`."""
    found = _NAME.search(guard)
    row = (CPP.get(found[1]) or PYTHON.get(found[1])) if found is not None else None
    return None if row is None else row.effect
