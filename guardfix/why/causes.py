"""Which event of an abstract run an error is, and what else the source says about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from guardfix.linter.facts import Facts, Form, GuardUse
from guardfix.linter.facts.python_uses import use_behind
from guardfix.linter.files.workspace import Workspace
from guardfix.linter.flow.events import MESSAGES, Event, EventKind
from guardfix.linter.flow.frame_runs import FramePlace, PatientMachine, function_at, run_from_frames
from guardfix.linter.flow.function_transforms import CHECKPOINT
from guardfix.linter.flow.program import File, ProjectCode
from guardfix.linter.guards import CPP, PYTHON, Effect

from .source_files import ErrorSources, read_for_guards, read_whole
from .tracebacks import StackFrame, Traceback

_ALSO = {
    "inference-tensor-saved": (EventKind.CACHE_READ, EventKind.INFERENCE_RESULT),
    "inference-tensor-written": (EventKind.BACKWARD_IN_INFERENCE, EventKind.INFERENCE_DATA, EventKind.CACHE_READ),
    "inference-tensor-version": (EventKind.INFERENCE_DATA,),
    "input-requires-no-grad": (EventKind.NOT_RECORDED,),
    "gradient-not-kept": (EventKind.GRADIENT_EXPECTED, EventKind.NOT_RECORDED),
    "gradient-is-none": (EventKind.INFERENCE_DATA, EventKind.NOT_RECORDED),
}
"""Events that may be behind a message besides the one that has its words."""


class OpenGuard(NamedTuple):
    """A guard that is open where a frame was, or under which the tensor may have been made."""

    use: GuardUse
    path: str
    row: int
    frame: StackFrame | None


class ErrorCause(NamedTuple):
    """What the source says about an error."""

    event: Event | None
    guards: tuple[OpenGuard, ...]
    """Without an event: the guards that are open around the frames, or else those that could be to blame."""
    files: Mapping[str, Facts]
    """What was read."""
    frames: tuple[StackFrame, ...]
    events: tuple[Event, ...] = ()
    """All that the run has shown."""
    elsewhere: tuple[Event, ...] = ()
    """Where no frame says which one it was: others that have the same message."""
    unrecorded: StackFrame | None = None
    """The frame in `forward` or `backward` of an autograd Function, which PyTorch calls without recording."""


def find_cause(traceback: Traceback, sources: ErrorSources, workspace: Workspace) -> ErrorCause:
    """Run the program from the frames on, and find what the error is about."""
    whole = {path: read_whole(path, workspace) for path in sources.files}
    read = {**whole, **{path: read_for_guards(path, workspace) for path in sources.others}}
    files = {path: facts for path, facts in read.items() if facts is not None}
    return cause_among(events_of(files, sources.frames), traceback, sources.frames, files)


def cause_among(
    events: tuple[Event, ...], traceback: Traceback, frames: tuple[StackFrame, ...], files: Mapping[str, Facts]
) -> ErrorCause:
    """What of a run's events an error is about, and what else the files say about it."""
    event = _chosen(events, traceback, frames, files)
    if event is not None and event.guard is not None and event.guard.is_engine and event.guard.name != CHECKPOINT:
        event = None  # no guard is to blame: the frame tells
    guards = () if event is not None else tuple(_guards_around(traceback, frames, files))
    unrecorded = None
    if event is None and traceback.message is not None and traceback.message.key == "nothing-recorded":
        unrecorded = next((frame for frame in reversed(frames) if _is_of_function(frame, files)), None)
    elsewhere = () if event is None or frames else tuple(_others_like(event, events))
    return ErrorCause(event, guards, files, frames, events, elsewhere, unrecorded)


def _others_like(event: Event, events: Sequence[Event]) -> Iterator[Event]:
    """The events at other places that raise what this one does."""
    seen = {(event.path, event.span)}
    for one in events:
        if one.kind is event.kind and one.certain >= event.certain and (one.path, one.span) not in seen:
            seen.add((one.path, one.span))
            yield one


def _is_of_function(frame: StackFrame, files: Mapping[str, Facts]) -> bool:
    facts = files.get(frame.path)
    owner, body = function_at(File(facts, 0, {}), frame.row) if facts is not None else (None, None)
    if owner is None or body is None or body.name not in ("forward", "backward"):
        return False
    return any(str(base).endswith("Function") for base in owner.bases)


def events_of(files: Mapping[str, Facts], frames: Sequence[StackFrame]) -> tuple[Event, ...]:
    """What an abstract run of the files shows."""
    machine = PatientMachine(ProjectCode(files.values()))
    run_from_frames(machine, [FramePlace(frame.path, frame.row) for frame in frames])
    return tuple(machine.events.values())


def kinds_for(key: str) -> tuple[EventKind, ...]:
    """The events that a message may be about, the likeliest first."""
    return (*(kind for kind, said in MESSAGES.items() if said == key), *_ALSO.get(key, ()))


def _chosen(
    events: Sequence[Event], traceback: Traceback, frames: Sequence[StackFrame], files: Mapping[str, Facts]
) -> Event | None:
    """The event that the message and the frames fit best."""
    if traceback.message is None:
        return None
    kinds = kinds_for(traceback.message.key)
    inner_first = [(frame.path, frame.row) for frame in reversed(frames)]
    functions = {_function_of(*place, files) for place in inner_first}
    steps = not frames or _STEPS.search(traceback.code) is not None
    ranked = []
    for event in events:
        if event.kind not in kinds or (event.kind is EventKind.BACKWARD_IN_INFERENCE and not steps):
            continue
        rows = files[event.path].rows(event.span)
        at = next((n for n, (path, row) in enumerate(inner_first) if path == event.path and row in rows), _ELSEWHERE)
        if at == _ELSEWHERE and frames and _function_of(event.path, rows.start, files) not in functions:
            if event.kind is kinds[0] and not traceback.cpp:
                continue  # the traceback says where it was raised, and that is not here
            at += 1
        ranked.append(((at, kinds.index(event.kind), not event.certain, event.path, event.span), event))
    return min(ranked, key=lambda pair: pair[0])[1] if ranked else None


_STEPS = re.compile(r"\b(?:step|backward|zero_grad)\b")
"""What meets a gradient or a state that was made in inference mode."""


_ELSEWHERE = 1000
"""More than a traceback has frames."""


def _function_of(path: str, row: int, files: Mapping[str, Facts]) -> object:
    facts = files.get(path)
    if facts is None:
        return None
    _, body = function_at(File(facts, 0, {}), row)
    return (path, body.span) if body is not None else None


def _guards_around(traceback: Traceback, frames: Sequence[StackFrame], files: Mapping[str, Facts]) -> list[OpenGuard]:
    """The guards that may be to blame: those open where the frames were, or else those that are nearest to them."""
    blames = traceback.message.blames if traceback.message is not None else ""
    if not blames:
        return []
    ranked = []
    for path, facts in files.items():
        for use in facts.guard_uses:
            effect = _effect(use, facts)
            wanted = effect is Effect.INFERENCE if blames == "inference" else effect not in (Effect.NEIGHBOUR, None)
            if not wanted or use.form not in _OPENING or is_off(use, facts):
                continue
            here = [frame for frame in frames if frame.path == path]
            row = facts.row(use.type_span.start)
            open_ = next((frame for frame in here if _covers(use, frame.row, facts)), None)
            if open_ is not None and blames == "any":
                ranked.append((0, OpenGuard(use, path, row, open_)))
                continue
            ranked.append((_distance(path, row, here, files), OpenGuard(use, path, row, None)))
    nearest = min((rank for rank, _ in ranked), default=0)
    return [guard for rank, guard in ranked if rank == nearest]


_OPENING = frozenset({Form.DECLARATION, Form.AUTO, Form.HEAP, Form.OPTIONAL, Form.MEMBER, Form.WITH, Form.DECORATOR})
"""The forms in which a guard is entered where it is."""


def _distance(path: str, row: int, frames: Sequence[StackFrame], files: Mapping[str, Facts]) -> int:
    """How near a row is to the frames of its file: in their function, in their class, in the file, or apart."""
    if not frames:
        return 4
    file = File(files[path], 0, {})
    owner, body = function_at(file, row)
    for frame in reversed(frames):
        frame_owner, frame_body = function_at(file, frame.row)
        if body is not None and body is frame_body and row < frame.row:
            return 1
        if owner is not None and owner is frame_owner:
            return 2
    return 3


def is_off(use: GuardUse, facts: Facts) -> bool:
    """Whether a guard switches its mode off: `inference_mode(False)`, `set_grad_enabled(True)` …"""
    if use.guard in ("enable_grad",):
        return True
    python_use = use_behind(facts, use) if facts.python is not None else None
    if use.guard in ("set_grad_enabled", "AutoGradMode"):
        value = python_use.mode if python_use is not None else use.argument.value if use.argument is not None else None
        return value is True
    return (python_use is not None and python_use.mode is False) or (
        use.argument is not None and use.argument.value is False
    )


def _effect(use: GuardUse, facts: Facts) -> Effect | None:
    table = PYTHON if facts.language == "python" else CPP
    row = table.get(use.guard)
    return row.effect if row is not None else None


def _covers(use: GuardUse, row: int, facts: Facts) -> bool:
    """Whether a guard is open at a row, as its block or its function says it."""
    if use.form is Form.IMPORT:
        return False
    if use.form is Form.DECORATOR and facts.python is not None:
        python_use = use_behind(facts, use)
        return (
            python_use is not None and python_use.decorated is not None and row in facts.rows(python_use.decorated.span)
        )
    live = use.scope if facts.language == "python" else use.live
    return row in facts.rows(live) and row > facts.row(use.type_span.start)
