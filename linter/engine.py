"""The whole path: paths -> files -> facts -> project -> findings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING

from .analysis.project import Project
from .confirmed_findings import confirm
from .facts import Facts
from .facts.index import has_function_in
from .files.discovery import UnreadPlace, path_matcher
from .files.source_positions import SourcePositions
from .files.sources import DEFAULT_MEGABYTES, Position
from .files.suppressions import is_suppressed
from .files.workspace import DISK, Workspace
from .findings import Finding
from .frontends.extraction import collection_paused, guard_tables_extended
from .frontends.forked_readers import FileLimits
from .frontends.frontend import frontend_named
from .funnel import funnel_of
from .guards import Guard
from .project_reading import FileChoice, ProjectReader
from .rule import Rule, select_rules

if TYPE_CHECKING:
    from concurrent.futures import Executor


@dataclass(frozen=True)
class Options:
    """What a run looks at and for."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(pattern in .gitignore's syntax, selectors) pairs; the patterns start from `root`."""
    exclude: tuple[str, ...] = ()
    """Patterns in .gitignore's syntax that start from the working folder."""
    root: str = ""
    """The folder of the configuration; the working folder when empty."""
    root_exclude: tuple[str, ...] = ()
    """As `exclude`, starting from `root`."""
    respect_gitignore: bool = True
    force_exclude: bool = False
    include_docs: bool = False
    """C++ in the code blocks of .md and .rst files is looked at too."""
    max_file_size: float = DEFAULT_MEGABYTES
    """Megabytes of the largest file that is read; a larger one that may matter is a finding. 0 for any size."""
    timeout_per_file: float = 0.0
    """Seconds that reading one file may take; what takes longer is a finding. 0 for any time."""
    memory: int = 0
    """Megabytes that a process may take; what is left out then is a finding. 0 for any amount."""
    minimum_torch: str = ""
    """The oldest torch that the code has to run with; empty when nobody said."""
    workers: int = 0
    guards: tuple[tuple[str, Guard], ...] = ()
    """Guards that do not come with guardfix: (language, row of the guard table)."""
    rules: tuple[Rule, ...] = ()
    """Rules that do not come with guardfix; `select` and `ignore` choose among them as well."""


@dataclass
class Report:
    """What a run found."""

    findings: Sequence[Finding]
    project: Project
    files: int
    """How many files were looked at."""
    partial: list[Facts] = field(default_factory=list)
    """Files that the parser could only read in part."""
    suppressed: int = 0
    lost: Sequence[str] = ()
    """How processes ended that were lost while they read files (`killed by SIGKILL`); their files were read again."""
    workspace: Workspace = DISK
    """Where the texts that the findings are about came from."""

    @cached_property
    def positions(self) -> SourcePositions:
        """Rows and columns in the texts."""
        return SourcePositions(self.workspace)

    def start(self, finding: Finding) -> Position:
        """Row and column, from 1, of the first character that a finding is about."""
        return self.positions.start(finding.path, finding.span)

    def end(self, finding: Finding) -> Position:
        """Row and column, from 1, behind the last character that a finding is about."""
        return self.positions.end(finding.path, finding.span)


def check(
    paths: Sequence[str],
    options: Options | None = None,
    *,
    workspace: Workspace = DISK,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
    at_first_hit: Callable[[], None] | None = None,
) -> Report:
    """Every finding of the selected rules in the C++ and Python files at and below `paths`.

    `progress` is called with (files parsed, files to parse); `at_first_hit` when a file turned up that has to be
    parsed while another process still searches, so that imports can be done then. Raises `NoSuchPath`,
    `UnknownRule`, `BadPattern`.
    """
    options = options or Options()
    workspace = replace(workspace, largest=int(options.max_file_size * (1 << 20)))
    rules = select_rules(options.select, options.ignore, options.rules)
    extended = options.rules if options.rules or options.guards else None
    choice = FileChoice(
        options.exclude, options.root, options.root_exclude, options.respect_gitignore, options.force_exclude
    )
    with guard_tables_extended(options.guards):
        reader = ProjectReader(
            rules,
            funnel_of(rules, on_request=options.include_docs, extended=extended),
            choice,
            minimum_torch=options.minimum_torch,
            guards=options.guards,
            workspace=workspace,
            workers=options.workers,
            limits=FileLimits(options.timeout_per_file, options.memory),
            executor=executor,
        )
        project = reader.read(paths, progress=progress, at_first_hit=at_first_hit)
        with collection_paused():
            findings, suppressed, doubted = find(project, rules, options, reader.found.unreadable, workspace)
    return Report(
        findings=findings,
        project=project,
        files=len(reader.found),
        partial=[
            *(facts for facts in project.checked() if facts.partial and not frontend_named(facts.language).is_fragment),
            *(facts for facts in doubted if facts.partial),
        ],
        suppressed=suppressed,
        lost=reader.lost,
        workspace=workspace,
    )


def find(
    project: Project,
    rules: Sequence[Rule],
    options: Options,
    unread: Iterable[UnreadPlace],
    workspace: Workspace = DISK,
) -> tuple[list[Finding], int, list[Facts]]:
    """The rules' findings, sorted by file and place, how many were suppressed, and what is left of doubted files.

    Findings in Python files are confirmed by libcst. Where it reads something else, the rules are asked about that.
    """
    ignored_here = _per_file(options)
    found, suppressed = _find_in(project.checked(), project, rules, ignored_here)
    findings, doubted = confirm(found, project, workspace)
    about_doubts, more = _find_in(doubted, project, rules, ignored_here)
    findings += about_doubts
    for place in unread:
        if place.language is None:
            for rule in rules:
                if not ignored_here(place.path, rule):
                    findings += rule.folder_findings(place.path, place.reason)
    findings.sort(key=lambda finding: (finding.path, finding.span, finding.code))
    return findings, suppressed + more, doubted


def _find_in(
    files: Iterable[Facts], project: Project, rules: Sequence[Rule], ignored_here: Callable[[str, Rule], bool]
) -> tuple[list[Finding], int]:
    findings: list[Finding] = []
    suppressed = 0
    for facts in files:
        for rule in rules:
            if facts.language not in rule.languages:
                continue
            if ignored_here(facts.path, rule):
                continue
            for finding in rule.findings(facts, project):
                if facts.suppressions and is_suppressed(
                    facts.suppressions, _rows(finding, facts), rule.code, rule.name
                ):
                    suppressed += 1
                else:
                    findings.append(finding)
    return findings, suppressed


def _rows(finding: Finding, facts: Facts) -> range:
    """The rows on which a comment silences a finding: all those of its declaration."""
    span, use = finding.span, finding.use
    if use is not None and use.span.holds(span) and not has_function_in(use.span, facts):
        # A statement that holds a function's body says too many other things.
        span = use.span
    return facts.rows(span)


def _per_file(options: Options) -> Callable[[str, Rule], bool]:
    if not options.per_file_ignores:
        return lambda path, rule: False
    folder = os.path.realpath(options.root or os.curdir)
    table = [
        (path_matcher(folder, [pattern]), {rule.code for rule in select_rules(select)})
        for pattern, select in options.per_file_ignores
    ]

    @cache
    def codes(path: str) -> frozenset[str]:
        # Links in the folders are resolved as the walk does it; the file keeps the name it goes by.
        above, name = os.path.split(path)
        full = os.path.join(os.path.realpath(above), name)
        return frozenset(code for matched, codes in table if matched(full, False) for code in codes)

    return lambda path, rule: rule.code in codes(path)
