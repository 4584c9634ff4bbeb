"""The one place in the code that a verdict is about, and the note on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from guardfix.regular_files import read_regular_text

from ..foreign_text import printable
from ..verify.judging.traces import in_words
from ..verify.judging.verdicts import Verdict
from ..verify.verifying import Result
from .terminal_layout import frame, wrapped


class VerdictFrame(NamedTuple):
    """A line of a file, where it is known, and what is below it."""

    path: str
    row: int | None
    said: tuple[tuple[str, str], ...]
    """Before and after, or something without a label."""


def verdict_frame(result: Result) -> VerdictFrame | None:
    """Where the runs diverge, what ended them, or the guard that was left out; None if there is no such place."""
    judgement = result.judgement
    if judgement.verdict in (Verdict.STRICTER, Verdict.CHANGED, Verdict.REPAIRED):
        return _parting(result)
    if judgement.verdict is Verdict.NOT_RUN:
        before, _ = result.judged_runs
        error = None if before is None else before.last_error
        return None if error is None else VerdictFrame(result.name, error["line"], (("", in_words(error)),))
    if judgement.verdict is Verdict.NOT_REACHED:
        idle = [reach.site for reach in result.guards if reach.site.changed and not reach.is_entered]
        if not idle:
            return None
        more = f", and {len(idle) - 1} more" if len(idle) > 1 else ""
        return VerdictFrame(idle[0].place.path, idle[0].place.row, (("", f"`{idle[0].guard}` is not entered{more}"),))
    left = result.migration.foremost if judgement.verdict is Verdict.NOTHING and result.after is None else None
    if left is None:
        return None
    return VerdictFrame(left.place.path, left.place.row, (("", f"{left.place.code}: {left.message}"),))


def _parting(result: Result) -> VerdictFrame | None:
    judgement = result.judgement
    parting = judgement.comparison.parting if judgement.comparison is not None else None
    if parting is not None:
        sides, row = parting.sides, (parting.before or {}).get("line")
    elif judgement.output is not None:
        before, after = map(repr, judgement.output)
        sides, row = (before, after), None
    else:
        return None
    return VerdictFrame(result.name, row, tuple(zip(("before", "after"), sides, strict=True)))


def frame_lines(shown: VerdictFrame, style: Callable[..., str], width: int | None) -> Iterator[str]:
    """The line of code with its number, and the notes below it, each beside a bar."""
    code = None if shown.row is None else _line_of(Path(shown.path), shown.row)
    margin, bar = " " * (1 if code is None else len(str(shown.row))), style("|", fg="blue")
    room = None if width is None else max(20, width - len(margin) - 4)
    if code is not None:
        yield f" {margin} {bar}"
        yield f" {style(str(shown.row), fg='blue')} {bar} {frame(code, 0, 0, room).code}"
    indent = max((len(label) + 2 for label, _ in shown.said if label), default=0)
    for label, text in shown.said:
        head = f"{label}:".ljust(indent) if label else ""
        first, *rest = wrapped(printable(text), room, first=len(head), indent=" " * indent)
        yield f" {margin} {bar} {style(head, bold=True) if head else ''}{first}"
        yield from (f" {margin} {bar} {line}" for line in rest)


def _line_of(path: Path, number: int) -> str | None:
    try:
        lines = read_regular_text(path, "replace").splitlines()
    except OSError:  # it is gone since it was run
        return None
    return lines[number - 1] if 0 < number <= len(lines) else None
