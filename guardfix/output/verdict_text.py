"""The results of `guardfix verify` as text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from guardfix.pytorch_messages.message_lookup import message_in
from guardfix.pytorch_messages.message_table import brief_wording
from guardfix.runtime_shim.recording.guard_table import GuardCount

from ..foreign_text import printable
from ..verify.guard_outcomes import GuardReach
from ..verify.traces import Parting
from ..verify.verdicts import Judgement, Verdict
from ..verify.verifying import Result
from .terminal_layout import styling, wrapped

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
    """The lines of one result: the program with its verdict, the reason, where the runs part, and what to do.

    With `verbose`, everything that led to the verdict.
    """
    verdict = result.judgement.verdict
    name = printable(result.name + (f" against {result.against}" if result.against else ""))
    yield f"{name}: {styling(color)(str(verdict), fg=_VERDICT_COLORS[verdict], bold=True)}"
    for line in result_reasons(result) if verbose else _brief(result):
        first, *more = wrapped(printable(line), width, first=2, indent=" " * (len(line) - len(line.lstrip()) + 4))
        yield f"  {first}"
        yield from more


def _brief(result: Result) -> Iterator[str]:
    judgement = result.judgement
    yield _sentence(judgement.reason)
    if judgement.verdict not in (Verdict.SAME, Verdict.REPAIRED):
        yield from (f"{reach.site.guard} at {reach.site.where}: {_reach(reach)}." for reach in _unentered(result))
    yield from map(_sentence, result.notes)
    parting = judgement.comparison.parting if judgement.comparison is not None else None
    if parting is not None and judgement.verdict in (Verdict.STRICTER, Verdict.CHANGED, Verdict.REPAIRED):
        yield from _frame(result, parting)
    if judgement.advice:
        yield f"= do this: {judgement.advice}"
    yield from (f"= {line[:1].lower()}{line[1:]}" for line in _explained(_reasons(result)))


def _unentered(result: Result) -> list[GuardReach]:
    return [reach for reach in result.guards if reach.site.changed and not reach.is_entered][:_SHOWN]


def _frame(result: Result, parting: Parting) -> Iterator[str]:
    """The line of the program at which the runs part, where it is known, and what either run does there."""
    line = (parting.before or {}).get("line")
    code = _line_of(result.program.path, line) if isinstance(line, int) else None
    gutter = " " * len(str(line)) if code is not None else ""
    if code is not None:
        yield f"{line} | {code}"
    if parting.sides is None:
        yield f"{gutter} | {parting.what()}"
        return
    for side, what in zip(("before: ", "after:  "), parting.sides, strict=True):
        yield f"{gutter} | {side}{what}"


def _line_of(path: Path, number: int) -> str | None:
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:  # it is gone since it was run
        return None
    return lines[number - 1].strip() if 0 < number <= len(lines) else None


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
    if judgement.advice:
        found.append(f"What to do: {judgement.advice}.")
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
    """What of the program is not migrated, a line a finding; where nothing is, the reason told the first."""
    told = result.migration.foremost if result.after is None else None
    found = [left for left in result.migration.left if left is not told]
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
