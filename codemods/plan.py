"""Gives findings their fixes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from guardfix.linter.engine import Report
from guardfix.linter.facts import Facts
from guardfix.linter.files.sources import Source
from guardfix.linter.findings import Finding, Fix

from .legacy_guard import Site, fixes_for
from .python.plan import PYTHON_CODES, python_fixes
from .scopes import (
    hoist_the_guard,
    name_the_temporary,
    remove_the_guard,
    repeat_in_the_thread,
    replace_by_inference_mode,
)

CODEMODS: dict[str, Callable[[Site], tuple[Fix | None, tuple[Fix, ...]]]] = {
    "GF101": fixes_for,
    "GF201": name_the_temporary,
    "GF203": name_the_temporary,
    "GF207": repeat_in_the_thread,
    "GF208": hoist_the_guard,
    "GF301": replace_by_inference_mode,
    "GF302": remove_the_guard,
    "GF303": remove_the_guard,
    "GF304": remove_the_guard,
}
"""Rules whose edits need the file's text; other rules bring their edits themselves."""


def with_fixes(report: Report, *, remove_redundant: bool = False) -> Report:
    """The report, its findings with their fixes. Files are read anew, one at a time.

    `remove_redundant` deletes guards in `Function<T>::forward` whose callee provably bypasses the dispatcher.
    """
    sources: dict[str, Source | None] = {}
    planned: list[Finding] = []
    for finding in report.findings:
        facts = report.project.files.get(finding.path)
        if facts is None or finding.use is None or not _needs_text(finding, facts):
            planned.append(finding)
            continue
        if finding.path not in sources:
            # Findings are sorted by file: one at a time is enough.
            sources = {finding.path: report.workspace.unchanged(facts)}
        source = sources[finding.path]
        if source is None:
            planned.append(finding)
            continue
        if facts.language in ("python", "docs"):
            fix, more = python_fixes(finding, finding.use, facts, report.project, source)
        else:
            site = Site(finding, finding.use, facts, report.project, source.text, remove_redundant)
            fix, more = CODEMODS[finding.code](site)
        planned.append(replace(finding, fix=fix, more_fixes=more))
    return replace(report, findings=planned)


def _needs_text(finding: Finding, facts: Facts) -> bool:
    if facts.language in ("python", "docs"):
        return finding.code in PYTHON_CODES
    return finding.code in CODEMODS and finding.fix is None


def chosen_fix(finding: Finding, *, unsafe: bool, hoist: bool = True) -> Fix | None:
    """The fix of a finding that a run applies: the further-reaching one when unsafe fixes are taken."""
    if unsafe and hoist:
        for fix in finding.more_fixes:
            return fix
    return finding.fix
