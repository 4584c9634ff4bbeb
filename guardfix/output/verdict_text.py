"""The results of `guardfix verify` as text."""

from __future__ import annotations

from collections.abc import Iterator

from guardfix.pytorch_messages.message_lookup import message_in
from guardfix.pytorch_messages.message_table import brief_wording
from guardfix.runtime_shim.recording.guard_table import GuardCount

from ..foreign_text import printable
from ..verify.judging.guard_outcomes import GuardReach
from ..verify.judging.verdicts import Judgement, Verdict
from ..verify.verifying import Result
from .terminal_layout import TAB, cells, styling, wrapped
from .verdict_frame import frame_lines, verdict_frame

_VERDICT_COLORS = {
    Verdict.SAME: "green",
    Verdict.REPAIRED: "cyan",
    Verdict.STRICTER: "yellow",
    Verdict.CHANGED: "red",
    Verdict.NOT_RUN: "red",
    Verdict.NOT_REACHED: "red",
    Verdict.UNSUPPORTED: "magenta",
    Verdict.SKIPPED: "blue",
    Verdict.NOTHING: "blue",
}
_SHOWN = 3


def verdict_lines(result: Result, *, color: bool, width: int | None = None, verbose: bool = False) -> Iterator[str]:
    """The lines of one result: the verdict, the place in the code that it is about, and what to do.

    With `verbose`, everything that led to the verdict is below.
    """
    judgement, style = result.judgement, styling(color)
    shown = verdict_frame(result)
    row = f":{shown.row}" if shown is not None and shown.path == result.name and shown.row is not None else ""
    name = printable(f"{result.name}{row}" + (f" against {result.against}" if result.against else ""))
    verdict = str(judgement.verdict)
    colored = f"{name}: {style(verdict, fg=_VERDICT_COLORS[judgement.verdict], bold=True)}"
    first, *rest = wrapped(printable(judgement.brief), width, first=cells(f"{name}: {verdict}: "), indent=TAB)
    yield f"{colored}: {first}" if first else colored
    yield from rest
    margin = "" if shown is None or shown.row is None else " " * (len(str(shown.row)) - 1)
    if shown is not None:
        if shown.path != result.name:
            yield f" {margin}{style('-->', fg='blue')} {printable(shown.path)}:{shown.row}"
        yield from frame_lines(shown, style, width)
    remarks = [("do this:", advice)] if (advice := judgement.advice or _way_to_decide(result)) else []
    remarks += [("note:", line) for line in (result_reasons(result) if verbose else result.notes)]
    for title, text in remarks:
        head, gap = f"{margin}  {style('=', fg='blue')} {style(title, bold=True)} ", f"{margin}    "
        first, *rest = wrapped(printable(text), width, first=len(margin) + 5 + len(title), indent=f"{gap}    ")
        yield f" {head}{first}"
        yield from rest


def _way_to_decide(result: Result) -> str:
    """What to do about a guard that nothing was migrated for, because the code doesn't say what it is for."""
    left = result.migration.foremost if result.judgement.verdict is Verdict.NOTHING else None
    if left is None or not left.is_undecided:
        return ""
    return f"let runs decide which guard it becomes: `guardfix verify --decide {result.name}`"


def result_reasons(result: Result) -> list[str]:
    """Everything that led to a verdict, a sentence or two a line."""
    found = _reasons(result)
    found += _explained(found)
    if result.left_out:
        found.append(f"Left out of the copy of its directory: {result.left_out}, which are too many, or too large.")
    return found


def _reasons(result: Result) -> list[str]:
    judgement = result.judgement
    found = [_sentence(judgement.reason), *_guards(result)]
    found += [_sentence(note) for note in result.notes]
    if judgement.verdict.is_proof and judgement.verdict is not Verdict.SAME:
        found += _partings(judgement)
        if judgement.output is not None:
            before, after = judgement.output
            found.append(f"The output first differs at: {before!r} before, {after!r} after.")
    if result.after is not None:
        found += _unsafe(result)
    found += _left(result)
    return found


def _explained(lines: list[str]) -> Iterator[str]:
    """Where what PyTorch says in the lines is explained."""
    row = message_in("\n".join(lines))
    if row is not None:
        rules = f" ({', '.join(row.rules)})" if row.rules else ""
        yield f'What PyTorch says, and what cures it{rules}: `guardfix explain "{brief_wording(row.key)}"`.'


def _guards(result: Result) -> Iterator[str]:
    """How often each guard that counts was entered, and what ran below it."""
    found = [reach for reach in result.guards if reach.site.changed]
    for reach in sorted(found, key=lambda reach: reach.is_entered)[:_SHOWN]:
        yield f"{reach.site.guard} at {reach.site.where}: {_reach(reach)}."
    if len(found) > _SHOWN:
        entered = sum(reach.is_entered for reach in found)
        yield f"Of all {len(found)} migrated guards {entered} {'was' if entered == 1 else 'were'} entered."


def _reach(reach: GuardReach) -> str:
    if reach.before is None and reach.after is None:
        return "not counted"
    count = reach.before or reach.after
    assert count is not None
    after = reach.after if reach.before is not None else None
    if not count.entered:
        return "not entered" if after is None or not after.entered else f"only after the migration {_entered(after)}"
    below = _entered(count)
    if after is None or after == count:
        return below
    return f"{below}; after the migration {after.entered} and {after.ops}"


def _entered(count: GuardCount) -> str:
    times = "once" if count.entered == 1 else f"{count.entered} times"
    return f"entered {times}, {count.ops} op{'' if count.ops == 1 else 's'} below it"


def _unsafe(result: Result) -> Iterator[str]:
    """The unsafe fixes that are verified, which `migrate` takes only with `--unsafe`."""
    found = [fix for fix in result.migration.applied if fix.unsafe]
    for fix in found[:_SHOWN]:
        yield f"Migrated with `--unsafe`: {fix.place.in_words()}: {fix.message}."
    if len(found) > _SHOWN:
        yield f"And {len(found) - _SHOWN} more unsafe fixes."


def _left(result: Result) -> Iterator[str]:
    """What of the program is not migrated, a line a finding; where nothing is, the reason given first."""
    leading = result.migration.foremost if result.after is None else None
    found = [left for left in result.migration.left if left is not leading]
    for left in found[:_SHOWN]:
        yield f"Not migrated ({left.why}): {left.place.in_words()}: {left.message}."
    if len(found) > _SHOWN:
        yield f"Not migrated: {len(found) - _SHOWN} more; `guardfix check` lists them."


def _partings(judgement: Judgement) -> list[str]:
    comparison = judgement.comparison
    if comparison is None:
        return []
    first, parting = comparison.first, comparison.parting
    found = []
    if first is not None:
        found.append(f"The traces first differ at {first.where()}: {first.what()}.")
    if parting is not None and parting is not first:
        found.append(f"What the program sees first differs at {parting.where()}: {parting.what()}.")
    return found


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!")) else ".")
