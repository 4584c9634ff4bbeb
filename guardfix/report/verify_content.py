"""What the page of `guardfix verify --html` shows, as plain values: programs, guards, steps side by side, graphs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from guardfix.api import Options, check
from guardfix.foreign_text import printable
from guardfix.linter.files.workspace import Workspace
from guardfix.output.verdict_text import result_reasons
from guardfix.regular_files import read_regular_text
from guardfix.verify.judging.aligned_traces import AlignedStep, StepAgreement, aligned
from guardfix.verify.judging.guard_outcomes import GuardReach
from guardfix.verify.judging.guard_sites import linkless_path
from guardfix.verify.judging.traces import TracedEvent, tensor_in_words
from guardfix.verify.verifying import Result

from .autograd_drawing import AutogradGraph, autograd_graph, drawing
from .code_excerpts import HighlightedLine, highlighted

MOST_STEPS = 600
"""Steps of a program that are shown: the first ones, and those around differences."""
MOST_DRAWINGS = 150
"""Graphs that are drawn for one program, those at differences first."""
MOST_LINES = 4_000
"""Lines of a program's file that are shown beside its steps."""
ENDED = "ended"
_AROUND = 25

_GUARD_KINDS = (
    (re.compile(r"Inference", re.IGNORECASE), "inference"),
    (re.compile(r"AutoNonVariableTypeMode"), "legacy"),
    (re.compile(r"AutoDispatchBelow"), "below"),
    (re.compile(r"enable_grad|AutoGradMode\(true|set_grad_enabled\(True"), "grad"),
    (re.compile(r"no_grad|NoGrad|AutoGradMode|set_grad_enabled", re.IGNORECASE), "nograd"),
)


@dataclass(frozen=True)
class ShownGuard:
    """A guard around a step."""

    name: str
    kind: str
    """What its color says: inference, legacy, below, grad, nograd, other."""
    opens: bool
    """The step is the first inside of it, as far as can be seen."""


@dataclass(frozen=True)
class ShownTensor:
    """A result of a step."""

    name: str
    text: str
    """Its type and its first elements."""
    facts: tuple[tuple[str, bool], ...]
    """Version, view, flags, grad_fn; and whether the other side says it differently."""
    drawing: str = ""
    """The autograd graph behind it, as SVG."""


@dataclass(frozen=True)
class ShownStep:
    """One side of a step."""

    number: int
    op: str
    line: int | None
    kernels: str
    guards: tuple[ShownGuard, ...]
    tensors: tuple[ShownTensor, ...]
    values: str
    """Results that aren't tensors."""
    raised: str

    @property
    def inside(self) -> str:
        """The guards around it, for those who see no bands."""
        return " inside ".join(guard.name for guard in reversed(self.guards))


@dataclass(frozen=True)
class ShownRow:
    """A step before, beside the one after; or steps that are left out."""

    before: ShownStep | None = None
    after: ShownStep | None = None
    agreement: str = StepAgreement.SAME.value
    difference: str = ""
    is_parting: bool = False
    """The first step of its thread at which the two sides differ in what the program sees."""
    thread: int = 0
    left_out: int = 0

    @property
    def is_twin(self) -> bool:
        """Nothing differs, not even the guards around the step."""
        inside = [side and [guard.name for guard in side.guards] for side in (self.before, self.after)]
        return self.agreement == StepAgreement.SAME.value and inside[0] == inside[1]


@dataclass(frozen=True)
class ShownScope:
    """A guard on the timeline of one side: from the first step inside of it to the last, in percent of all rows."""

    name: str
    kind: str
    depth: int
    start: float
    length: float


@dataclass
class ShownProgram:
    """A program, its verdict, and its steps."""

    name: str
    verdict: str
    headline: str
    advice: str
    reasons: list[str]
    guards: list[tuple[str, str, str, str, str]]
    """Place, guard, entered before, entered after, ops below it."""
    rows: list[ShownRow] = field(default_factory=list)
    steps: int = 0
    changes: list[str] = field(default_factory=list)
    """The fixes that made the second side."""
    predicted: list[str] = field(default_factory=list)
    """What the abstract machine says of the migrated text, without running it."""
    source: list[HighlightedLine] = field(default_factory=list)
    """The program's file, before the migration; empty where it is too long to be shown."""
    is_compared: bool = True

    @property
    def differences(self) -> int:
        """Steps that differ; those that only one side came to, after the end of the other, are none."""
        return sum(row.agreement in (StepAgreement.MARKS.value, StepAgreement.PARTED.value) for row in self.rows)

    @property
    def lines(self) -> frozenset[int]:
        """The lines of the file that steps come from."""
        return frozenset(row.before.line for row in self.rows if row.before is not None and row.before.line)

    @property
    def scopes(self) -> tuple[list[ShownScope], list[ShownScope]]:
        """The guards of both sides on the timeline."""
        return _scopes([row.before for row in self.rows]), _scopes([row.after for row in self.rows])

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Where on the timeline steps differ, and how."""
        width = 100 / max(1, len(self.rows))
        found = [(number * width, row.agreement) for number, row in enumerate(self.rows)]
        return [(at, agreement) for at, agreement in found if agreement in (StepAgreement.MARKS.value, "parted")]


def program_content(result: Result) -> ShownProgram:
    """What the page says about one result."""
    program = ShownProgram(
        printable(result.name) + (f" against {printable(result.against)}" if result.against else ""),
        str(result.judgement.verdict),
        printable(result.judgement.brief),
        printable(result.judgement.advice),
        [printable(line) for line in result_reasons(result)],
        [_guard_row(reach) for reach in result.guards],
        changes=[f"{fix.place.in_words()}: {fix.message}" for fix in result.migration.applied],
        is_compared=result.after is not None,
    )
    first, second = result.judged_runs
    if first is None:
        return program
    if result.judgement.meaning:
        program.reasons.append(f"In the steps below, the old guard is that of torch {result.judgement.meaning}.")
    before = first.events
    after = before if second is None else second.events
    steps = list(aligned(before, after))
    program.steps = len(steps)
    program.rows = _rows(steps, autograd_graph(before), autograd_graph(after))
    program.source = _source(result.program.path)
    program.predicted = list(_predicted(result))
    return program


def _source(path: Path) -> list[HighlightedLine]:
    try:
        lines = read_regular_text(path, "replace").splitlines()
    except OSError:  # it is gone since it was run
        return []
    return highlighted([line.expandtabs(4) for line in lines], str(path)) if len(lines) <= MOST_LINES else []


def _predicted(result: Result) -> Iterator[str]:
    """What the rules about errors and lost gradients say of the migrated program, from its file alone."""
    text = result.migration.texts.get(linkless_path(result.program.path))
    if text is None:
        return
    name = result.name
    options = Options(select=("GF5",), workers=1, respect_gitignore=False)
    found = check([name], options=options, workspace=Workspace.in_memory({name: text.decode("utf-8", "replace")}))
    for finding in found.findings:
        if finding.steps:
            row = found.start(finding).row
            yield printable(f"{finding.code}, line {row} of the migrated file: {finding.message}")


def _scopes(sides: Sequence[ShownStep | None]) -> list[ShownScope]:
    width = 100 / max(1, len(sides))
    found: list[ShownScope] = []
    open_ones: list[tuple[ShownGuard, int]] = []
    for number, step in enumerate([*sides, None]):
        guards = () if step is None else step.guards
        kept = 0
        while kept < min(len(guards), len(open_ones)) and guards[kept].name == open_ones[kept][0].name:
            kept += 1
        for depth in range(len(open_ones) - 1, kept - 1, -1):
            guard, start = open_ones.pop()
            found.append(ShownScope(guard.name, guard.kind, depth, start * width, (number - start) * width))
        open_ones += [(guard, number) for guard in guards[kept:]]
    return sorted(found, key=lambda scope: (scope.start, scope.depth))


def _guard_row(reach: GuardReach) -> tuple[str, str, str, str, str]:
    def entries_of(number: int | None) -> str:
        return "not counted" if number is None else str(number)

    before, after = reach.before, reach.after
    below = [str(count.ops) for count in (before, after) if count is not None]
    return (
        printable(reach.site.where),
        reach.site.guard,
        entries_of(before and before.entered),
        entries_of(after and after.entered),
        " / ".join(dict.fromkeys(below)),
    )


def _kept(steps: Sequence[AlignedStep]) -> list[int]:
    """The steps that are shown, by their places."""
    if len(steps) <= MOST_STEPS:
        return list(range(len(steps)))
    wanted = dict.fromkeys(range(_AROUND))
    for place, step in enumerate(steps):
        if step.agreement is not StepAgreement.SAME and len(wanted) < MOST_STEPS:
            wanted |= dict.fromkeys(range(max(0, place - _AROUND), min(len(steps), place + _AROUND + 1)))
    wanted |= dict.fromkeys(range(len(steps) - _AROUND, len(steps)))
    return sorted(wanted)


def _rows(steps: Sequence[AlignedStep], before: AutogradGraph, after: AutogradGraph) -> list[ShownRow]:
    kept = _kept(steps)
    drawn = _places_with_drawings(steps, kept)
    rows: list[ShownRow] = []
    parted: set[int] = set()
    last, previous = -1, AlignedStep(-1, 0, None, 0, None, StepAgreement.SAME)
    for place in kept:
        step = steps[place]
        if place > last + 1:
            rows.append(ShownRow(left_out=place - last - 1))
        opened = previous if step.thread == previous.thread else AlignedStep(-1, 0, None, 0, None, StepAgreement.SAME)
        graphs = (before, after) if place in drawn else ({}, {})
        is_parting = step.agreement is StepAgreement.PARTED and step.thread not in parted
        if is_parting:
            parted.add(step.thread)
        rows.append(
            ShownRow(
                _side(step.number_before, step.before, step.after, opened.before, graphs[0]),
                _side(step.number_after, step.after, step.before, opened.after, graphs[1]),
                step.agreement.value,
                printable(step.difference),
                is_parting,
                step.thread,
            )
        )
        last = place
        # A side that has no step here goes on under the guards that it was under.
        previous = step._replace(before=step.before or opened.before, after=step.after or opened.after)
    return _with_ends(rows)


def _with_ends(rows: list[ShownRow]) -> list[ShownRow]:
    """Steps that one side alone takes after the other has ended, past where the runs part, aren't differences."""
    found: list[ShownRow] = []
    one_sided: dict[int, str] = {}
    for row in reversed(rows):
        missing = "before" if row.before is None else "after" if row.after is None else ""
        if row.left_out:
            found.append(row)
            continue
        if one_sided.setdefault(row.thread, missing) != missing:
            one_sided[row.thread] = ""
        ended = missing and one_sided[row.thread] == missing and not row.is_parting
        found.append(replace(row, agreement=ENDED, difference="") if ended else row)
    return found[::-1]


def _places_with_drawings(steps: Sequence[AlignedStep], kept: Iterable[int]) -> frozenset[int]:
    def has_graph(event: TracedEvent | None) -> bool:
        return event is not None and any(isinstance(r, dict) and r.get("node") for r in event.get("results", ()))

    found = [place for place in kept if has_graph(steps[place].before) or has_graph(steps[place].after)]
    found.sort(key=lambda place: (steps[place].agreement is StepAgreement.SAME, place))
    return frozenset(found[:MOST_DRAWINGS])


def _side(
    number: int,
    event: TracedEvent | None,
    other: TracedEvent | None,
    previous: TracedEvent | None,
    graph: AutogradGraph,
) -> ShownStep | None:
    if event is None:
        return None
    is_gradient = event["event"] == "gradient"
    results = event.get("results", ())
    others = other.get("results", ()) if other is not None and other.get("op") == event.get("op") else ()
    paired = list(others) if len(others) == len(results) else [None] * len(results)
    tensors = tuple(
        _tensor(one, two if isinstance(two, dict) else None, graph)
        for one, two in zip(results, paired, strict=True)
        if isinstance(one, dict)
    )
    op = f"gradient of {_named(event.get('leaf'))}" if is_gradient else str(event.get("op", "the program"))
    return ShownStep(
        number,
        op,
        event.get("line"),
        " → ".join(event.get("kernels", ())),
        _guards(event.get("guards", ()), () if previous is None else previous.get("guards", ())),
        tensors,
        ", ".join(printable(str(one)) for one in results if not isinstance(one, dict)),
        printable(f"{event['error']}: {event['message']}") if event["event"] == "raised" else "",
    )


def _guards(names: Sequence[str], outer: Sequence[str]) -> tuple[ShownGuard, ...]:
    common = 0
    while common < min(len(names), len(outer)) and names[common] == outer[common]:
        common += 1
    return tuple(ShownGuard(printable(name), guard_kind(name), place >= common) for place, name in enumerate(names))


def guard_kind(name: str) -> str:
    """What a guard does, as far as its color says it."""
    return next((kind for pattern, kind in _GUARD_KINDS if pattern.search(name)), "other")


def _named(tensor: int | None) -> str:
    return "a leaf" if tensor is None else f"t{tensor}"


def _tensor(result: Mapping[str, Any], other: Mapping[str, Any] | None, graph: AutogradGraph) -> ShownTensor:
    facts, others = _facts(result), _facts(other) if other is not None else {}
    shown = tuple((text, other is not None and others.get(key) != text) for key, text in facts.items() if text)
    node = result.get("node")
    shape = "x".join(map(str, result["shape"])) or "scalar"
    return ShownTensor(
        _named(result["tensor"]) if "tensor" in result else "",
        f"{result['dtype']} {shape} {tensor_in_words(result)}",
        shown,
        drawing(graph, node) if node and result["requires_grad"] else "",
    )


def _facts(result: Mapping[str, Any]) -> dict[str, str]:
    base = f"view of {_named(result['base'])}" if result.get("base") else "view"
    return {
        "version": "no version counter" if result["version"] is None else f"version {result['version']}",
        "view": base if result["view"] else "",
        "memory": f"memory {result['memory']}" if result.get("memory") else "",
        "inference": "inference tensor" if result["inference"] else "",
        "requires_grad": "requires grad" if result["requires_grad"] else "",
        "grad_fn": result["grad_fn"] or "",
    }
