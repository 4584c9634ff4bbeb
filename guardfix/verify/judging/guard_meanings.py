"""The old guard has two meanings: before PyTorch 1.9 it hid version counting and view tracking as well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .verdicts import Judgement, Verdict

BEFORE_19 = "before 1.9"
SINCE_19 = "since 1.9"

_WORST_FIRST = (
    Verdict.UNSUPPORTED,
    Verdict.CHANGED,
    Verdict.STRICTER,
    Verdict.REPAIRED,
    Verdict.NOT_RUN,
    Verdict.NOT_REACHED,
    Verdict.SAME,
    Verdict.NOTHING,
)


def meanings_in_use(minimum_torch: str, *, since19_only: bool) -> tuple[str, ...]:
    """The meanings that a program may meet, given the oldest torch that it has to work with."""
    from guardfix.codemods.edits.torch_in_use import NEW_GUARDS_SINCE, version_of

    if since19_only or (minimum_torch and version_of(minimum_torch) >= NEW_GUARDS_SINCE):
        return (SINCE_19,)
    return (BEFORE_19, SINCE_19)


def by_both_meanings(judgements: Mapping[str, Judgement]) -> Judgement:
    """One judgement of two: the worse one. Where the other one differs, it says for which torch it holds."""
    (first, one), (second, other) = judgements.items()
    rank = {verdict: number for number, verdict in enumerate(_WORST_FIRST)}
    kept, kept_for, rest, rest_for = one, first, other, second
    if rank[other.verdict] < rank[one.verdict] or (
        other.verdict is one.verdict and len(other.silent_before) > len(one.silent_before)
    ):
        kept, kept_for, rest, rest_for = other, second, one, first
    both = tuple(judgements.items())
    said = ""
    if rest.verdict is not kept.verdict:
        said = f" (torch {kept_for}; {rest_for}: {rest.verdict})"
    elif bool(kept.silent_before) != bool(rest.silent_before):
        said = f" (torch {kept_for}; {rest_for}, nothing is silently wrong)"
    headline = None if kept.headline is None else kept.headline + said
    return replace(kept, reason=kept.reason + said, headline=headline, by_meaning=both, meaning=kept_for)
