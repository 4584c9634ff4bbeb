"""One op, called in many small programs before and after the migration; what differs, as short as it gets.

hypothesis draws the programs and shrinks those that differ. It needs the extra `exercise`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from guardfix.runtime_shim.recording.guard_table import GuardCount
from guardfix.runtime_shim.recording.served_libraries import PROGRAM_SECONDS

from ..judging.guard_outcomes import GuardReach, ProgramReach
from ..judging.guard_sites import GuardSite
from ..judging.verdicts import Judgement, Verdict, differs, judge
from .library_server import FILLS, READS_OUTSIDE
from .op_inputs import Candidate, FoundInputs, search_inputs
from .op_programs import BACKWARDS, CALL_MODES, LEAF, ROLES, USES, OpProgram, program_text
from .op_signatures import CallableOp

if TYPE_CHECKING:
    from ..judging.wanted_repairs import WantedRepair
    from .library_server import LibraryServer, OpRun

_WORST_FIRST = (Verdict.CHANGED, Verdict.STRICTER, Verdict.REPAIRED, Verdict.SAME)


class _Differs(Exception):
    """Tells hypothesis that a program is worth shrinking. There is a class for each verdict: it tells them apart so."""


class _Changed(_Differs):
    pass


class _Stricter(_Differs):
    pass


class _Repaired(_Differs):
    pass


_RAISED = {Verdict.CHANGED: _Changed, Verdict.STRICTER: _Stricter, Verdict.REPAIRED: _Repaired}


@dataclass(frozen=True)
class ShownDifference:
    """A program that the migration makes do something else."""

    judgement: Judgement
    text: str

    @property
    def call(self) -> str:
        """The inputs and the call, in one line."""
        lines = [line.strip() for line in self.text.splitlines()]
        last = next((number for number, line in enumerate(lines) if line.startswith("y = ")), len(lines))
        return "; ".join(lines[: last + 1])


@dataclass
class ExercisedOp:
    """What is known of an op when it has been exercised."""

    name: str
    shown: str
    verdict: Verdict
    reason: str = ""
    advice: str = ""
    calls: int = 0
    """Programs that were run, each before and after."""
    differences: dict[Verdict, ShownDifference] = field(default_factory=dict)
    before: Counter[tuple[int, str]] = field(default_factory=Counter)
    """Guards by number: how often they were `entered`, and the `ops` below."""
    after: Counter[tuple[int, str]] = field(default_factory=Counter)

    @property
    def worst(self) -> ShownDifference | None:
        return next((self.differences[verdict] for verdict in _WORST_FIRST if verdict in self.differences), None)

    def enters(self, site: GuardSite) -> bool:
        return bool(self.before[site.number, "entered"] or self.after[site.number, "entered"])

    def reach(self, sites: Sequence[GuardSite], files: Iterable[str]) -> ProgramReach:
        """What the op says about guards."""
        found = [
            GuardReach(
                site,
                *(
                    GuardCount(counts[site.number, "entered"], counts[site.number, "ops"]) if counted else None
                    for counts, counted in zip((self.before, self.after), site.counted, strict=True)
                ),
            )
            for site in sites
        ]
        return ProgramReach(self.name, self.verdict, self.reason, tuple(found), frozenset(files))


def exercise_op(
    op: CallableOp,
    servers: Sequence[LibraryServer],
    numbers: frozenset[int] | None,
    examples: int,
    wanted: Collection[WantedRepair] = (),
) -> ExercisedOp:
    """Finds inputs that the op accepts, and compares `examples` programs around them.

    An input with which the original op crashes, or touches memory outside of its tensors, is not accepted.
    `servers` has the libraries before and after. An op that enters none of the guards with these `numbers` is left
    after a few programs; None if nothing counts them. Raises `VerificationFailed` when a server ends.
    """
    done = ExercisedOp(op.name, op.shown, Verdict.SAME)
    results: dict[Candidate, list[str] | None] = {}

    def refusal_of(candidate: Candidate) -> str | None:
        text = program_text(op, _first_program(op, candidate), None, observed=False)
        ran = servers[0].run(text, op.name)
        _count(done.before, ran.reached)
        if ran.refusal is not None:
            return ran.refusal
        again = servers[0].run(text, op.name, FILLS[1])
        if not again.is_sound or differs(ran.run, again.run, {}):
            return READS_OUTSIDE
        results[candidate] = ran.results
        return None

    found = search_inputs(op, refusal_of)
    done.calls = found.tried
    if not found.accepted:
        done.verdict, done.reason = _never_accepted(found)
        return done
    _Comparison(op, servers, found, results, done, wanted).exercise(numbers, examples)
    return done


def _never_accepted(found: FoundInputs) -> tuple[Verdict, str]:
    said = found.refusals[-1] if found.refusals else "nothing"
    missing = next((text for text in found.refusals if "the shim has no " in text), None)
    if missing is not None:
        return Verdict.UNSUPPORTED, missing[missing.index("the shim has no ") :].partition(";")[0]
    first = said.partition("\n")[0]
    return (
        Verdict.NOT_REACHED,
        f"none of {found.tried} generated inputs was accepted; the last new error: {first[:200]}",
    )


def _first_program(op: CallableOp, candidate: Candidate) -> OpProgram:
    return OpProgram(candidate, tuple(LEAF if argument.type.is_tensor else "plain" for argument in op.arguments))


def _count(counts: Counter[tuple[int, str]], reached: Mapping[int, GuardCount]) -> None:
    for number, count in reached.items():
        counts[number, "entered"] += count.entered
        counts[number, "ops"] += count.ops


class _Comparison:
    """Programs around one op's accepted inputs, run before and after."""

    def __init__(
        self,
        op: CallableOp,
        servers: Sequence[LibraryServer],
        found: FoundInputs,
        results: Mapping[Candidate, list[str] | None],
        done: ExercisedOp,
        wanted: Collection[WantedRepair],
    ) -> None:
        self.op, self.servers, self.found, self.results, self.done = op, servers, found, results, done
        self.wanted = wanted
        self.unsupported: Judgement | None = None
        self.numbers: frozenset[int] | None = None
        """The guards that matter; None where nothing counts them."""

    def exercise(self, numbers: frozenset[int] | None, examples: int) -> None:
        done = self.done
        self.numbers = numbers
        # First the plainest programs, with backward: an op that enters no guard is done with.
        for candidate in self.found.accepted:
            for backward in BACKWARDS[1:]:
                roles = _first_program(self.op, candidate).roles
                self.compare(OpProgram(candidate, roles, backward=backward), raising=False)
        entered = numbers is None or any(done.before[n, "entered"] or done.after[n, "entered"] for n in numbers)
        if entered:
            self._search(examples)
        worst = done.worst
        if worst is not None:
            done.verdict, done.reason = worst.judgement.verdict, worst.judgement.reason
            done.advice = worst.judgement.advice
        elif self.unsupported is not None:
            done.verdict, done.reason = Verdict.UNSUPPORTED, self.unsupported.reason
        elif not entered:
            done.reason = "it does the same, and enters no migrated guard"
        else:
            done.reason = f"the same results and gradients in {done.calls} programs"

    def compare(self, program: OpProgram, *, raising: bool = True) -> None:
        text = program_text(self.op, program, self.results[program.inputs])
        before, after = (server.run(text, self.op.name) for server in self.servers)
        self.done.calls += 1
        _count(self.done.before, before.reached)
        _count(self.done.after, after.reached)
        judgement = _judged(before, after, self.wanted)
        if judgement.verdict is Verdict.UNSUPPORTED:
            self.unsupported = self.unsupported or judgement
        if judgement.verdict not in _RAISED or not self._enters(before, after):
            return
        if not self._repeats(text, before, judgement):
            return
        known = self.done.differences.get(judgement.verdict)
        if known is None or _length(text) < _length(known.text):
            self.done.differences[judgement.verdict] = ShownDifference(judgement, text)
        if raising:
            raise _RAISED[judgement.verdict]

    def _enters(self, *runs: OpRun) -> bool:
        """Whether one of the runs came to a guard that matters: else the migration can't be why they differ."""
        numbers = self.numbers
        return numbers is None or any(
            run.reached[number].entered for run in runs for number in numbers & {*run.reached}
        )

    def _repeats(self, text: str, before: OpRun, judgement: Judgement) -> bool:
        """Whether the original program does the same again, whatever the memory around its tensors holds, and the
        migrated one differs from it again."""
        if not before.is_sound:
            return False
        again, after = (server.run(text, self.op.name, FILLS[1]) for server in self.servers)
        if not again.is_sound or differs(before.run, again.run, {}):
            return False
        return _judged(again, after, self.wanted).verdict is judgement.verdict

    def _search(self, examples: int) -> None:
        import hypothesis
        from hypothesis import strategies as st
        from hypothesis.errors import Flaky

        roles = st.tuples(
            *(st.sampled_from(ROLES) if argument.type.is_tensor else st.just("plain") for argument in self.op.arguments)
        )
        programs = st.builds(
            OpProgram,
            st.sampled_from(self.found.accepted),
            roles,
            st.sampled_from(("rising", "signed")),
            st.sampled_from(CALL_MODES),
            st.booleans(),
            st.sampled_from(USES),
            st.sampled_from(BACKWARDS),
        )

        @hypothesis.seed(0)
        @hypothesis.settings(
            max_examples=examples,
            database=None,
            deadline=None,
            print_blob=False,
            verbosity=hypothesis.Verbosity.quiet,
            suppress_health_check=list(hypothesis.HealthCheck),
            phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
        )
        @hypothesis.given(programs)
        def programs_agree(program: OpProgram) -> None:
            self.compare(program)

        try:
            programs_agree()
        except (_Differs, Flaky):
            return
        except Exception as error:
            # Several verdicts come as a group of exceptions.
            if not all(isinstance(one, _Differs | Flaky) for one in getattr(error, "exceptions", (error,))):
                raise


def _judged(before: OpRun, after: OpRun, wanted: Collection[WantedRepair]) -> Judgement:
    if not (before.run.timed_out or after.run.timed_out):
        return judge(before.run, after.run, {}, wanted=wanted)
    limit = f"{PROGRAM_SECONDS} s, the limit for one call"
    if not before.run.timed_out:
        return Judgement(
            Verdict.CHANGED,
            f"only the migrated program did not finish: it was stopped after {limit}",
            "look at the diff",
        )
    # Nothing is known of what the original would have done.
    which = (
        "the program did not finish, before the migration and after it"
        if after.run.timed_out
        else "only the original program did not finish"
    )
    return Judgement(Verdict.UNSUPPORTED, f"{which}: it was stopped after {limit}", "make the op do less")


def _length(text: str) -> tuple[int, int]:
    return text.count("\n"), len(text)
