"""`guardfix migrate --interactive`: each open use is shown, and a key decides it; nothing is written here."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from ..foreign_text import printable
from ..output.finding_places import place_from
from ..output.plain_echo import echo
from ..output.terminal_layout import displayable, styling, wrapped
from ..wording import count_of

if TYPE_CHECKING:
    from guardfix.codemods.apply.personal_choices import Offer
    from guardfix.codemods.fixable import FixableFinding, FixableReport
    from guardfix.linter.facts.intents import Purpose
    from guardfix.linter.findings import Evidence

_KEYS = {"inference": "i", "kernel": "k", "below_autograd": "b", "remove": "r"}
_WHAT = {
    "inference": "a model is run, and nothing here needs gradients",
    "kernel": "an autograd kernel that calls the dispatcher again",
    "below_autograd": "what the old guard does since torch 1.9: versions are counted, views tracked",
    "remove": "no guard",
}
_SKIP, _ALL, _QUIT, _UNDO, _HELP = "s", "a", "q", "u", "?"
_ENTER = ("\r", "\n")
_HELP_TEXT = """\
  a letter  writes that replacement for this use
  Enter     takes the one that is marked; where none is, skips the use
  s         leaves this use as it is; the next run asks again
  a         lets the next key count for all uses that are left in this file
  u         goes back to the use before, and forgets what was chosen there
  q         stops asking: what was chosen so far can be written, and the next run asks about the rest
  Ctrl-C    ends, and writes nothing; the next run goes on from here"""
_AROUND = 4
"""Rows of code that are shown above and below a use."""
_SHOWN_EVIDENCE = 6


@dataclass
class _Answers:
    chosen: dict[tuple[str, int], Purpose] = field(default_factory=dict)
    for_file: dict[str, str] = field(default_factory=dict)
    """Path -> the key that answers for all that is left in the file."""


def need_terminal() -> None:
    """Raises `click.UsageError` unless standard input and standard error are a terminal."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError("--interactive needs a terminal; without one, declare in comments what guards are for")


def ask_for_choices(report: FixableReport, *, color: bool) -> dict[tuple[str, int], Purpose]:
    """Ask about each use that the run leaves open; what was chosen, by the file and the place of the use.

    Raises `click.Abort` at Ctrl-C; what was chosen until then is kept for the next run.
    """
    from guardfix.codemods.apply.personal_choices import offers, open_uses

    from .interrupted_choices import keep_choices, kept_choices

    uses = open_uses(report)
    answers = _Answers(kept_choices(report))
    if answers.chosen:
        echo(f"{count_of(len(answers.chosen), 'choice')} of the interrupted run taken up; u goes back", err=True)
    asked: list[int] = []
    """The uses that were asked about, for going back."""
    number = 0
    while number < len(uses):
        finding = uses[number]
        if (finding.path, finding.span.start) in answers.chosen:
            asked.append(number)
            number += 1
            continue
        offered = {_KEYS[offer.purpose]: offer for offer in offers(finding, report)}
        key = answers.for_file.get(finding.path, "")
        if key not in offered and key != _SKIP:
            likeliest = _likeliest(finding, offered)
            _show(finding, report, offered, f"[{number + 1}/{len(uses)}]", likeliest, color=color)
            key = _answer(finding.path, offered, answers, likeliest, can_undo=bool(asked))
            if key == _UNDO:
                number = asked.pop()
                before = uses[number]
                answers.chosen.pop((before.path, before.span.start), None)
                answers.for_file.pop(before.path, None)
                keep_choices(answers.chosen, report)
                continue
            asked.append(number)
        if key == _QUIT:
            break
        if key in offered:
            answers.chosen[finding.path, finding.span.start] = offered[key].purpose
            keep_choices(answers.chosen, report)
        number += 1
    return answers.chosen


def _likeliest(finding: FixableFinding, offered: Mapping[str, Offer]) -> str:
    """The key of the replacement that most reasons speak for; empty where none does, or several do."""
    assert finding.decision is not None
    decided = _KEYS.get(finding.decision.context.value, "")
    if decided in offered:
        return decided
    counts = Counter(
        _KEYS[reason.side.context.value]
        for reason in finding.decision.evidence
        if reason.side is not None and reason.side.context is not None
    )
    ranked = [(key, count) for key, count in counts.most_common() if key in offered]
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return ""
    return ranked[0][0]


def confirm_writing(files: int, show_diff: Callable[[], object]) -> bool:
    """Ask whether to write; `d` shows the diff first."""
    while True:
        echo(f"Write {count_of(files, 'file')}? [y]es, [n]o, show the [d]iff: ", nl=False, err=True)
        key = click.getchar()
        echo(key, err=True)
        if key in "yn":
            return key == "y"
        if key == "d":
            show_diff()


def _answer(path: str, offered: Mapping[str, Offer], answers: _Answers, likeliest: str, *, can_undo: bool) -> str:
    """The key that was pressed for one use; `a` makes the next one count for the rest of the file."""
    whole_file = False
    while True:
        echo("all in this file: " if whole_file else "? ", nl=False, err=True)
        key = click.getchar().lower()
        if key in _ENTER:
            key = likeliest or _SKIP
        echo(displayable(key), err=True)
        if key == _ALL and not whole_file:
            whole_file = True
        elif key in offered or key == _SKIP:
            if whole_file:
                answers.for_file[path] = key
            return key
        elif key == _QUIT or (key == _UNDO and can_undo):
            return key
        elif key == _HELP:
            echo(_HELP_TEXT, err=True)
        elif key == _UNDO:
            echo("there is nothing to go back to", err=True)
        else:
            keys = (*offered, _SKIP, _ALL, *([_UNDO] if can_undo else []), _QUIT)
            echo(f"press one of {', '.join(keys)}; ? explains them", err=True)


def _show(
    finding: FixableFinding,
    report: FixableReport,
    offered: Mapping[str, Offer],
    count: str,
    likeliest: str,
    *,
    color: bool,
) -> None:
    """The use: its code, the evidence by side, the replacements with what each may change, the keys."""
    width = max(40, shutil.get_terminal_size().columns)
    start = report.start(finding)
    lines = ["", _bold(f"{count} {printable(finding.path)}:{start.row}:{start.column}", color)]
    lines += _code(finding, report, width, color=color)
    lines += _evidence(finding, width)
    for key, offer in offered.items():
        name = offer.replacement or "remove it"
        mark = " (likeliest; Enter)" if key == likeliest else ""
        lines += _indented(f"  {_bold(key, color)}  ", f"{name}{mark}: {_WHAT[offer.purpose]}", width, "     ")
        lines += _changed(finding, report, offer)
        _, *doubts = offer.fix.message.split("; ")
        for doubt in doubts:
            lines += _indented("     but ", doubt, width, "         ")
    if not offered:
        lines.append("  no replacement can be written here: change it by hand")
    lines.append(
        f"  {_bold(_SKIP, color)}  skip    {_bold(_ALL, color)}  the same for all in this file    "
        f"{_bold(_UNDO, color)}  undo    {_bold(_HELP, color)}: help    {_bold(_QUIT, color)}  stop asking"
    )
    echo("\n".join(lines), err=True)


def _changed(finding: FixableFinding, report: FixableReport, offer: Offer) -> list[str]:
    """The lines that a choice takes and those that it writes."""
    from guardfix.codemods.apply.rewriting import apply_edits
    from guardfix.codemods.apply.unified_diff import lines_between

    source = report.unchanged(finding.path)
    if source is None:
        return []
    lines = lines_between(source.text, apply_edits(source.text, offer.fix.edits))
    return [f"       {displayable(line)}".rstrip() for line in lines]


def _code(finding: FixableFinding, report: FixableReport, width: int, *, color: bool) -> list[str]:
    source = report.unchanged(finding.path)
    if source is None:
        return []
    row = source.row(finding.span.start)
    rows = range(max(1, row - _AROUND), min(len(source.line_starts), row + _AROUND) + 1)
    margin = len(str(rows[-1]))
    found = []
    for each in rows:
        mark = ">" if each == row else " "
        line = f"{mark} {each:>{margin}} | {displayable(source.line(each))}"[:width].rstrip()
        found.append(_bold(line, color) if each == row else line)
    return found


def _evidence(finding: FixableFinding, width: int) -> list[str]:
    assert finding.decision is not None
    sides: dict[str, list[Evidence]] = {}
    for reason in finding.decision.evidence:
        title = "note" if reason.side is None else f"for {reason.side.value}".replace("for against_", "against ")
        sides.setdefault(title, []).append(reason)
    if not sides:
        return ["  nothing nearby says what it is for"]
    found = []
    for title, reasons in sides.items():
        found.append(f"  {title}:")
        for reason in reasons[:_SHOWN_EVIDENCE]:
            place = place_from(reason.path, reason.row, finding.path)
            found += _indented("    ", f"{reason.message} ({place})", width, "      ")
        if len(reasons) > _SHOWN_EVIDENCE:
            found.append(f"    and {len(reasons) - _SHOWN_EVIDENCE} more")
    return found


def _indented(lead: str, text: str, width: int, indent: str) -> list[str]:
    """The text broken to fit, its first line after `lead` and the others after `indent`."""
    first, *rest = wrapped(text, width, first=len(indent), indent=indent)
    return [lead + first, *rest]


def _bold(text: str, color: bool) -> str:
    return styling(color)(text, bold=True)
