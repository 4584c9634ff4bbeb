"""What can be done about findings: their fixes, a person's decision, a comment, the rule's page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from lsprotocol.types import (
    CodeAction,
    CodeActionKind,
    Command,
    Diagnostic,
    Range,
    WorkspaceEdit,
)

from guardfix.adoption.noqa_comments import commented
from guardfix.codemods.apply.personal_choices import offers, open_uses
from guardfix.codemods.apply.settling import settle
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fix import Fix
from guardfix.codemods.fixable import FixableFinding
from guardfix.linter.findings import Applicability
from guardfix.output.finding_places import rule_url

from .document_checks import CheckedText
from .editor_edits import changed_lines_of, document_edit, edited
from .error_reasons import errors_in, why_actions
from .finding_diagnostics import diagnostic_of

FIX_ALL = "source.fixAll.guardfix"
OPEN_RULE = "guardfix.openRule"
_WHAT = {
    "inference": "this runs a model",
    "kernel": "this is an autograd kernel",
    "below_autograd": "keep what the old guard does since torch 1.9",
    "remove": "no guard is needed",
}


def actions_in(
    checked: CheckedText, where: Range, only: Iterable[str] | None, reported: Sequence[Diagnostic] = ()
) -> list[CodeAction]:
    """The actions for the findings and the errors that a range touches.

    `only` names the kinds that are wanted; `reported` is what the editor shows there.
    """
    kinds = None if only is None else list(only)
    actions: list[CodeAction] = []
    document = checked.document
    if _wanted(CodeActionKind.QuickFix, kinds):
        lines = checked.lines_of(checked.document.path)
        start, end = lines.offset(where.start), lines.offset(where.end)
        for number, finding in enumerate(checked.findings):
            if finding.span.start <= end and start <= finding.span.end:
                actions += _for_finding(checked, finding, _Deferred(document.uri, document.version, number))
        offered = [action.edit for action in actions if action.edit is not None]
        why = why_actions(checked, errors_in(checked, where, reported))
        actions += [action for action in why if action.edit not in offered]
    if (
        _wanted(FIX_ALL, kinds)
        and (kinds is not None or actions)
        and any(FixChoice().wanted(finding.fix) for finding in checked.findings)
    ):
        everything = _Deferred(document.uri, document.version)
        actions.append(CodeAction("guardfix: apply all safe fixes in this file", kind=FIX_ALL, data=asdict(everything)))
    return actions


@dataclass(frozen=True)
class _Deferred:
    """An edit that is made when the action is chosen: it takes further checks."""

    uri: str
    version: int
    silenced: int = -1
    """The number of the finding that a comment shall silence; -1 for all safe fixes."""


def resolved(action: CodeAction, checked: CheckedText) -> CodeAction:
    """The action with its edit; without one where the text has changed since, or no comment silences it."""
    deferred = _Deferred(**action.data)  # type: ignore[arg-type]  # the data is what was sent
    if deferred.version == checked.document.version:
        one = deferred.silenced
        action.edit = _fix_all(checked) if one < 0 else _silence(checked, checked.findings[one])
    return action


def _wanted(kind: str, only: list[str] | None) -> bool:
    return only is None or any(kind == one or kind.startswith(f"{one}.") or not one for one in only)


def _for_finding(checked: CheckedText, finding: FixableFinding, silence: _Deferred) -> Iterator[CodeAction]:
    diagnostic = diagnostic_of(finding, checked.lines_of)
    if finding.fix is not None:
        for fix in (finding.fix, *finding.fix.further):
            if fix.applicability is not Applicability.DISPLAY:
                yield _fix_action(checked, fix, diagnostic)
    if any(finding is one for one in open_uses(checked.report)):
        for offer in offers(finding, checked.report):
            to = f"use {offer.replacement}" if offer.replacement else "remove the guard"
            yield CodeAction(
                title=f"{finding.code}: {to} ({_WHAT[offer.purpose]})",
                kind=CodeActionKind.QuickFix,
                diagnostics=[diagnostic],
                edit=edited(checked, finding.path, offer.fix.edits),
            )
    yield CodeAction(
        title=f"{finding.code}: silence here with a comment",
        kind=CodeActionKind.QuickFix,
        diagnostics=[diagnostic],
        data=asdict(silence),
    )
    url = rule_url(finding)
    if url:
        yield CodeAction(
            title=f"{finding.code}: read about {finding.name}",
            kind=CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            command=Command("Open the rule's page", OPEN_RULE, arguments=[url]),
        )


def _fix_action(checked: CheckedText, fix: Fix, diagnostic: Diagnostic) -> CodeAction:
    safe = fix.applicability is Applicability.SAFE
    return CodeAction(
        title=f"{diagnostic.code}: {fix.message}{'' if safe else ' (unsafe)'}",
        kind=CodeActionKind.QuickFix,
        diagnostics=[diagnostic],
        is_preferred=True if safe else None,
        edit=edited(checked, checked.document.path, fix.edits),
    )


def _silence(checked: CheckedText, finding: FixableFinding) -> WorkspaceEdit | None:
    """The comment that silences a finding, where one does: a string has no place for comments."""
    document = checked.document
    lines = checked.lines_of(document.path)
    for after, above in (([finding], []), ([], [finding])):
        for one in commented(checked.report, after, above):
            assert checked.report.over is not None
            texts = {document.path: one.source.encode(one.text)}
            again = checked.report.over(checked.report.workspace.with_texts(texts))
            if len([left for left in again.findings if left.path == document.path]) < len(checked.findings):
                return document_edit(document, changed_lines_of(lines, one.text))
    return None


def _fix_all(checked: CheckedText) -> WorkspaceEdit | None:
    """All safe fixes of an open text, with those that they make room for."""
    document = checked.document
    for rewritten in settle(checked.report).rewrites:
        if rewritten.changed:
            return document_edit(document, changed_lines_of(document.lines, rewritten.source.encode(rewritten.text)))
    return None
