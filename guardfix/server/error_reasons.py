"""Why a line raises: where the tensor comes from, and the changes that cure it, as actions of the editor.

The errors are those that the abstract machine foresees, and those that others tell of: a test runner that shows
PyTorch's message at the line.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lsprotocol.types import CodeAction, CodeActionKind, Command, Diagnostic, Position, Range

from guardfix.linter.flow.events import MESSAGES
from guardfix.pytorch_messages.message_lookup import message_in
from guardfix.pytorch_messages.message_table import KnownMessage, known_messages
from guardfix.why.answers import ErrorAnswer, story_lines, subject_of
from guardfix.why.causes import cause_among
from guardfix.why.cures import cures_for
from guardfix.why.tracebacks import StackFrame, Traceback

from .document_checks import CheckedText
from .editor_edits import edited

SHOW_WHY = "guardfix.why"


class LineError(NamedTuple):
    """An error of PyTorch at a row of an open text."""

    message: KnownMessage
    row: int


def errors_in(checked: CheckedText, where: Range, reported: Sequence[Diagnostic]) -> Iterator[LineError]:
    """The errors reported at the lines of a range, and those that the machine is certain of."""
    found: dict[LineError, None] = {}
    for diagnostic in reported:
        message = message_in(diagnostic.message) if diagnostic.source != "guardfix" else None
        if message is not None:
            found[LineError(message, diagnostic.range.start.line + 1)] = None
    lines = checked.lines_of(checked.document.path)
    seen = checked.seen_around(lines.offset(where.start))
    for event in seen.events if seen is not None else ():
        row = checked.row(event.path, event.span) if event.path == checked.document.path else 0
        if event.kind in MESSAGES and event.certain and where.start.line < row <= where.end.line + 1:
            found[LineError(known_messages()[MESSAGES[event.kind]], row)] = None
    yield from found


def answer_to(error: LineError, checked: CheckedText) -> ErrorAnswer | None:
    """What is known of an error; None where the text isn't read."""
    path, files = checked.document.path, checked.program
    lines = checked.lines_of(path)
    seen = checked.seen_around(lines.offset(Position(error.row - 1, 0)))
    if seen is None:
        return None
    frame = StackFrame(path, error.row, "")
    is_cpp = files[path].language == "cpp"
    code = lines.data.splitlines()[error.row - 1].decode("utf-8", "replace")
    traceback = Traceback(error.message, error.message.title, (frame,), is_cpp, code)
    cause = cause_among(seen.events, traceback, (frame,), files)
    cures = tuple(cures_for(error.message, cause, checked.report.workspace))
    return ErrorAnswer(traceback, error.message, cause, cures, len(files))


def why_text(key: str, row: int, checked: CheckedText) -> str | None:
    """The answer to an error as text."""
    answer = answer_to(LineError(known_messages()[key], row), checked)
    if answer is None:
        return None
    lines = [answer.message.title]
    subject = subject_of(answer)
    if subject:
        lines += ["", f"{subject[:1].upper()}{subject[1:]}."]
    if answer.cause.event is not None:
        lines += story_lines(answer.cause.event, answer.cause)
    lines += ["", answer.message.cause, "", "What cures it:"]
    lines += (f"{number}. {cure.change} (cost: {cure.cost})" for number, cure in enumerate(answer.cures, 1))
    return "\n".join(lines).replace(os.path.join(os.path.dirname(checked.document.path), ""), "")


def why_actions(checked: CheckedText, errors: Iterable[LineError]) -> Iterator[CodeAction]:
    """For each error: its story, and the changes that can be made."""
    for error in errors:
        answer = answer_to(error, checked)
        if answer is None:
            continue
        arguments = [checked.document.uri, error.message.key, error.row]
        yield CodeAction(
            title=f"guardfix: why “{error.message.title}”?",
            kind=CodeActionKind.QuickFix,
            command=Command("Say where the error comes from", SHOW_WHY, arguments=arguments),
        )
        for cure in answer.cures:
            if cure.edits:
                yield CodeAction(
                    title=f"guardfix: {cure.change.replace(checked.document.path, 'line')} (cost: {cure.cost})",
                    kind=CodeActionKind.QuickFix,
                    edit=edited(checked, cure.path, cure.edits),
                )
