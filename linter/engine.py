"""The whole path: paths -> files -> facts -> project -> findings."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from .analysis.intent_patterns import IntentPatterns
from .analysis.project import REINDENT_LIMIT, Project
from .bounded_work import DECIDING, BoundedWork
from .confirmed_findings import confirm
from .extraction_memo import ExtractionMemo
from .facts import Facts, Span, Suppression
from .facts.embedded_paths import real_path
from .facts.index import has_function_in
from .files.discovery import ALL_FILES, EVERY_NAME, PathPatterns, UnreadPlace, path_matcher
from .files.source_positions import SourcePositions
from .files.sources import DEFAULT_MEGABYTES, Position
from .files.suppressions import silenced_rows
from .files.workspace import DISK, Workspace
from .findings import Finding
from .frontends.extraction import guard_tables_extended
from .frontends.forked_readers import FileLimits
from .frontends.frontend import frontend_named
from .frontends.garbage import collection_paused
from .guards import Guard
from .named_tuples import NamedTuple
from .prefilter import Prefilter, prefilter_of
from .project_reading import FileChoice, ProjectReader
from .rule import Rule, Selection, chosen_rules, select_rules
from .stale_comments import UsedCodes, stale_codes

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from .extraction_cache import ExtractionCache


class Options(Struct, frozen=True):
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
    intents: tuple[tuple[str, str], ...] = ()
    """(pattern in .gitignore's syntax, purpose) pairs: what guards in these files are for. The last that matches
    counts; the patterns start from the folder of `intents_from`, or from `root`. Any other word than a `Purpose` raises
    `ValueError`."""
    intents_from: str = ""
    """The configuration file that has them, for messages."""
    max_file_size: float = DEFAULT_MEGABYTES
    """Megabytes of the largest file that is read; a larger one that may matter is a finding. 0 for any size."""
    timeout_per_file: float = 0.0
    """Seconds that each step may take for one file: reading it, deciding about it, making its fixes. What takes longer
    is left out, with a finding. 0 for any time."""
    memory: int = 0
    """Megabytes that a process may take for these; what is left out then is a finding. 0 for any amount."""
    project: str = ""
    """The folder of the project around the paths; empty for the nearest one with a configuration or a repository."""
    minimum_torch: str = ""
    """The oldest torch that the code has to run with; empty if unknown."""
    reindent_limit: int = REINDENT_LIMIT
    """How many lines a safe fix may indent again (GF407)."""
    workers: int = 0
    cache_folder: str = ""
    """Where facts about files are kept between runs, as an absolute path; empty for nowhere."""
    guards: tuple[tuple[str, Guard], ...] = ()
    """Guards that do not come with guardfix: (language, row of the guard table)."""
    rules: tuple[Rule, ...] = ()
    """Rules that do not come with guardfix; `select` and `ignore` choose among them as well."""
    extend_select: tuple[str, ...] = ()
    """Rules besides those that are selected, or on by default."""
    layers: tuple[Selection, ...] = ()
    """Choices of rules that `select`, `ignore` and `extend_select` start from: those of configuration files."""
    patterns: PathPatterns = ALL_FILES
    """Further files that are left out, and the only ones that are taken."""
    more_per_file_ignores: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    """As `per_file_ignores`, with the folder that each pattern starts from: (folder, pattern, selectors)."""
    nearest: Callable[[str], Options] | None = None
    """What is in force in a folder (a real path), where configurations differ. Rules, patterns, `per_file_ignores` and
    `minimum_torch` are then taken from there, for each file; `guards` and `rules` are joined. It may raise."""

    def changed(self, **settings: Any) -> Options:
        """The same with other values for some settings. Raises `TypeError` for one that doesn't exist."""
        return replace(self, **settings)

    def chosen(self) -> tuple[Rule, ...]:
        """The rules that are run. Raises `UnknownRule`."""
        own = Selection(self.select, self.ignore, self.extend_select)
        return chosen_rules([*self.layers, own], self.rules)


class Report(Struct, dict=True):
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
    over: Callable[[Workspace], Report] | None = None
    """The same check over other texts of the files; see `again`."""
    rules: Sequence[Rule] = ()
    """The rules that were run."""
    paths: Sequence[str] = ()
    """The files that were looked at."""
    work: BoundedWork = field(default_factory=BoundedWork)
    """What has been done with each file, and is still to be done, within the limits of the run."""
    about_left_out: Callable[[str, str], Sequence[Finding]] = lambda path, why: ()
    """The findings about a file (a path) that is left out, and the reason."""

    def again(self, texts: Mapping[str, bytes]) -> Report:
        """The same check with other texts, by path, for some of the files; only what changed is read again.

        Raises `ValueError` for a report that no check made.
        """
        if self.over is None:
            raise ValueError("only what a check has found can be checked again")
        return self.over(self.workspace.with_texts(texts))

    def rows(self, finding: Finding) -> range:
        """The rows of the statement that a finding is about."""
        facts = self.project.files.get(finding.path)
        return statement_rows(finding, facts) if facts is not None else range(1, 2)

    def rule(self, code: str) -> Rule | None:
        """The rule with that code, if it was run."""
        return next((rule for rule in self.rules if rule.code == code), None)

    @cached_property
    def positions(self) -> SourcePositions:
        """Rows and columns in the texts."""
        return SourcePositions(self.workspace)

    def start(self, finding: Finding) -> Position:
        """Row and column, from 1, of the first character that a finding is about."""
        return self.positions.start(finding.path, finding.span)

    def end(self, finding: Finding) -> Position:
        """Row and column, from 1, after the last character that a finding is about."""
        return self.positions.end(finding.path, finding.span)


def check(
    paths: Sequence[str],
    options: Options | None = None,
    *,
    workspace: Workspace = DISK,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
    at_first_hit: Callable[[], None] | None = None,
    known: ExtractionMemo | None = None,
) -> Report:
    """Every finding of the selected rules in the C++ and Python files at and below `paths`.

    `progress` is called with (files parsed, files to parse); `at_first_hit` when a file turned up that has to be
    parsed while another process still searches, so that imports can be done then. `known` is what earlier checks
    with these options have read. Raises `NoSuchPath`, `UnknownRule`, `BadPattern`, and what `options.nearest` raises.
    """
    options = options or Options()
    return _check_all(
        tuple(paths),
        options,
        executor,
        known if known is not None else ExtractionMemo(),
        replace(workspace, largest=int(options.max_file_size * (1 << 20))),
        progress=progress,
        at_first_hit=at_first_hit,
    )


def _check_all(
    paths: Sequence[str],
    options: Options,
    executor: Executor | None,
    known: ExtractionMemo,
    workspace: Workspace,
    *,
    progress: Callable[[int, int], None] | None = None,
    at_first_hit: Callable[[], None] | None = None,
) -> Report:
    run = RunOptions(options)
    for path in paths:
        run.at(path)
    while True:
        asked = run.rules, run.guards
        report = _check(paths, run, executor, known, workspace, progress, at_first_hit)
        if (run.rules, run.guards) == asked:
            report.over = partial(_check_all, paths, options, None, known)
            return report
        # A configuration further down asks for more than was searched for: rare, and then all is read again.
        known = ExtractionMemo()


def found_files(paths: Sequence[str], options: Options, most: int = EVERY_NAME) -> list[str]:
    """The files that a check would look at, among as many names below the paths. Raises as `check` does."""
    run = RunOptions(options)
    languages = prefilter_of(run.rules, on_request=options.include_docs).languages
    return ProjectReader(run.rules, Prefilter(languages, {}), _file_choice(run)).find(paths, most=most).paths()


def _file_choice(run: RunOptions) -> FileChoice:
    options = run.options
    return FileChoice(
        options.exclude,
        options.root,
        options.root_exclude,
        options.respect_gitignore,
        options.force_exclude,
        options.patterns,
        run.patterns_in if options.nearest is not None else None,
    )


def _cache(folder: str, limits: FileLimits) -> ExtractionCache | None:
    if not folder:
        return None
    from .extraction_cache import ExtractionCache
    from .files.entry_store import EntryStore

    return ExtractionCache(EntryStore(folder), limits)


def _check(
    paths: Sequence[str],
    run: RunOptions,
    executor: Executor | None,
    known: ExtractionMemo,
    workspace: Workspace,
    progress: Callable[[int, int], None] | None,
    at_first_hit: Callable[[], None] | None,
) -> Report:
    options, rules, guards = run.options, run.rules, run.guards
    extended = run.more_rules if run.more_rules or guards else None
    choice = _file_choice(run)
    limits = FileLimits(options.timeout_per_file, options.memory)
    cache = _cache(options.cache_folder, limits)
    declared_from = os.path.dirname(options.intents_from) or options.root
    with guard_tables_extended(guards):
        reader = ProjectReader(
            rules,
            prefilter_of(rules, on_request=options.include_docs, extended=extended),
            choice,
            project=options.project,
            minimum_torch=options.minimum_torch,
            reindent_limit=options.reindent_limit,
            intents=IntentPatterns.of(options.intents, declared_from, options.intents_from, workspace),
            minimum_torch_at=run.minimum_torch_at,
            guards=guards,
            workspace=workspace,
            workers=options.workers,
            limits=limits,
            executor=executor,
            known=known,
            cache=cache,
        )
        project = reader.read(paths, progress=progress, at_first_hit=at_first_hit)
        if cache is not None:
            cache.write()
        if any(rule.asks_about_comments for rule in rules):
            project = project.joined(reader.files_with_comments(project))
        elif further := reader.files_with_unknown_codes(project):
            project = project.joined(further)
        with collection_paused():
            findings, suppressed, doubted = find(project, rules, run, reader.found.unreadable, workspace, reader.work)
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
        rules=rules,
        paths=reader.found.paths(),
        work=reader.work,
        about_left_out=run.about_left_out,
    )


class _InForce:
    """Options, with what follows from them for single files."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.rules = options.chosen()
        self.codes = frozenset(rule.code for rule in self.rules)
        excluded = ((options.root or os.curdir, options.root_exclude), *options.patterns.exclude)
        self.patterns = options.patterns._replace(exclude=excluded)
        patterns: dict[tuple[str, tuple[str, ...], str], list[str]] = {}  # together, what takes the same away
        rows = [(options.root, *row) for row in options.per_file_ignores]
        for folder, pattern, select in [*rows, *options.more_per_file_ignores]:
            patterns.setdefault((folder, select, pattern if pattern.startswith("!") else ""), []).append(pattern)
        self._ignores = [
            (
                path_matcher(os.path.realpath(folder or os.curdir), together),
                frozenset(rule.code for rule in select_rules(select, more=options.rules)),
            )
            for (folder, select, _), together in patterns.items()
        ]
        self._ignored_codes = cache(self._codes_ignored_at)

    def ignores(self, path: str, rule: Rule) -> bool:
        """Whether `per-file-ignores` takes a rule away from a file."""
        return bool(self._ignores) and rule.code in self._ignored_codes(path)

    def _codes_ignored_at(self, path: str) -> frozenset[str]:
        # Links in the folders are resolved as the walk does it; the file keeps the name it goes by.
        above, name = os.path.split(path)
        full = os.path.join(os.path.realpath(above), name)
        return frozenset(code for matched, codes in self._ignores if matched(full, False) for code in codes)


class RunOptions:
    """What is in force for each file of a run, and what all of it takes together."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._main = _InForce(options)
        self._by_options = {id(options): self._main}
        self._in_folder = cache(self._in_folder_asked)
        self._of_path = cache(self._of_path_asked)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules that are run anywhere, sorted by code."""
        by_code = {rule.code: rule for one in self._by_options.values() for rule in one.rules}
        return tuple(by_code[code] for code in sorted(by_code))

    @property
    def more_rules(self) -> tuple[Rule, ...]:
        """Those that do not come with guardfix."""
        by_code = {rule.code: rule for one in self._by_options.values() for rule in one.options.rules}
        return tuple(by_code.values())

    @property
    def guards(self) -> tuple[tuple[str, Guard], ...]:
        """The guards that do not come with guardfix."""
        return tuple(dict.fromkeys(guard for one in self._by_options.values() for guard in one.options.guards))

    def at(self, path: str) -> _InForce:
        """What is in force for a file, or in a folder."""
        return self._main if self.options.nearest is None else self._of_path(path)

    def _of_path_asked(self, path: str) -> _InForce:
        return self._in_folder(path if os.path.isdir(path) else os.path.dirname(path) or os.curdir)

    def _in_folder_asked(self, folder: str) -> _InForce:
        assert self.options.nearest is not None, "asked only where configurations differ"
        options = self.options.nearest(os.path.realpath(folder))
        if id(options) not in self._by_options:
            self._by_options[id(options)] = _InForce(options)
        return self._by_options[id(options)]

    def patterns_in(self, folder: str) -> PathPatterns:
        """Which files are left out in a folder."""
        return self._in_folder(folder).patterns

    def minimum_torch_at(self, path: str) -> str:
        """The oldest torch that a file has to run with."""
        return self.at(path).options.minimum_torch

    def leaves_out(self, path: str, rule: Rule) -> bool:
        """Whether a rule is not run on a file."""
        here = self.at(path)
        return rule.code not in here.codes or here.ignores(path, rule)

    def about_left_out(self, path: str, why: str) -> list[Finding]:
        """The findings about a file that is left out."""
        rules = [rule for rule in self.rules if not self.leaves_out(path, rule)]
        return [finding for rule in rules for finding in rule.left_out_findings(path, f"this file is left out: {why}")]


class _OfFile(NamedTuple):
    """What the rules say about one file."""

    findings: list[Finding]
    suppressed: int
    doubted: list[Facts]


def find(
    project: Project,
    rules: Sequence[Rule],
    run: RunOptions,
    unread: Iterable[UnreadPlace],
    workspace: Workspace = DISK,
    work: BoundedWork | None = None,
) -> tuple[list[Finding], int, list[Facts]]:
    """The rules' findings, sorted by file and place, how many were suppressed, and what is left of doubted files.

    Findings in Python files are confirmed by libcst. Where it reads something else, the rules are asked about that.
    """
    work = work or BoundedWork()
    files: dict[str, list[Facts]] = defaultdict(list)
    for facts in project.checked():
        files[real_path(facts.path)].append(facts)
        run.at(facts.path)  # a process that is forked for the file would keep what it learns to itself

    def of_file(path: str) -> _OfFile:
        return _find_in_file(files[path], project, rules, run, workspace)

    found = work.each(of_file, files, DECIDING)
    findings = [finding for one in found for finding in one.findings]
    for path in files.keys() & work.left_out.keys():
        findings += run.about_left_out(path, work.left_out[path])
    for place in unread:
        if place.language is None:
            for rule in rules:
                if not run.leaves_out(place.path, rule):
                    kind = "file" if place.path.endswith(".gitignore") else "folder"
                    findings += rule.left_out_findings(place.path, f"cannot read this {kind}: {place.reason}")
    findings.sort(key=lambda finding: (finding.path, finding.span, finding.code))
    return findings, sum(one.suppressed for one in found), [facts for one in found for facts in one.doubted]


def _find_in_file(
    pieces: Sequence[Facts], project: Project, rules: Sequence[Rule], run: RunOptions, workspace: Workspace
) -> _OfFile:
    """What the rules say about the file's facts, and about those of the code that is embedded in it."""
    used: dict[str, UsedCodes] = defaultdict(set)
    found, suppressed = _find_in(pieces, project, rules, run.leaves_out, used)
    findings, doubted = confirm(found, project, workspace)
    about_doubts, more = _find_in(doubted, project, rules, run.leaves_out, used)
    findings += about_doubts
    for rule in rules:
        if rule.asks_about_comments:
            for facts in pieces:
                if facts.suppressions and real_path(facts.path) == facts.path and not run.leaves_out(facts.path, rule):
                    run_here = [one for one in rules if not run.leaves_out(facts.path, one)]
                    findings += rule.comment_findings(facts, stale_codes(facts, used[facts.path], run_here))
    return _OfFile(findings, suppressed + more, doubted)


def _find_in(
    files: Iterable[Facts],
    project: Project,
    rules: Sequence[Rule],
    ignored_here: Callable[[str, Rule], bool],
    used: dict[str, UsedCodes],
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
                comments: list[tuple[Suppression, str]] = []
                if facts.suppressions:
                    rows = statement_rows(finding, facts)
                    comments += silenced_rows(facts).comments(rows, rule.code, rule.name, rule.group or "")
                if comments:
                    suppressed += 1
                    used[real_path(facts.path)].update((comment.places, given) for comment, given in comments)
                else:
                    findings.append(finding)
    return findings, suppressed


def statement_rows(finding: Finding, facts: Facts) -> range:
    """The rows on which a comment silences a finding: all those of its declaration."""
    return facts.rows(statement_span(finding, facts))


def statement_span(finding: Finding, facts: Facts) -> Span:
    """The statement that a finding is about; only the marked part of one that holds functions."""
    span, use = finding.span, finding.use
    if use is not None and use.span.holds(span) and not has_function_in(use.span, facts):
        # A statement that holds a function's body says too many other things.
        span = use.span
    return span
