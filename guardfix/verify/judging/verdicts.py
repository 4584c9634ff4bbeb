# Long because the words of all verdicts are in one place.
"""What two runs of a program, before and after its migration, say about the migration."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from guardfix.linter.str_enum import StrEnum
from guardfix.runtime_shim.cpp.compiler_diagnostics import in_a_row

from ..runs.program_runs import ProgramRun, comparable
from .lacking import missing_of_torch, missing_package
from .traces import Comparison, compare, in_words, short, without_versions
from .wanted_repairs import WantedRepair, cured_ending, seen_repair


class Verdict(StrEnum):
    SAME = "same"
    REPAIRED = "repaired"
    STRICTER = "stricter"
    CHANGED = "changed"
    NOT_RUN = "not run"
    """It fails on both sides of the migration: how it does the same shows nothing."""
    NOT_REACHED = "not reached"
    UNSUPPORTED = "unsupported"
    SKIPPED = "skipped"
    """A test that isn't meant to pass here."""
    NOTHING = "nothing to verify"
    """The migration changes no guard of it."""

    @property
    def is_proof(self) -> bool:
        """Whether both runs could be compared, and something of the migration was in them."""
        return self in (Verdict.SAME, Verdict.REPAIRED, Verdict.STRICTER, Verdict.CHANGED)


_WAS_WRONG = "the program was silently wrong: "
_LOOK = "look at the diff"
_LET_IT_RUN = "let it run to its end on the shim, which `guardfix run` shows as it is"


class VerificationFailed(Exception):
    """Nothing could be verified: no compiler, no headers, no PyTorch. The message says what to do."""


@dataclass(frozen=True)
class Silent:
    """A place at which a program is wrong without saying so."""

    kind: str
    message: str
    event: Mapping[str, Any] = field(repr=False)

    @property
    def brief(self) -> str:
        """What is wrong, in a clause."""
        node = _node(str(self.event.get("op", "")))
        return {
            "saved": f"backward of {node} used a saved tensor that had been overwritten",
            "view": f"the gradient of `{node}` missed a write through a view",
            "gradient": f"the gradient of {node} couldn't be differentiated again",
        }.get(self.kind, self.message.removeprefix(_WAS_WRONG))


@dataclass(frozen=True)
class Judgement:
    """A verdict with its reasons."""

    verdict: Verdict
    reason: str
    advice: str = ""
    silent_before: tuple[Silent, ...] = ()
    silent_after: tuple[Silent, ...] = ()
    comparison: Comparison | None = None
    output: tuple[str, str] | None = None
    """The first line of output that differs, before and after."""
    by_meaning: tuple[tuple[str, Judgement], ...] = ()
    """One for each meaning of the old guard, where both were tried: `before 1.9` and `since 1.9`."""
    meaning: str = ""
    """The one that the judgement itself holds for, where both were tried."""
    headline: str | None = None
    """The reason without what both runs do where they part; empty where the verdict says it all, None for the reason
    itself."""

    def saying(self, verdict: Verdict, reason: str, advice: str, headline: str | None = None) -> Judgement:
        return replace(self, verdict=verdict, reason=reason, advice=advice, headline=headline)

    @property
    def brief(self) -> str:
        """The reason in a clause, for a reader who sees the place where the runs part."""
        return self.reason if self.headline is None else self.headline


@dataclass(frozen=True)
class Refusal:
    """An error by which autograd refuses what the old guard let pass."""

    text: str
    """Part of PyTorch's message."""
    what: str
    advice: str
    answers: frozenset[str] = frozenset()
    """Kinds of silent errors that it uncovers."""


REFUSALS = (
    Refusal(
        "Inference tensors cannot be saved for backward",
        "an inference tensor is used where autograd would have to save it",
        "clone the inference tensor where it is used outside the scope (`t.clone()` is a normal tensor), or move "
        "that computation into the scope if it needs no gradient",
    ),
    Refusal(
        "Inplace update to inference tensor outside InferenceMode",
        "an inference tensor is changed in place outside the scope",
        "clone it before changing it (`t = t.clone()` outside the scope), or move the change into the scope",
    ),
    Refusal(
        "Setting requires_grad=True on inference tensor",
        "an inference tensor is made to require grad",
        "clone it first, outside the scope (`t.clone().requires_grad_()`), or make it outside the scope",
    ),
    Refusal(
        "Inference tensors do not track version counter",
        "the version of an inference tensor is read",
        "clone the tensor outside the scope, or check `is_inference()` first",
    ),
    Refusal(
        "modified by an inplace operation",
        "backward finds that a saved tensor was modified",
        "clone the tensor before it is changed, or change it before it is used: the old guard hid the change",
        frozenset({"saved", "view"}),
    ),
    Refusal(
        "A view was created in",
        "a view made in the scope is changed outside it",
        "make the view and change it on the same side of the scope's end, or clone it in between",
        frozenset({"saved", "view"}),
    ),
    Refusal(
        "is a view of a view which was created in",
        "a view made in the scope is changed outside it",
        "make the view and change it on the same side of the scope's end, or clone it in between",
        frozenset({"saved", "view"}),
    ),
    Refusal(
        "a leaf Variable that requires grad",
        "a leaf that requires grad is changed in place",
        "make the change under `NoGradGuard` (`torch.no_grad()`), or on a clone",
    ),
    Refusal(
        "a view of a leaf Variable that requires grad",
        "a view of a leaf that requires grad is changed in place",
        "make the change under `NoGradGuard` (`torch.no_grad()`), or on a clone",
    ),
)


def _refusal(message: str) -> Refusal | None:
    return next((refusal for refusal in REFUSALS if refusal.text in message), None)


def judge(
    before: ProgramRun,
    after: ProgramRun,
    places: Mapping[str, str],
    *,
    uncovered: ProgramRun | None = None,
    wanted: Collection[WantedRepair] = (),
    on_shim: bool = True,
) -> Judgement:
    """The verdict on a migration from a run of the program before it and one after it.

    `places` maps scratch folders to what they are copies of. `uncovered` is a run of the program before the
    migration in which nothing is hidden from autograd, where the runs themselves can't tell (PyTorch's can't):
    whatever it does otherwise was hidden. `wanted` is what the migration is meant to change. On the shim, a name that
    it lacks stops the comparison; on PyTorch, it is an error like any other. Raises `VerificationFailed`.
    """
    stopped = _unsupported(before, after, places, on_shim=on_shim)
    if stopped is not None:
        return stopped
    comparison = compare(before.events, after.events)
    silent_before, silent_after = (_silent(run) for run in (before, after))
    if uncovered is not None:
        silent_before += _uncovered(before, uncovered, places)
    output = _output_difference(before, after, places)
    found = Judgement(
        Verdict.SAME,
        "",
        silent_before=silent_before,
        silent_after=silent_after,
        comparison=comparison,
        output=output,
    )
    if output is None and before.status == after.status and comparison.parting is None:
        if before.status != 0:
            headline = (
                "" if before.last_error is None else f"it fails before and after: {status_in_words(before.status)}"
            )
            reason = f"it fails before and after: {how_it_ended(before)}"
            return found.saying(Verdict.NOT_RUN, reason, _LET_IT_RUN if on_shim else "", headline)
        repair = seen_repair(before.events, after.events, wanted)
        if repair is not None:
            return found.saying(Verdict.REPAIRED, repair, "")
        return found.saying(Verdict.SAME, *_same(comparison, silent_before, silent_after))
    ending = _ending(before, after)
    if ending:
        advice = f"{_LOOK}; if it is only slower, raise `--timeout`" if after.timed_out else _LOOK
        return found.saying(Verdict.CHANGED, ending, advice)
    if comparison.parting is not None and after.status in (0, before.status):
        # With nothing that parts, what the output says differently is of something else.
        repair = seen_repair(before.events, after.events, wanted)
        if repair is None and comparison.parting.before is None and after.status == 0:
            # It came further than before, and did the same up to there.
            repair = cured_ending(before.errors, wanted)
        if repair is not None:
            return found.saying(Verdict.REPAIRED, repair, "")

    error = _new_error(before, after, comparison)
    refusal = _refusal(error["message"]) if error is not None else None
    still = {silent.kind for silent in silent_after}
    gone = [silent for silent in silent_before if silent.kind not in still]
    if error is not None and refusal is not None:
        raises = f"now {'`' + error['op'] + '`' if 'op' in error else 'the program'} raises: {short(error['message'])}"
        uncovers = next((s for s in gone if s.kind in refusal.answers or s.kind == "hidden"), None)
        if uncovers is not None:
            reason = f"before, {uncovers.message}; {raises}"
            return found.saying(Verdict.REPAIRED, reason, refusal.advice, f"it was silently wrong: {uncovers.brief}")
        worked = f"elsewhere, before, {gone[0].message}" if gone else "before, it worked and was right"
        return found.saying(Verdict.STRICTER, f"{refusal.what}: {raises}; {worked}", refusal.advice, refusal.what)
    if error is None and gone and after.status == before.status and not _other_values(before, comparison, gone[0]):
        return found.saying(
            Verdict.REPAIRED,
            f"before, {gone[0].message}; after, nothing is hidden and the results are different",
            "check that nothing relied on the wrong results",
            f"it was silently wrong: {gone[0].brief}",
        )
    change, clause = _change(before, after, comparison, output, error)
    return found.saying(Verdict.CHANGED, change, _change_advice(error), clause)


def judge_alone(
    run: ProgramRun,
    places: Mapping[str, str],
    why: tuple[str, str],
    advice: str,
    *,
    uncovered: ProgramRun | None = None,
    on_shim: bool = True,
) -> Judgement:
    """The verdict on a program that the migration leaves as it is, from a run of it; `why` is the reason, and its
    headline.

    There is nothing to verify, right or wrong; `advice` is for a wrong one. Raises `VerificationFailed`.
    """
    reason, headline = why
    found = Judgement(Verdict.NOTHING, "")
    stopped = _unsupported(run, run, places, on_shim=on_shim)
    if stopped is not None:
        unknown = f"whether it is correct is unknown: {stopped.reason}"
        return found.saying(Verdict.NOTHING, f"{reason}; {unknown}", stopped.advice, f"{headline}; {unknown}")
    silent = _silent(run)
    if uncovered is not None:
        silent += _uncovered(run, uncovered, places)
    if not silent:
        ended = run.first("ended") or {}
        error = ended.get("message") or ""
        refusal = _refusal(error)
        end = f", and it ended with {status_in_words(run.status)}" if run.status != 0 else ""
        as_is = f"when run as is, nothing was silently wrong{end}{': ' + short(error) if error else ''}"
        advice = refusal.advice if refusal is not None else ""
        return found.saying(Verdict.NOTHING, f"{reason}; {as_is}", advice, f"{headline}; {as_is}" if end else headline)
    what = silent[0].message.removeprefix(_WAS_WRONG)
    return replace(
        found.saying(
            Verdict.NOTHING,
            f"{reason}; it is still silently wrong: {what}",
            advice,
            f"{headline}; it is still silently wrong: {silent[0].brief}",
        ),
        silent_before=silent,
        silent_after=silent,
    )


def differs(first: ProgramRun, second: ProgramRun, places: Mapping[str, str]) -> bool:
    """Whether two runs of one program differ: then it is not deterministic."""
    return (
        first.status != second.status
        or _output_difference(first, second, places) is not None
        or compare(first.events, second.events).parting is not None
    )


def not_deterministic() -> Judgement:
    return Judgement(
        Verdict.UNSUPPORTED,
        "two runs of the original program differ, so there is nothing to compare with",
        "seed its random numbers, and keep times, addresses and the order of threads out of its results",
    )


# ---- what can't be compared


def _unsupported(
    before: ProgramRun, after: ProgramRun, places: Mapping[str, str], *, on_shim: bool
) -> Judgement | None:
    for run, when in ((before, "before"), (after, "after")):
        failure = run.failed
        if failure is not None:
            judgement = _failure(failure, when, places)
            if judgement is not None:
                return judgement
        missing = _missing(run, on_shim=on_shim)
        if missing is not None:
            return missing
    if before.timed_out:
        if before.first("ready") is None:
            return Judgement(Verdict.UNSUPPORTED, "the program takes too long to compile", "try a smaller program")
        return Judgement(
            Verdict.UNSUPPORTED, _cut_off(before, after), "raise `--timeout`, or give the program less to do"
        )
    if before.endless_output:
        return Judgement(Verdict.UNSUPPORTED, "the original program prints endlessly", "give the program less to do")
    if before.out_of_memory:
        return Judgement(
            Verdict.UNSUPPORTED,
            "the original program ran out of memory",
            "raise `--memory`, or give the program less to do",
        )
    return None


def _cut_off(before: ProgramRun, after: ProgramRun) -> str:
    stopped = f"stopped after {_seconds(before)}"
    if after.timed_out:
        return f"the program did not finish in time: it was {stopped}, before the migration and after it"
    other = f"the migrated program ended after {_seconds(after)} ({status_in_words(after.status)})"
    return f"only the original program did not finish in time: it was {stopped}; {other}"


def _seconds(run: ProgramRun) -> str:
    return f"{run.seconds:.{0 if run.seconds >= 10 else 1}f} s"


def _failure(failure: Mapping[str, Any], when: str, places: Mapping[str, str]) -> Judgement | None:
    kind, message = failure["kind"], failure["message"]
    if kind in ("toolchain", "internal", "backend"):
        raise VerificationFailed(message)
    if kind == "load":
        advice = "name a program with a main" if "defines no main()" in message else "see `--source` and `--link`"
        return Judgement(
            Verdict.UNSUPPORTED, short(f"the program can't be loaded: {_of_originals(message, places)}"), advice
        )
    if failure.get("missing"):
        return Judgement(
            Verdict.UNSUPPORTED,
            f"the shim's C++ headers lack {in_a_row(failure.get('all_missing') or [failure['missing']])}",
            "use `--backend torch` to verify with an installed PyTorch",
        )
    error = _first_error(message, places)
    if when == "after":
        return Judgement(Verdict.CHANGED, f"the migrated program does not compile: {error}", _LOOK)
    return Judgement(
        Verdict.UNSUPPORTED,
        f"the program does not compile as it is: {error}",
        "see `--include`, `--define` and `--link`",
    )


def _first_error(diagnostics: str, places: Mapping[str, str]) -> str:
    """What the compiler says first, of the user's files instead of the copies. A copy's columns are others."""
    lines = diagnostics.splitlines()
    first = next((line for line in lines if "error:" in line), lines[-1]).strip()
    for copy, root in places.items():
        inside = first.removeprefix(f"{copy}{os.sep}")
        if inside != first:
            shown = os.path.relpath(os.path.join(root, inside))
            return re.sub(r"^(.*?:\d+):\d+: (?:fatal )?error:", r"\1:", shown)
    return first


def _of_originals(message: str, places: Mapping[str, str]) -> str:
    """A message that names a file of the copies, with the user's file instead."""
    for copy, root in places.items():
        message = re.sub(
            rf"{re.escape(copy + os.sep)}(\S+)",
            lambda inside, root=root: os.path.relpath(os.path.join(root, inside[1])),  # type: ignore[misc]
            message,
        )
    return message


def _missing(run: ProgramRun, *, on_shim: bool) -> Judgement | None:
    """What of torch the shim lacks and the program asked for, or a package that it ended without."""
    ended = run.all("ended")
    said = [str(event.get("message")) for event in [*run.all("raised"), *ended] if event.get("error") in _LACKING]
    for message in [*said, run.errors] if run.status not in (0, None) else said:
        name = missing_of_torch(message) if on_shim else None
        if name is not None:
            advice = "use `--backend torch` to verify with an installed PyTorch"
            return Judgement(Verdict.UNSUPPORTED, f"the shim has no {name}", advice)
    package = missing_package(said[-1]) if said and ended and ended[-1].get("error") in _LACKING else None
    return None if package is None else Judgement(Verdict.NOT_RUN, f"{package[0]} isn't installed", package[1])


_LACKING = ("UnsupportedError", "NotImplementedError", "ImportError", "ModuleNotFoundError", "AttributeError")


# ---- silent errors


def _silent(run: ProgramRun) -> tuple[Silent, ...]:
    return tuple(Silent(event["kind"], _silent_in_words(event), event) for event in run.all("silent"))


def _silent_in_words(event: Mapping[str, Any]) -> str:
    tensor = f"{event['dtype']}{list(event['shape'])}"
    if event["kind"] == "saved":
        times = event["writes_when_used"] - event["writes_when_saved"]
        written = f"written to {'once' if times == 1 else f'{times} times'}" if times > 0 else "changed"
        return (
            f"{_WAS_WRONG}backward of {_node(event['op'])} used a saved tensor {tensor} that had "
            f"been {written} since, unnoticed: its version was still {event['version']}"
        )
    if event["kind"] == "view":
        return (
            f"{_WAS_WRONG}`{event['op']}` used a tensor {tensor} that had been written to through "
            "a view which the guard kept autograd from tracking, so the gradient misses the write"
        )
    return (
        f"{_WAS_WRONG}a guard in backward of {_node(event['op'])} kept its gradient {tensor} "
        "from being differentiable, although create_graph asked for it"
    )


def _node(name: str) -> str:
    return name.removeprefix("torch::autograd::CppNode<").removesuffix(">")


def _uncovered(before: ProgramRun, uncovered: ProgramRun, places: Mapping[str, str]) -> tuple[Silent, ...]:
    if uncovered.failed is not None or not differs(before, uncovered, places):
        return ()
    output = _output_difference(before, uncovered, places)
    shown = f": {output[0]!r} instead of {output[1]!r}" if output else ""
    message = f"{_WAS_WRONG}with nothing hidden from autograd it does something else{shown}"
    return (Silent("hidden", message, {}),)


# ---- differences


def _same(
    comparison: Comparison, silent_before: Sequence[Silent], silent_after: Sequence[Silent]
) -> tuple[str, str, str]:
    """The reason, what to do, and the headline."""
    same, more = "output, results and gradients", ""
    if comparison.inference:
        count = comparison.inference
        more = f"; {count} result{' is an inference tensor' if count == 1 else 's are inference tensors'} now"
    if silent_before and silent_after:
        reason = f"the same {same}{more}, and both are wrong: {silent_after[0].message}"
        return reason, "fix the program; the migration doesn't", f"{same}, and both are wrong: {silent_after[0].brief}"
    return f"the same {same}{more}", "", f"{same}{more}"


def _ending(before: ProgramRun, after: ProgramRun) -> str:
    if after.timed_out:
        stopped, ended = _seconds(after), _seconds(before)
        return (
            f"only the migrated program did not finish in time: it was stopped after {stopped}; before, it took {ended}"
        )
    if after.endless_output:
        return "the migrated program prints endlessly; before, it ended"
    if after.out_of_memory:
        return "the migrated program ran out of memory; before, it did not"
    if after.status is not None and after.status < 0 and after.status != before.status and not after.all("raised"):
        return f"the migrated program was killed by {_signal(after.status)}; before, it ended with " + (
            status_in_words(before.status)
        )
    return ""


def _new_error(before: ProgramRun, after: ProgramRun, comparison: Comparison) -> Mapping[str, Any] | None:
    """The error at which the runs part: raised after, and not before."""
    parting = comparison.parting
    if parting is not None:
        found = parting.after
        return found if found is not None and found["event"] == "raised" else None
    # Nothing of it was recorded (PyTorch's C++ is not): what the output says of it.
    known = f"{before.output}\n{before.errors}"
    for line in f"{after.output}\n{after.errors}".splitlines():
        for refusal in REFUSALS:
            if refusal.text in line and refusal.text not in known:
                return {"event": "raised", "error": "RuntimeError", "message": line}
    return None


def _other_values(before: ProgramRun, comparison: Comparison, silent: Silent) -> bool:
    """Whether the values part before the program goes wrong: then that is not why they do."""
    parting = comparison.parting
    if parting is None or parting.before is None or parting.after is None or silent.event not in before.events:
        return False
    position = next(i for i, event in enumerate(before.events) if event is parting.before)
    if position > before.events.index(dict(silent.event)):
        return False
    return parting.other_data()


def _output_difference(before: ProgramRun, after: ProgramRun, places: Mapping[str, str]) -> tuple[str, str] | None:
    for one, two in ((before.output, after.output), (before.errors, after.errors)):
        one, two = (without_versions(comparable(text, places)) for text in (one, two))
        if one == two:
            continue
        first, second = one.splitlines(), two.splitlines()
        for index in range(max(len(first), len(second))):
            b, a = (lines[index] if index < len(lines) else "" for lines in (first, second))
            if b != a:
                return b, a
        return one[-1:], two[-1:]  # the last line's end
    return None


def _change(
    before: ProgramRun,
    after: ProgramRun,
    comparison: Comparison,
    output: tuple[str, str] | None,
    error: Mapping[str, Any] | None,
) -> tuple[str, str | None]:
    """The reason, and its headline."""
    parting = comparison.parting
    if error is not None:
        headline = "the migrated program fails"
        return f"{headline}: {in_words(error)}", headline if parting is not None else None
    if parting is not None:
        return f"the results differ: {parting.what()}", "the results differ"
    if before.status != after.status:
        return f"{status_in_words(before.status)} before, {status_in_words(after.status)} after", None
    assert output is not None
    return f"the output differs: {output[0]!r} before, {output[1]!r} after", "the output differs"


def _change_advice(error: Mapping[str, Any] | None) -> str:
    if error is not None and error["error"] == "RecursionError":
        return "the guard kept a kernel from calling itself through the dispatcher; it can't be removed"
    return "look at the diff: the new guard means something else here"


def how_it_ended(run: ProgramRun) -> str:
    """The exit status in words, with the error that it ended with, or else the first line that it printed."""
    end = status_in_words(run.status)
    ended = run.first("ended") or {}
    if ended.get("error"):
        return f"{end}, {ended['error']}: {short(ended['message'])}"
    lines = (line.strip() for line in (run.output + run.errors).splitlines())
    said = next((line for line in lines if line and not line.startswith(_WARNING)), "")
    return f"{end}, after printing {said[:200]!r}" if said else end


_WARNING = "[W "
"""How c10's logger begins a warning, such as the old guard's."""


def status_in_words(status: int | None) -> str:
    if status is None:
        return "stopped"
    return f"exit status {status}" if status >= 0 else _signal(status)


def _signal(status: int) -> str:
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"
