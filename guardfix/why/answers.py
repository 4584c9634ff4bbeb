"""The whole answer to "why?": the message, where and how it came about, and what cures it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from guardfix.codemods.apply.rewriting import Rewrite, apply_edits
from guardfix.linter.decision.event_words import presumption
from guardfix.linter.facts import Facts
from guardfix.linter.files.workspace import DISK, Workspace
from guardfix.linter.flow.events import Event, EventKind
from guardfix.linter.flow.function_transforms import CHECKPOINT
from guardfix.pytorch_messages.message_table import KnownMessage, known_messages

from .causes import ErrorCause, find_cause
from .cures import ChosenCure, cures_for
from .program_addresses import frames_at_addresses
from .source_files import find_sources
from .tracebacks import StackFrame, Traceback, read_traceback


class ErrorAnswer(NamedTuple):
    """What `guardfix why` knows of an error."""

    traceback: Traceback
    message: KnownMessage
    cause: ErrorCause
    cures: tuple[ChosenCure, ...]
    looked_through: int
    """How many files were looked through."""

    @property
    def place(self) -> StackFrame | None:
        """Where the user's code was when it happened."""
        event = self.cause.event
        if event is not None and (self.traceback.cpp or not self.cause.frames):
            # A backtrace of C++ names functions, not rows.
            return StackFrame(event.path, self.cause.files[event.path].row(event.span.start), "")
        if self.cause.frames:
            return self.cause.frames[-1]
        return self.traceback.frames[-1] if self.traceback.frames else None


def answer_for(text: str, paths: Sequence[str] = (), workspace: Workspace = DISK) -> ErrorAnswer | None:
    """What an error's text says, with the source below `paths`, or of the files that it names; None for other errors.

    Raises `NoSuchPath`.
    """
    traceback = read_traceback(text)
    message = traceback.message
    if message is None:
        return None
    if traceback.cpp and (frames := frames_at_addresses(text)):
        traceback = traceback._replace(frames=frames)
    sources = find_sources(traceback.frames, paths, workspace, cpp=traceback.cpp)
    cause = find_cause(traceback, sources, workspace)
    if cause.event is not None and cause.event.guard is not None and cause.event.guard.name == CHECKPOINT:
        message = known_messages()["checkpoint-without-gradients"]  # no guard is to blame, and no cure of one helps
    cures = tuple(cures_for(message, cause, workspace))
    # What can be applied comes first.
    ordered = tuple(sorted(cures, key=lambda cure: not cure.edits))
    return ErrorAnswer(traceback, message, cause, ordered, sources.listed)


def story_lines(event: Event, files: dict[str, Facts] | ErrorCause) -> Iterator[str]:
    """The steps of an event, one line each."""
    known = files.files if isinstance(files, ErrorCause) else files
    for number, step in enumerate(event.steps, 1):
        yield f"{number}. {step.message} ({step.path}:{known[step.path].row(step.span.start)})"


def subject_of(answer: ErrorAnswer) -> str:
    """What the tensor is and what is done with it, in a sentence; what is open around the frames where that isn't
    known; empty where nothing is."""
    event = answer.cause.event
    if event is None:
        return _guards_in_words(answer)
    if event.kind is EventKind.BACKWARD_IN_INFERENCE:
        return f"`{event.variable}` ran in inference mode: {event.what}{presumption(event)}"
    if not event.variable and event.steps:
        return f"{event.steps[-1].message}{presumption(event)}"
    name = f"`{event.variable}`" if event.variable else "the tensor"
    if answer.message.blames == "inference":
        return f"{name} is an inference tensor: {event.what}{presumption(event)}"
    return f"{name}: {event.what}{presumption(event)}"


def _guards_in_words(answer: ErrorAnswer) -> str:
    guards, inside = answer.cause.guards, answer.cause.unrecorded
    if inside is not None:
        name = inside.function.rpartition(".")[2]
        return (
            f"line {inside.row} of {inside.path} is in `{name}` of an autograd Function, which PyTorch calls without "
            "recording"
        )
    if not guards:
        return ""
    around = [one for one in guards if one.frame is not None]
    if around:
        open_guards = "; ".join(
            f"`{one.use.written}` of {one.path}:{one.row} is in force at line {one.frame.row}"
            for one in around
            if one.frame is not None
        )
        return f"a guard is open on the way to the error: {open_guards}"
    shown = ", ".join(f"{one.path}:{one.row}" for one in guards[:_MOST_GUARDS])
    more = f" and {len(guards) - _MOST_GUARDS} more" if len(guards) > _MOST_GUARDS else ""
    what = "inference mode begins" if answer.message.blames == "inference" else "a guard begins"
    nearest = f"the nearest place where {what} is" if len(guards) == 1 else f"the nearest places where {what} are"
    return f"the way of the tensor couldn't be followed; {nearest} {shown}{more}"


_MOST_GUARDS = 4


def brief_answer(text: str, paths: Sequence[str] = ()) -> Iterator[str]:
    """The answer in brief, to follow a traceback."""
    answer = answer_for(text, paths)
    if answer is None:
        return
    subject = subject_of(answer)
    event = answer.cause.event
    made = (
        next((step for step in reversed(event.steps[:-1]) if step.message.endswith("tensor")), None) if event else None
    )
    if made is not None:
        subject += f"; it was made at {made.path}:{answer.cause.files[made.path].row(made.span.start)}"
    if event is not None and event.guard is not None and event.guard.path in answer.cause.files:
        row = answer.cause.files[event.guard.path].row(event.guard.span.start)
        subject += f", under the guard of {event.guard.path}:{row}"
    place = answer.place
    if place is not None and answer.traceback.cpp and event is not None:
        subject = f"{place.path}:{place.row}: {subject}"  # a backtrace names functions, not rows
    if subject:
        yield f"guardfix: {subject}"
    yield "guardfix: for the way there and the changes that cure it, pipe this output to `guardfix why`"
    said = re.split(r"\. |\.(?=You )", answer.traceback.line)[0].replace('"', "'")
    yield f'guardfix: for what it means, guardfix explain "{said}"'


def rewrite_of(cure: ChosenCure, workspace: Workspace = DISK) -> Rewrite:
    """What a cure's edits make of its file."""
    source = workspace.read(cure.path)
    return Rewrite(source, apply_edits(source.text, cure.edits), edits=list(cure.edits))
