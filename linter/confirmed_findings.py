"""Findings in Python files, confirmed by the parser of record before anything is reported or edited.

The facts of a Python file come from `ast`, which is fast. libcst is imported and asked only where a rule has found
something, and only about the statement that it was found in.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

from msgspec.structs import replace

from .analysis.project import Project
from .facts import Facts
from .facts.python_model import Disagreement, PythonFacts
from .files.workspace import Workspace
from .findings import Finding
from .frontends.frontend import Confirms, frontend_named


def confirm(findings: Sequence[Finding], project: Project, workspace: Workspace) -> tuple[list[Finding], list[Facts]]:
    """(the findings that hold, for each file with others facts that say only that).

    What libcst reads in another way than `ast` becomes a `Disagreement`, and a file that is not the same any more is
    unreadable: the caller reports both, in the place of the findings.
    """
    kept: list[Finding] = []
    doubted: list[Facts] = []
    for path, group in groupby(sorted(findings, key=attrgetter("path")), attrgetter("path")):
        facts = project.files[path]
        confirmation = frontend_named(facts.language).confirmation
        if confirmation is None or facts.unreadable:
            kept += group
            continue
        source = workspace.unchanged(facts)
        if source is None:
            doubted.append(_without_uses(facts, unreadable="it changed while it was being checked"))
            continue
        confirmed, disagreements = _confirm_in(list(group), confirmation(source, facts))
        kept += confirmed
        if disagreements:
            row = facts.row(disagreements[0].span.start)
            doubt = PythonFacts(disagreements=tuple(disagreements))
            doubted.append(_without_uses(facts, partial=True, error_row=row, python=doubt))
    return kept, doubted


def _confirm_in(findings: Sequence[Finding], confirmation: Confirms) -> tuple[list[Finding], list[Disagreement]]:
    kept: list[Finding] = []
    disagreements: dict[Disagreement, None] = {}
    for finding in findings:
        read = confirmation.construct(finding.span, finding.use)
        if isinstance(read, Disagreement):
            disagreements[read] = None
        else:
            kept.append(replace(finding, span=read))  # its use is, field by field, what libcst reads
    return kept, sorted(disagreements)


def _without_uses(facts: Facts, **more: object) -> Facts:
    """What is left to say of a file when what is in it is in doubt: where its lines and comments are."""
    bare = Facts(facts.path, facts.language, suppressions=facts.suppressions, line_starts=facts.line_starts)
    return replace(bare, **more)
