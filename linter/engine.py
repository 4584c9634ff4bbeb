"""The whole path: paths -> files -> facts -> project -> findings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING

from .analysis.project import Project
from .confirmed_findings import confirm
from .facts import Facts
from .facts.index import has_function_in
from .files.discovery import FoundFiles, find_files, path_matcher
from .files.sift import Hit, Sift
from .files.sought import Sought
from .files.source_positions import SourcePositions
from .files.sources import Position
from .files.suppressions import is_suppressed
from .files.workspace import DISK, Workspace
from .findings import Finding
from .frontends.extraction import Job, collection_paused, cores, extract_all, extract_job, guard_tables_extended
from .frontends.frontend import frontend_named
from .funnel import Funnel, funnel_of
from .guards import Guard
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
    rules = select_rules(options.select, options.ignore, options.rules)
    with guard_tables_extended(options.guards):
        walk, project = read_project(
            paths,
            rules,
            options,
            workspace=workspace,
            executor=executor,
            progress=progress,
            at_first_hit=at_first_hit,
        )
        with collection_paused():
            findings, suppressed, doubted = find(project, rules, options, walk)
    return Report(
        findings=findings,
        project=project,
        files=len(walk),
        partial=[
            *(facts for facts in project if facts.partial and not frontend_named(facts.language).is_fragment),
            *(facts for facts in doubted if facts.partial),
        ],
        suppressed=suppressed,
        workspace=workspace,
    )


def read_project(
    paths: Sequence[str],
    rules: Sequence[Rule],
    options: Options,
    *,
    workspace: Workspace = DISK,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
    at_first_hit: Callable[[], None] | None = None,
) -> tuple[FoundFiles, Project]:
    """What was found below `paths`, and the facts of all files that matter, joined.

    Files that hold a guard are read first. When a use stays open on what they say, the files that name what
    is asked for (a registered function, a struct of guards, a macro, an alias) are read too.
    """
    reader = _Reader(options, funnel_for(rules, options), executor, workspace)
    early: list[Facts] = []

    def extract_now(hit: Hit) -> None:
        if at_first_hit is not None and not early:
            at_first_hit()
        early.extend(extract_job(reader.job((hit,))))

    needles = {language: sought.needles for language, sought in reader.funnel.sought.items()}
    with Sift(needles, reader.workers, None if executor else extract_now, workspace) as sift:
        walk = find_files(
            paths,
            exclude=options.exclude,
            root=options.root,
            root_exclude=options.root_exclude,
            respect_gitignore=options.respect_gitignore,
            force_exclude=options.force_exclude,
            languages=reader.funnel.languages,
            found=sift.add,
            workspace=workspace,
        )
        hits = sift.hits()
    found = early + extract_all(reader.job(hits), workers=reader.workers, executor=executor, progress=progress)
    found.sort(key=lambda facts: facts.path)
    found += [
        Facts(place.path, place.language, unreadable=place.reason)
        for place in walk.unreadable
        if place.language is not None
    ]
    found += _through_reexports(found, walk, reader)
    project = Project(found, minimum_torch=options.minimum_torch)
    if any(rule.whole_project for rule in rules):
        project = _answer_open_questions(project, rules, walk, reader)
    return walk, project


def funnel_for(rules: Sequence[Rule], options: Options) -> Funnel:
    """What a run searches for."""
    extended = options.rules if options.rules or options.guards else None
    return funnel_of(rules, on_request=options.include_docs, extended=extended)


class _Reader:
    """How files become facts in one run."""

    def __init__(self, options: Options, funnel: Funnel, executor: Executor | None, workspace: Workspace) -> None:
        self.funnel = funnel
        self.executor = executor
        self.workspace = workspace
        self.workers = options.workers or cores()
        self._guards = options.guards
        self._sought: Mapping[str, Sought] | None = None if funnel.recorded else funnel.sought

    def job(self, hits: Iterable[Hit], watched: frozenset[str] = frozenset()) -> Job:
        return Job(tuple(hits), watched, self._sought, self._guards, self.workspace)


_ROUNDS = 3
"""A struct's users can be helpers, whose callers are asked in turn."""


def _answer_open_questions(project: Project, rules: Sequence[Rule], walk: FoundFiles, reader: _Reader) -> Project:
    """The project with the files that name what its open uses depend on."""
    asked: dict[str, set[str]] = {language: set() for language in walk.files}
    for _ in range(_ROUNDS):
        more: list[Facts] = []
        for language, known in asked.items():
            names = {
                name
                for facts in project
                if facts.language == language
                for rule in rules
                for name in rule.questions(facts, project)
            }
            if not names <= known:
                known |= names
                # Facts are read anew where a watched name stands: the place itself is then among the uses.
                more += _files_that_name(names, frozenset(known), language, walk, reader)
        if not more:
            break
        project = project.joined(more)
    return project


def _through_reexports(found: Sequence[Facts], walk: FoundFiles, reader: _Reader) -> list[Facts]:
    """The facts of files that use guards only under names which other files gave them."""
    more: list[Facts] = []
    for language in walk.files:
        if not any(facts.python is not None and facts.python.exports for facts in found if facts.language == language):
            continue
        from .analysis.reexports import new_names

        names = frozenset(new_names(found))
        if names:
            more += _files_that_name(names, names, language, walk, reader)
    return more


def _files_that_name(
    names: Iterable[str],
    watched: frozenset[str],
    language: str,
    walk: FoundFiles,
    reader: _Reader,
) -> list[Facts]:
    names = sorted(names)
    with Sift({language: [name.encode() for name in names]}, reader.workers, workspace=reader.workspace) as sift:
        sift.add(walk.files[language], language)
        hits = [hit for hit in sift.hits() if names_word(hit[1], names, reader.workspace)]
    return extract_all(reader.job(hits, watched), workers=reader.workers, executor=reader.executor)


def names_word(path: str, names: Iterable[str], workspace: Workspace = DISK) -> bool:
    """Whether one of the names stands in the file as a whole word."""
    import re

    source = workspace.read_or_none(path)
    words = b"|".join(re.escape(name.encode()) for name in names)
    return source is not None and re.search(rb"\b(?:" + words + rb")\b", source.text) is not None


def find(
    project: Project, rules: Sequence[Rule], options: Options, walk: FoundFiles
) -> tuple[list[Finding], int, list[Facts]]:
    """The rules' findings, sorted by file and place, how many were suppressed, and what is left of doubted files.

    Findings in Python files are confirmed by libcst. Where it reads something else, the rules are asked about that.
    """
    ignored_here = _per_file(options)
    found, suppressed = _find_in(project, project, rules, ignored_here)
    findings, doubted = confirm(found, project, walk.workspace)
    about_doubts, more = _find_in(doubted, project, rules, ignored_here)
    findings += about_doubts
    for path, reason, language in walk.unreadable:
        if language is None:
            for rule in rules:
                if not ignored_here(path, rule):
                    findings += rule.folder_findings(path, reason)
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
