"""Compares what the machine says of a program with what the program does.

- Where PyTorch raises an error of the domain, the machine has an event, certain or possible, or wasn't sure: `certain`,
  `possible`, `unsure`. Otherwise it took for impossible what happens: `missed`.
- Where the machine has a certain event and the program comes there, PyTorch raises: `raises`, or the machine is wrong:
  `wrong`. `open`: the event holds on one side of a condition, or under a presumption, or the program was stopped before.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from guardfix.linter.flow.events import MESSAGES, EventKind, pytorch_says

from .concrete_runs import Run
from .watching import COUNTER, LEAF, Abstract, run_abstractly, statement_rows

Runner = Callable[[str], Run]
MOST_STOPS = 8
"""How often a program is taken on behind what stopped it."""


class Verdict(NamedTuple):
    """One place at which the two were compared."""

    asked: str
    """`raised`: what the machine says of an error; `told`: what becomes of a certain event."""
    answer: str
    kind: EventKind
    line: int
    why: str
    """Of what the machine wasn't sure."""

    @property
    def failed(self) -> bool:
        return self.answer in ("missed", "wrong")


class Compared(NamedTuple):
    text: str
    run: Run
    verdicts: tuple[Verdict, ...]


def compare(text: str, run: Run) -> Compared:
    abstract = run_abstractly(text)
    rows = statement_rows(text)
    stopped = rows.get(run.line, 0)
    kind = domain_error(run)
    raised = {(rows.get(line, line), _kind_of(said)) for line, said in run.raised}
    unfinished = {rows.get(line, line) for line in run.unfinished}
    verdicts = []
    if kind is not None:
        verdicts.append(_of_error(kind, stopped, abstract))
    reached = {rows.get(line, line) for line in run.reached}
    once = _lines_that_run_once(text)
    for row, events in sorted(abstract.events.items()):
        for event in events:
            if not event.certain or event.kind not in MESSAGES or row not in reached:
                continue
            callers = {caller for caller, saved in abstract.of_callers.items() if event in saved}
            if any((place, event.kind) in raised for place in (row, *callers)):
                answer, why = "raises", ""
            elif (event.kind, row) in abstract.choosing:
                answer, why = "open", "a condition"
            elif event.presumed:
                answer, why = "open", event.presumed
            elif row in unfinished or (run.error and row not in once):
                answer, why = "open", "the program was stopped"
            else:
                answer, why = "wrong", ""
            verdicts.append(Verdict("told", answer, event.kind, row, why))
    return Compared(text, run, tuple(verdicts))


def _of_error(kind: EventKind, row: int, abstract: Abstract) -> Verdict:
    here = (*abstract.events.get(row, ()), *abstract.of_callers.get(row, ()))
    told = [event for event in here if event.kind is kind]
    if not told and kind is EventKind.INFERENCE_WRITTEN and abstract.foretold:
        return Verdict("raised", "possible", kind, row, "")
    if told:
        return Verdict("raised", "certain" if any(event.certain for event in told) else "possible", kind, row, "")
    irrelevant = {EventKind.LEAF_WRITTEN: {COUNTER}, EventKind.INFERENCE_WRITTEN: {LEAF}}.get(kind, {LEAF, COUNTER})
    doubts = sorted(abstract.doubts.get(row, set()) - irrelevant)
    if abstract.exhausted or abstract.dropped:
        doubts.append("its budget has ended" if abstract.exhausted else "paths were dropped")
    if not abstract.ran:
        doubts.append("the program has no guard, so it isn't run")
    if doubts:
        return Verdict("raised", "unsure", kind, row, doubts[0])
    return Verdict("raised", "missed", kind, row, "" if row in abstract.ran else "it doesn't come there")


def domain_error(run: Run) -> EventKind | None:
    """The kind of event that PyTorch's message stands for."""
    return _kind_of(run.error)


def _kind_of(error: str) -> EventKind | None:
    return kind_said(error) if error.startswith("RuntimeError") else None


def kind_said(error: str) -> EventKind | None:
    """The kind of event whose words are in an error."""
    return next((kind for kind in MESSAGES if (pytorch_says(kind) or "") in error), None)


_GUARD = re.compile(r"torch\.(?:inference_mode|no_grad|enable_grad|set_grad_enabled)\b")


def without_guards(text: str) -> str:
    """The same program, line by line, in which nothing sets the modes."""
    return _GUARD.sub("unguarded", text)


def is_of_guards(text: str, run: Run, runner: Runner) -> bool:
    """Whether a guard has to do with what stopped a program: what never required grad has no graph without one either.

    That is known where the program without guards takes the same way and goes on there, or fails otherwise.
    """
    if domain_error(run) is not EventKind.NOT_RECORDED:
        return True
    other = runner(without_guards(text))
    if not set(run.reached) <= set(other.reached):
        return False
    return (other.line, domain_error(other)) != (run.line, EventKind.NOT_RECORDED)


def _lines_that_run_once(text: str) -> set[int]:
    """The statements outside functions and loops; what a lambda does happens at the row that makes it."""
    found: set[int] = set()

    def visit(statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            if not any(isinstance(node, ast.Lambda) for node in ast.walk(statement)):
                found.add(statement.lineno)
            if isinstance(statement, (ast.If, ast.With, ast.Try)):
                handlers = [one for handler in getattr(statement, "handlers", ()) for one in handler.body]
                visit([*statement.body, *handlers, *getattr(statement, "orelse", ())])

    visit(ast.parse(text).body)
    return found


# -- a program, and what it is without what stopped it


def compared(text: str, runner: Runner, *, most: int = 3) -> Iterator[Compared]:
    """The program, and again without the statements that stopped it, until it comes to its end."""
    seen = 0
    for _ in range(MOST_STOPS):
        run = runner(text)
        if not run.error or (domain_error(run) is not None and is_of_guards(text, run, runner)):
            yield compare(text, run)
            seen += 1
        if not run.error or seen == most:
            return
        mended = without_statement(text, run.line)
        if mended is None:
            return
        text = mended


_ASSIGNED = re.compile(r"(\s*)(\w+) = ")


def without_statement(text: str, line: int) -> str | None:
    """The program without a statement that can't run; what it would have bound is a new tensor."""
    lines = text.split("\n")
    if not 0 < line <= len(lines):
        return None
    written = lines[line - 1]
    indent = written[: len(written) - len(written.lstrip())]
    assigned = _ASSIGNED.match(written)
    if written.rstrip().endswith(":"):
        return None
    if assigned is not None:
        new = f"{indent}{assigned.group(2)} = torch.ones(2, 2)"
    else:
        new = indent + ("return torch.ones(2, 2)" if written.lstrip().startswith("return") else "pass")
    lines[line - 1] = new
    return "\n".join(lines) if new != written else None


# -- smaller programs


def shrunk(text: str, fails: Callable[[str], bool]) -> str:
    """The program without the statements that its failure doesn't need."""
    going = True
    while going:
        going = False
        for candidate in _smaller(text):
            if fails(candidate):
                text, going = candidate, True
                break
    return text


def _smaller(text: str) -> Iterator[str]:
    """The program with a statement less, with one that holds others replaced by them, or with a simpler value; the
    largest first."""
    lines = text.split("\n")
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    for node in sorted(nodes, key=lambda node: node.lineno - (node.end_lineno or node.lineno)):
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        end = node.end_lineno or node.lineno
        yield _parsed([*lines[: first - 1], *lines[end:]])
        pad = " " * node.col_offset
        yield _parsed([*lines[: first - 1], f"{pad}pass", *lines[end:]]) if lines[first - 1].strip() != "pass" else ""
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            new = f"{pad}{node.targets[0].id} = torch.ones(2, 2)"
            yield _parsed([*lines[: first - 1], new, *lines[end:]]) if lines[first - 1] != new else ""
        if isinstance(node, (ast.With, ast.If, ast.For, ast.Try)):
            inner = [line.removeprefix("    ") for line in lines[node.lineno : node.body[-1].end_lineno]]
            yield _parsed([*lines[: first - 1], *inner, *lines[end:]])
        for decorator in getattr(node, "decorator_list", ()):
            yield _parsed([*lines[: decorator.lineno - 1], *lines[decorator.lineno :]])


def _parsed(lines: Sequence[str]) -> str:
    text = "\n".join(lines)
    try:
        ast.parse(text)
    except SyntaxError:
        return ""
    return text


def shrunk_failure(found: Compared, runner: Runner) -> Compared:
    """A smaller program in which the same goes wrong."""
    failure = next(verdict for verdict in found.verdicts if verdict.failed)
    best = [found]

    def fails(text: str) -> bool:
        if not text:
            return False
        run = runner(text)
        if run.error and (domain_error(run) is None or not is_of_guards(text, run, runner)):
            return False
        again = compare(text, run)
        if any((v.answer, v.kind) == (failure.answer, failure.kind) for v in again.verdicts):
            best.append(again)
            return True
        return False

    shrunk(found.text, fails)
    return best[-1]


# -- counting


class Rates:
    """How often each answer was given."""

    def __init__(self) -> None:
        self.programs = 0
        self.counts: Counter[tuple[str, str, EventKind]] = Counter()
        self.reasons: Counter[str] = Counter()

    def add(self, one: Compared) -> None:
        self.programs += 1
        for verdict in one.verdicts:
            self.counts[verdict.asked, verdict.answer, verdict.kind] += 1
            if verdict.answer == "unsure":
                self.reasons[verdict.why] += 1

    def count(self, asked: str, answer: str) -> int:
        return sum(n for (one, other, _), n in self.counts.items() if (one, other) == (asked, answer))

    def total(self, asked: str) -> int:
        return sum(n for (one, _, _), n in self.counts.items() if one == asked)

    def table(self) -> str:
        lines = [f"{self.programs} programs"]
        for asked, title, answers in (
            ("raised", "what PyTorch raises is", ("certain", "possible", "unsure", "missed")),
            ("told", "what the machine calls certain", ("raises", "open", "wrong")),
        ):
            total = self.total(asked)
            shares = ", ".join(f"{answer} {self.count(asked, answer)}" for answer in answers)
            lines.append(f"{title}: {shares} of {total}")
            for kind in MESSAGES:
                counts = [self.counts[asked, answer, kind] for answer in answers]
                if any(counts):
                    lines.append(f"  {kind}: " + ", ".join(f"{a} {n}" for a, n in zip(answers, counts, strict=True)))
        if self.reasons:
            lines.append("unsure of: " + ", ".join(f"{why} {n}" for why, n in self.reasons.most_common(6)))
        return "\n".join(lines)


def explained(one: Compared) -> str:
    """A program that fails, with what each of the two says."""
    told = "\n".join(f"line {v.line}: {v.answer}, {v.kind} {v.why}" for v in one.verdicts if v.failed)
    ended = f"line {one.run.line}: {one.run.error}" if one.run.error else "it comes to its end"
    numbered = "\n".join(f"{row:3} {line}" for row, line in enumerate(one.text.split("\n"), 1) if line.strip())
    return f"{numbered}\n-> {told}\n   the program: {ended}"
