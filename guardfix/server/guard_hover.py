"""What is shown over a guard: what it switches, what it is for and why."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from lsprotocol.types import Hover, InlayHint, InlayHintKind, MarkupContent, MarkupKind

from guardfix.linter.facts import GuardUse
from guardfix.linter.findings import Decision, Evidence, StepTaken
from guardfix.linter.frontends.frontend import frontend_named
from guardfix.linter.guards import Effect, Guard
from guardfix.output.finding_places import file_uri, rule_url
from guardfix.output.finding_reasons import shown_steps

from .document_checks import CheckedText
from .guard_effects import SWITCHED

_MOST_EVIDENCE = 8
_MOST_STEPS = 9


def hover_over_guard(checked: CheckedText, offset: int) -> Hover | None:
    """The notes on the guard at a place; None if there is no guard."""
    lines = checked.lines_of(checked.document.path)
    line = lines.position(offset).line
    facts = checked.facts
    if facts is None:
        return None
    around = [use for use in facts.guard_uses if use.span.start <= offset <= use.span.end]
    named = [use for use in around if use.type_span.start <= offset <= use.type_span.end]
    uses = named or [use for use in around if lines.position(use.span.start).line == line]
    if not uses:
        return None
    use = min(uses, key=lambda one: one.span.end - one.span.start)
    frontend = frontend_named(facts.language)
    guard = frontend.guards.get(use.guard)
    if guard is None:
        return None
    text = "\n\n".join([*_about(guard, frontend.separator), *_found(checked, use)])
    return Hover(MarkupContent(MarkupKind.Markdown, text), lines.range(use.type_span))


def _about(guard: Guard, separator: str) -> Iterator[str]:
    yield f"### `{separator.join((*guard.namespaces[:1], guard.name))}`"
    since = f"Since torch {guard.since}. " if guard.since else ""
    if guard.deprecated_since:
        since = f"**Deprecated since torch {guard.deprecated_since}.** "
    yield f"{since}While it lives: {guard.effect.value}."
    switched = SWITCHED.get(guard.effect)
    if switched is not None:
        rows = [f"| {subject} | {what} |" for subject, what in switched.rows()]
        yield "\n".join(["| | inside |", "|---|---|", *rows])
    if guard.effect is Effect.BELOW_AUTOGRAD and guard.deprecated_since:
        yield "Before torch 1.9, it also hid ADInplaceOrView: views weren't tracked and versions weren't counted."


def _found(checked: CheckedText, use: GuardUse) -> Iterator[str]:
    """What the rules say about a use."""
    for finding in checked.findings:
        if finding.use is not use and finding.span != use.span:
            continue
        url = rule_url(finding)
        code = f"[{finding.code}]({url})" if url else finding.code
        yield "---"
        yield f"{code} `{finding.name}`: {finding.message}"
        if finding.decision is not None:
            yield _decision(finding.decision, checked.document.path)
        if finding.steps:
            yield steps_as_list(finding.steps, checked.document.path)


def _decision(decision: Decision, path: str) -> str:
    to = f" → `{decision.replacement}`" if decision.replacement else ""
    lines = [f"**{decision.context}**{to} ({decision.confidence} confidence)", ""]
    for evidence in decision.evidence[:_MOST_EVIDENCE]:
        lines.append(f"- {decision.reason(evidence)} ({_link(evidence, path)})")
    more = len(decision.evidence) - _MOST_EVIDENCE
    if more > 0:
        lines.append(f"- and {more} more")
    if not decision.evidence:
        lines.append("Nothing nearby says what it is for.")
    return "\n".join(lines)


def steps_as_list(steps: Sequence[StepTaken], path: str) -> str:
    """The steps as a numbered list with links."""
    first, left_out, last = shown_steps(steps, _MOST_STEPS)
    begin, end = (
        [f"{number}. {step.message} ({_link(step, path)})" for number, step in part] for part in (first, last)
    )
    if left_out:
        # A list counts on from where it begins: what follows the gap is its own list.
        begin += ["", f"({left_out} are not shown)", ""]
    return "\n".join(begin + end)


def _link(reason: Evidence | StepTaken, path: str) -> str:
    return link_to(reason.path, reason.row, path)


def link_to(path: str, row: int, seen_from: str) -> str:
    """A row of a file, as a link."""
    where = f"line {row}" if path == seen_from else f"{os.path.basename(path)}:{row}"
    return f"[{where}]({file_uri(path)}#L{row})"


def context_hints(checked: CheckedText) -> list[InlayHint]:
    """Behind each guard with a decision: what it is for."""
    hints = []
    lines = checked.lines_of(checked.document.path)
    for finding in checked.findings:
        if finding.decision is None or finding.use is None:
            continue
        hints.append(
            InlayHint(
                position=lines.position(finding.use.span.end),
                label=f"{finding.decision.context} ({finding.decision.confidence})",
                kind=InlayHintKind.Type,
                padding_left=True,
                tooltip=finding.message,
            )
        )
    return hints
