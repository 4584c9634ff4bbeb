"""What the programs' runs say about each guard that the migration changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from guardfix.runtime_shim.recording.guard_table import GuardCount

from ..runs.program_runs import ProgramRun
from .guard_sites import GuardSite, linkless_path
from .verdicts import Judgement, Verdict, how_it_ended, status_in_words


@dataclass(frozen=True)
class GuardReach:
    """How a program reached a guard, before the migration and after it; None where nothing was counted."""

    site: GuardSite
    before: GuardCount | None
    after: GuardCount | None

    @property
    def is_entered(self) -> bool:
        return any(count is not None and count.entered for count in (self.before, self.after))

    def is_shown(self, *, failed: bool) -> bool:
        """Whether a program that entered it shows something of it.

        A guard that the migration replaces shows itself in the ops below it. Where it is taken away, or left, a program
        that came to it and did not fail is enough.
        """
        has_ops = any(count is not None and count.ops for count in (self.before, self.after))
        is_replaced = self.site.changed and not self.site.removed
        return self.is_entered and (has_ops or not (failed or is_replaced))

    @property
    def is_cut_off(self) -> bool:
        """It was entered before the migration, and a counter shows that it was not after it."""
        return (
            self.site.counted[1]
            and self.after is not None
            and not self.after.entered
            and bool(self.before and self.before.entered)
        )


def reached(
    sites: Sequence[GuardSite], before: Sequence[GuardCount], after: Sequence[GuardCount]
) -> tuple[GuardReach, ...]:
    """What two tables say of the sites; a run without a table said nothing."""

    def count(table: Sequence[GuardCount], site: GuardSite, which: int) -> GuardCount | None:
        return table[site.number] if site.counted[which] and site.number < len(table) else None

    return tuple(GuardReach(site, count(before, site, 0), count(after, site, 1)) for site in sites)


def with_reach(judgement: Judgement, run: ProgramRun, guards: Sequence[GuardReach]) -> Judgement:
    """A verdict that holds only if the program did something with one of the `guards`, which are those that count.

    A program that came to no step of torch, or to none of its guards, shows nothing about them; neither does one in
    which no op ran below them.
    """
    if judgement.verdict not in (Verdict.SAME, Verdict.NOT_RUN, Verdict.NOTHING):
        return judgement
    if judgement.verdict is Verdict.NOT_RUN and judgement.comparison is None:
        return judgement  # it says what it lacks
    if any(reach.is_shown(failed=run.status != 0) for reach in guards):
        return judgement
    if run.ops == 0:
        end = how_it_ended(run)
        return judgement.saying(
            Verdict.NOT_REACHED, f"the program ended before it came to a step of torch: {end}", _GIVE_IT_WORK
        )
    if not guards:
        return judgement
    if any(reach.is_entered for reach in guards):
        which = "its guard" if len(guards) == 1 else f"any of its {len(guards)} guards"
        if run.status:
            why = f"ended ({status_in_words(run.status)}) before an op ran below {which}"
        else:
            why = f"no op ran below {which}"
    else:
        which = "its guard" if len(guards) == 1 else f"none of its {len(guards)} guards"
        why = f"{which} was {'not ' if len(guards) == 1 else ''}entered"
    return judgement.saying(Verdict.NOT_REACHED, f"the program does the same, but {why}", _GIVE_IT_WORK)


_GIVE_IT_WORK = "pass what the program needs with `--argument` (`--model auto` if that is a TorchScript archive)"


@dataclass(frozen=True)
class ProgramReach:
    """What one program (a file, a test) says about guards: its verdict, those that it can reach, and how it did."""

    name: str
    verdict: Verdict
    reason: str
    guards: tuple[GuardReach, ...]
    files: frozenset[str] = frozenset()
    """The real paths of the project's files that were compiled into it, or imported."""
    failed: bool = False
    """It failed, before the migration already."""
    ended_early: bool = False
    """It might have come to more guards."""


@dataclass(frozen=True)
class GuardOutcome:
    """What is known about one migrated guard when all programs have run."""

    site: GuardSite
    verdict: Verdict
    reason: str = ""
    """Why it was not reached, or not verified."""
    programs: tuple[str, ...] = ()
    """Those that entered it."""

    @property
    def is_verified(self) -> bool:
        return self.verdict.is_proof


_WORST_FIRST = (Verdict.CHANGED, Verdict.STRICTER, Verdict.REPAIRED, Verdict.SAME)


def guard_outcomes(sites: Iterable[GuardSite], programs: Sequence[ProgramReach]) -> list[GuardOutcome]:
    """One outcome for each guard that the migration changes: the worst that a program which enters it says."""
    return [_outcome(site, programs) for site in sites if site.changed]


def _outcome(site: GuardSite, programs: Sequence[ProgramReach]) -> GuardOutcome:
    entering: list[ProgramReach] = []
    cut_off: list[ProgramReach] = []
    idle: list[ProgramReach] = []
    not_compared: list[ProgramReach] = []
    for program in programs:
        reach = next((reach for reach in program.guards if reach.site.number == site.number), None)
        if reach is None:
            continue
        if program.verdict in (Verdict.UNSUPPORTED, Verdict.NOT_RUN):
            if reach.is_entered or (_is_in(site, program) and not program.ended_early):
                not_compared.append(program)
        elif reach.is_cut_off and program.verdict is not Verdict.SAME:
            cut_off.append(program)
        elif reach.is_entered:
            shows = program.verdict.is_proof and (
                program.verdict is not Verdict.SAME or reach.is_shown(failed=program.failed)
            )
            (entering if shows else idle).append(program)
    names = tuple(program.name for program in entering)
    for verdict in _WORST_FIRST:
        if any(program.verdict is verdict for program in entering):
            return GuardOutcome(site, verdict, "", names)
    if not_compared:
        first = not_compared[0]
        return GuardOutcome(site, first.verdict, f"{first.name}: {first.reason}")
    return GuardOutcome(site, Verdict.NOT_REACHED, _why(site, programs, cut_off, idle))


def _why(
    site: GuardSite,
    programs: Sequence[ProgramReach],
    cut_off: Sequence[ProgramReach],
    idle: Sequence[ProgramReach],
) -> str:
    if cut_off:
        return f"{cut_off[0].name} enters it before the migration; after it, the program ends earlier"
    if idle:
        if idle[0].verdict is Verdict.SKIPPED:
            return f"{idle[0].name} enters it, and is skipped"
        if idle[0].failed:
            return f"{idle[0].name} enters it, and fails before an op runs below it"
        return f"{idle[0].name} enters it, but no op runs below it"
    if not site.counted[0]:
        return "no counter can stand there"
    if not any(_is_in(site, program) for program in programs):
        return "no program compiles its file" if not site.place.path.endswith(".py") else "no program imports its file"
    early = [program.name for program in programs if program.ended_early and _is_in(site, program)]
    if not early:
        return "never entered"
    return f"never entered, but {early[0]}{f' and {len(early) - 1} more' if len(early) > 1 else ''} ended early"


def _is_in(site: GuardSite, program: ProgramReach) -> bool:
    return str(linkless_path(site.place.path)) in program.files


_SHOWN = 3


def outcome_summary(outcomes: Sequence[GuardOutcome]) -> str:
    """`14 of 17 migrated guards verified: 11 same, 2 repaired, 1 stricter; 3 not reached (src/a.cpp:12 …).`"""
    verified = [outcome for outcome in outcomes if outcome.is_verified]
    counts = Counter(outcome.verdict for outcome in verified)
    parts = [f"{len(verified)} of {len(outcomes)} migrated guards verified"]
    if verified:
        parts[0] += ": " + ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    for verdict in (Verdict.NOT_RUN, Verdict.UNSUPPORTED, Verdict.NOT_REACHED):
        found = [outcome for outcome in outcomes if outcome.verdict is verdict]
        if found:
            places = ", ".join(outcome.site.where for outcome in found[:_SHOWN])
            more = " …" if len(found) > _SHOWN else ""
            parts.append(f"{len(found)} {verdict} ({places}{more})")
    return "; ".join(parts) + "."
