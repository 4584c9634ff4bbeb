"""The changes that cure an error, as edits of the user's files where that can be done, each tried on the machine."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from guardfix.codemods.apply.rewriting import apply_edits
from guardfix.codemods.edits.statements import indentation, line_end, line_start, newline_of
from guardfix.codemods.fix import Edit, insertion
from guardfix.codemods.fixable import fixes_for
from guardfix.linter import guards
from guardfix.linter.engine import Options, check
from guardfix.linter.facts import Facts, Form, GuardUse, Span
from guardfix.linter.facts.expressions import is_unqualified, last_name, renamed
from guardfix.linter.facts.python_uses import use_behind
from guardfix.linter.files.workspace import Workspace
from guardfix.linter.findings import Applicability
from guardfix.linter.flow.events import Event
from guardfix.linter.flow.frame_runs import function_at
from guardfix.linter.flow.function_transforms import CHECKPOINT
from guardfix.linter.flow.program import File
from guardfix.pytorch_messages.message_table import Cure, KnownMessage

from .causes import ErrorCause, events_of
from .source_files import read_whole


class ChosenCure(NamedTuple):
    """A cure of a message, for this place in this program."""

    change: str
    cost: str
    path: str = ""
    edits: tuple[Edit, ...] = ()
    """Empty for a change that a person has to make."""


def cures_for(message: KnownMessage, cause: ErrorCause, workspace: Workspace) -> Iterator[ChosenCure]:
    """The message's cures; those that can be edits and that the machine agrees with come with their edits."""
    found = list(_found_by_rules(message, cause, workspace))
    yield from found
    for cure in message.cures:
        if cure.kind == "rule" and any(one.edits for one in found):
            continue
        made = _made(cure, cause, workspace)
        yield made if made is not None else ChosenCure(cure.change, cure.cost)


def _made(cure: Cure, cause: ErrorCause, workspace: Workspace) -> ChosenCure | None:
    at_place = _AT_PLACE.get(cure.kind)
    if at_place is not None:
        return at_place(cause, workspace, cure.cost)
    event = cause.event
    if event is None:
        likely = _LIKELY.get(cure.kind)
        return likely(cause, cure, workspace) if likely is not None else None
    make = _MAKERS.get(cure.kind)
    found = make(event, cause, workspace) if make is not None else None
    if found is None or not _helps(found, event, cause, workspace):
        return None
    return found._replace(cost=found.cost or cure.cost)


def _likely_no_grad(cause: ErrorCause, cure: Cure, workspace: Workspace) -> ChosenCure | None:
    """`no_grad` for the only guard that can be to blame, where the tensor's way isn't known."""
    if len(cause.guards) != 1:
        return None
    (guard,) = cause.guards
    made = _other_guard(guard.use, cause.files[guard.path], guards.NO_GRAD, "NoGradGuard")
    if made is None:
        return None
    edit, instead = made
    change = f"likely: `{instead}` in place of `{guard.use.written}` at {guard.path}:{guard.row}"
    return ChosenCure(change, cure.cost, guard.path, (edit,))


def _helps(cure: ChosenCure, event: Event, cause: ErrorCause, workspace: Workspace) -> bool:
    """Whether an abstract run with the edits no longer shows the event, and shows nothing else that it didn't."""
    source = workspace.read(cure.path)
    changed = Workspace.over_disk({cure.path: source.encode(apply_edits(source.text, cure.edits))})
    facts = read_whole(cure.path, changed)
    if facts is None or facts.partial:
        return False
    files = {**cause.files, cure.path: facts}
    frames = [
        frame._replace(row=frame.row + _lines_above(cure, frame.row, source.text)) if frame.path == cure.path else frame
        for frame in cause.frames
    ]
    before = Counter((one.kind, one.path, one.certain) for one in cause.events)
    after = Counter((one.kind, one.path, one.certain) for one in events_of(files, frames))
    mine = (event.kind, event.path, event.certain)
    return after[mine] < before[mine] and not after - before


def _lines_above(cure: ChosenCure, row: int, text: bytes) -> int:
    """How far the edits move a row down."""
    above = [edit for edit in cure.edits if text.count(b"\n", 0, edit.span.start) + 1 <= row]
    return sum(edit.content.count("\n") for edit in above)


# -- the guard


def _guard_use(event: Event, files: Mapping[str, Facts]) -> tuple[GuardUse, Facts] | None:
    """The guard that brings the event about."""
    if event.guard is None or event.guard.path not in files:
        return None
    facts = files[event.guard.path]
    for use in facts.guard_uses:
        near = use.type_span.holds(event.guard.span) or event.guard.span.holds(use.type_span)
        if near and use.form is not Form.IMPORT and use.guard == event.guard.name:
            return use, facts
    return None


def _other_guard(use: GuardUse, facts: Facts, python: str, cpp: str) -> tuple[Edit, str] | None:
    """The edit that writes another guard in the place of one, and the new guard as it is written."""
    if use.alias is not None or use.under_error or use.macro is not None or use.shared:
        return None
    if facts.language == "python":
        python_use = use_behind(facts, use)
        if python_use is None or is_unqualified(use.named) or python_use.mode is False:
            return None
        instead = f"{renamed(use.named, python)}()"
        return Edit(Span(use.type_span.start, python_use.call_span.end), instead), instead
    given = use.argument is not None and not use.argument.empty
    if use.form is not Form.DECLARATION or given or use.variable is None:
        return None
    name_start = use.type_span.end - len(last_name(use.named).encode())
    return Edit(Span(name_start, use.type_span.end), cpp), cpp


def _use_no_grad(event: Event, cause: ErrorCause, workspace: Workspace) -> ChosenCure | None:
    """`no_grad` for inference mode."""
    if event.guard is None or event.guard.name not in (guards.PYTHON_INFERENCE_MODE, guards.INFERENCE_MODE):
        return None
    found = _guard_use(event, cause.files)
    made = _other_guard(*found, guards.NO_GRAD, "NoGradGuard") if found is not None else None
    if found is None or made is None:
        return None
    (use, facts), (edit, instead) = found, made
    row = facts.row(edit.span.start)
    return ChosenCure(f"`{instead}` in place of `{use.written}` at {facts.path}:{row}", "", facts.path, (edit,))


def _record_in_guard(event: Event, cause: ErrorCause, workspace: Workspace) -> ChosenCure | None:
    """Recording on, for the guard under which what is differentiated was computed."""
    found = _guard_use(event, cause.files)
    if found is None:
        return None
    use, facts = found
    made = _other_guard(use, facts, "enable_grad", "AutoGradMode")
    if made is None:
        return None
    edit, instead = made
    edits: tuple[Edit, ...] = (edit,)
    if facts.language != "python":
        place = use.variable_spans[0].end if use.variable_spans else None
        if place is None or use.argument is not None:
            return None
        edits = (edit, insertion(place, "(true)"))
    row = facts.row(edit.span.start)
    return ChosenCure(
        f"`{instead}` in place of `{use.written}` at {facts.path}:{row}, so that the block records",
        "the block takes memory as training does; what else is in it is recorded as well",
        facts.path,
        edits,
    )


def _covers_event(use: GuardUse, event: Event, facts: Facts) -> bool:
    if use.form is Form.DECORATOR and facts.python is not None:
        python_use = use_behind(facts, use)
        return (
            python_use is not None and python_use.decorated is not None and python_use.decorated.span.holds(event.span)
        )
    return use.scope.holds(event.span)


# -- the place of the error


def _clone(event: Event, cause: ErrorCause, workspace: Workspace) -> ChosenCure | None:
    """A line above the error's, which makes a normal tensor of the variable."""
    name = event.variable
    if not name.isidentifier() or event.cached is not None:
        return None
    source = workspace.read(event.path)
    facts = cause.files[event.path]
    if not _begins_line(source.text, event.span.start) or not _is_local(name, event, facts, source.text):
        return None
    end = ";" if facts.language == "cpp" else ""
    line = f"{name} = {name}.clone(){end}"
    row = facts.row(event.span.start)
    edit = insertion(event.span.start, line + _line_break(source.text, event.span.start))
    return ChosenCure(f"`{line}` above {event.path}:{row}", "one copy of the tensor, each time", event.path, (edit,))


def _enable_grad(event: Event, cause: ErrorCause, workspace: Workspace) -> ChosenCure | None:
    """`@torch.enable_grad()` above the function that differentiates, where its caller has the guard."""
    if event.guard is None or event.guard.name == guards.PYTHON_INFERENCE_MODE:
        return None
    facts, found = cause.files[event.path], _guard_use(event, cause.files)
    if found is not None and found[1] is facts and _covers_event(found[0], event, facts):
        return None
    return _recording(event.path, facts.row(event.span.start), cause, workspace)


def _likely_enable_grad(cause: ErrorCause, cure: Cure, workspace: Workspace) -> ChosenCure | None:
    """The same for `forward` and `backward` of an autograd Function."""
    frame = cause.unrecorded
    return _recording(frame.path, frame.row, cause, workspace) if frame is not None else None


def _recording(path: str, row: int, cause: ErrorCause, workspace: Workspace) -> ChosenCure | None:
    """`@torch.enable_grad()` above the function that a row is in."""
    facts = cause.files[path]
    torch = facts.python.torch_name if facts.python is not None else ""
    _, body = function_at(File(facts, 0, {}), row)
    if not torch or body is None:
        return None
    source = workspace.read(path)
    start = _below_decorators(source.text, body.span.start, body.name)
    if not _begins_line(source.text, start):
        return None
    line = f"@{torch}.enable_grad()"
    edit = insertion(start, line + _line_break(source.text, start))
    where = f"`{line}` above `{body.name}` at {path}:{facts.row(start)}"
    return ChosenCure(where, "the graph takes memory", path, (edit,))


def _below_decorators(text: bytes, start: int, name: str) -> int:
    """Where the `def` of a function begins."""
    found = re.compile(rf"\b(?:async[ \t]+)?def[ \t]+{re.escape(name)}\b".encode()).search(text, start)
    return found.start() if found is not None else start


def _under_no_grad(event: Event, cause: ErrorCause, workspace: Workspace) -> ChosenCure | None:
    """The statement under `no_grad`."""
    return _around(cause.files[event.path], event.span, workspace)


def _likely_under_no_grad(cause: ErrorCause, cure: Cure, workspace: Workspace) -> ChosenCure | None:
    """The same for the statement on the line of the innermost frame, if it is whole."""
    if not cause.frames or cause.frames[-1].path not in cause.files:
        return None
    facts, row = cause.files[cause.frames[-1].path], cause.frames[-1].row
    source = workspace.read(facts.path)
    if facts.language != "python" or not 0 < row <= len(source.line_starts):
        return None
    start = source.line_starts[row - 1]
    line = source.text[start : line_end(source.text, start)]
    code = line.strip()
    try:
        statements = ast.parse(code).body
    except (SyntaxError, ValueError):
        return None
    if len(statements) != 1 or not isinstance(statements[0], (ast.Assign, ast.AugAssign, ast.Expr)):
        return None
    begins = start + line.index(code)
    return _around(facts, Span(begins, begins + len(code)), workspace)


def _around(facts: Facts, span: Span, workspace: Workspace) -> ChosenCure | None:
    text = workspace.read(facts.path).text
    if not _begins_line(text, span.start) or b"\n" in text[span.start : span.end]:
        return None
    row, broken = facts.row(span.start), _line_break(text, span.start)
    edits: tuple[Edit, ...]
    if facts.language == "python":
        torch = facts.python.torch_name if facts.python is not None else ""
        if not torch:
            return None
        edits = (insertion(span.start, f"with {torch}.{guards.NO_GRAD}():{broken}    "),)
        change = f"`with {torch}.{guards.NO_GRAD}():` around {facts.path}:{row}"
    else:
        end = span.end + (text[span.end : span.end + 1] == b";")
        edits = (
            insertion(span.start, f"{{{broken}  torch::NoGradGuard no_grad;{broken}  "),
            insertion(end, f"{broken}}}"),
        )
        change = f"a block with `torch::NoGradGuard no_grad;` around {facts.path}:{row}"
    return ChosenCure(change, _UPDATE, facts.path, edits)


_UPDATE = "the change isn't recorded, which is what an update or an initialization wants"


def _begins_line(text: bytes, offset: int) -> bool:
    return not text[line_start(text, offset) : offset].strip()


def _line_break(text: bytes, offset: int) -> str:
    return (newline_of(text, offset) + indentation(text, offset)).decode()


def _is_local(name: str, event: Event, facts: Facts, text: bytes) -> bool:
    """Whether the name is a variable of the function, or of the module where the error is at its top."""
    _, body = function_at(File(facts, 0, {}), facts.row(event.span.start))
    part = text[body.span.start : event.span.start] if body is not None else text[: event.span.start]
    assigned = re.compile(rf"(?<![\w.]){re.escape(name)}[ \t]*(?:=(?!=)|,|\)|:)".encode())
    return assigned.search(part) is not None


def _detach(cause: ErrorCause, workspace: Workspace, cost: str) -> ChosenCure | None:
    """`.detach()` in front of the only `.numpy()` of the line."""
    return _in_line(
        cause, workspace, re.compile(rb"(?=\.numpy\(\))"), ".detach()", "`.detach()` before `.numpy()`", cost
    )


def _script_no_grad(cause: ErrorCause, workspace: Workspace, cost: str) -> ChosenCure | None:
    """`no_grad` for the guard that TorchScript doesn't know."""
    unknown = re.compile(rb"(?<=\.)(?:inference_mode\((?:mode=)?(?:True)?\)|set_grad_enabled\((?:mode=)?False\))")
    return _in_line(cause, workspace, unknown, "no_grad()", "`no_grad()` in place of the guard", cost)


def _not_reentrant(cause: ErrorCause, workspace: Workspace, cost: str) -> ChosenCure | None:
    """`use_reentrant=False` in the call of `checkpoint`, which need not be on the line of a frame."""
    asks, event = re.compile(rb"(?<=\buse_reentrant=)True\b"), cause.event
    if event is None or event.guard is None or event.guard.name != CHECKPOINT:
        return _in_line(cause, workspace, asks, "False", "`use_reentrant=False`", cost)
    source, span = workspace.read(event.guard.path), event.guard.span
    found = list(asks.finditer(source.text, span.start, span.end))
    if len(found) != 1:
        return None
    edit = Edit(Span(*found[0].span()), "False")
    row = cause.files[source.path].row(edit.span.start)
    made = ChosenCure(f"`use_reentrant=False` at {source.path}:{row}", cost, source.path, (edit,))
    return made if _helps(made, event, cause, workspace) else None


def _in_line(
    cause: ErrorCause, workspace: Workspace, where: re.Pattern[bytes], new: str, change: str, cost: str
) -> ChosenCure | None:
    """A text for what fits at one place of the innermost frame's line."""
    source = workspace.read_or_none(cause.frames[-1].path) if cause.frames else None
    row = cause.frames[-1].row if cause.frames else 0
    if source is None or not 0 < row <= len(source.line_starts):
        return None
    start = source.line_starts[row - 1]
    found = list(where.finditer(source.text, start, line_end(source.text, start)))
    if len(found) != 1:
        return None
    edit = Edit(Span(*found[0].span()), new)
    return ChosenCure(f"{change} at {source.path}:{row}", cost, source.path, (edit,))


def _found_by_rules(message: KnownMessage, cause: ErrorCause, workspace: Workspace) -> Iterator[ChosenCure]:
    """What rules about the message find in the functions of the frames, where no event shows the cause."""
    paths = list(dict.fromkeys(frame.path for frame in reversed(cause.frames) if frame.path in cause.files))
    if cause.event is not None or not paths or not message.rules:
        return
    report = fixes_for(check(paths, Options(select=message.rules), workspace=workspace))
    for path in paths:
        file = File(cause.files[path], 0, {})
        functions = [function_at(file, frame.row)[1] for frame in cause.frames if frame.path == path]
        for finding in report.findings:
            row = report.start(finding).row
            if finding.path != path or function_at(file, row)[1] not in functions:
                continue
            fix = finding.fix
            change = f"{finding.code} at {path}:{row}: {fix.message if fix is not None else finding.message}"
            edits = fix.edits if fix is not None and fix.applicability is not Applicability.DISPLAY else ()
            yield ChosenCure(change, "none", path, edits)


_AT_PLACE = {"detach": _detach, "script_no_grad": _script_no_grad, "not_reentrant": _not_reentrant}
_LIKELY = {
    "no_grad": _likely_no_grad,
    "enable_grad": _likely_enable_grad,
    "under_no_grad": _likely_under_no_grad,
}
"""Where no event shows the way of the tensor."""
_MAKERS = {
    "no_grad": _use_no_grad,
    "clone": _clone,
    "ungrad": _record_in_guard,
    "enable_grad": _enable_grad,
    "under_no_grad": _under_no_grad,
}
