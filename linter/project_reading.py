"""Paths -> the joined facts of the files that matter to the rules of a run."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct, field

from .analysis.build_facts import NO_BUILD, BuildFacts
from .analysis.intent_patterns import NO_PATTERNS, IntentPatterns
from .analysis.ownership import class_definition, unqualified_guards
from .analysis.project import REINDENT_LIMIT, Project
from .analysis.reexports import is_module, modules_asked, new_names
from .bounded_work import DECIDING, BoundedWork
from .extraction_memo import ExtractionMemo
from .facts import Facts
from .facts.file_summary import FileSummary
from .facts.header_facts import HeaderFacts
from .facts.python_uses import runs_inference
from .files.build_targets import BuildTargets
from .files.compile_commands import CompileCommands, find_compile_commands
from .files.discovery import ALL_FILES, EVERY_NAME, FoundFiles, PathPatterns, find_files
from .files.parallel_search import Hit, ParallelSearch
from .files.project_root import UnknownSettings, project_root
from .files.search import names_a_code, names_one_of
from .files.search_terms import SearchTerms
from .files.suppressions import find_directives, is_ours, unknown_code
from .files.workspace import DISK, Workspace
from .flow.kept_runs import KeptRuns
from .frontends.extraction import Job, cores, extract_all, extract_job, summarize_all, words_all
from .frontends.forked_readers import NO_LIMITS, FileLimits
from .frontends.frontend import frontend_named, frontend_of
from .guards import Guard
from .prefilter import Prefilter
from .project_summarizing import ProjectSummarizing, uses_left_open
from .related_files import RelatedFiles
from .rule import Rule
from .rule_names import rule_names

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from .extraction_cache import ExtractionCache

_ROUNDS = 3  # a struct's users can be helpers, whose callers are asked in turn


def _words() -> list[bytes]:
    """What is in a comment that silences one of guardfix's rules, or means to."""
    return [b"GF", b"gf", *sorted({rule.name.encode() for rule in rule_names()})]


MOST_NAMING = 60
"""A name that is in more files is a library's: of them only those are read that register functions."""
_Progress = Callable[[int, int], None]
"""Called with (files done, files in all)."""


class FileChoice(Struct, frozen=True):
    """Which files below a folder are taken, as `find_files` has it."""

    exclude: tuple[str, ...] = ()
    root: str = ""
    root_exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    force_exclude: bool = False
    patterns: PathPatterns = ALL_FILES
    patterns_in: Callable[[str], PathPatterns] | None = None


class ProjectReader(Struct, dict=True):
    """Reads the files of one run."""

    rules: Sequence[Rule]
    prefilter: Prefilter
    choice: FileChoice = field(default_factory=FileChoice)
    project: str = ""
    """The folder of the project; empty to look for it above the paths."""
    minimum_torch: str = ""
    intents: IntentPatterns = NO_PATTERNS
    reindent_limit: int = REINDENT_LIMIT
    minimum_torch_at: Callable[[str], str] | None = None
    """The oldest torch of a file's part of the project, where that differs."""
    guards: tuple[tuple[str, Guard], ...] = ()
    """(language, row) that the guard table has besides its own."""
    workspace: Workspace = DISK
    workers: int = 0
    """Processes; as many as there are processors when 0."""
    executor: Executor | None = None
    known: ExtractionMemo = field(default_factory=ExtractionMemo)
    """What an earlier run over the same files has read, and what this one reads."""
    cache: ExtractionCache | None = None
    """What runs before this one have read."""
    limits: FileLimits = NO_LIMITS
    lost: list[str] = field(default_factory=list)
    """How processes ended that were lost while they read files."""
    work: BoundedWork = field(default_factory=BoundedWork)
    """What is done with each file besides reading it, within the same limits; made by `read`."""
    found: FoundFiles = field(default_factory=FoundFiles)
    """What is at and below the paths that were read."""

    def read(
        self,
        paths: Sequence[str],
        *,
        progress: _Progress | None = None,
        at_first_hit: Callable[[], None] | None = None,
    ) -> Project:
        """The facts of all files at and below `paths` that matter, joined.

        Files that hold a guard are read first. When a use stays open on what they say, the files that name what
        is asked for (a registered function, a struct of guards, a macro, an alias) are read too.
        """
        self.workers = self.workers or cores()
        self.work = BoundedWork(self.limits, self.workers, self.lost)
        early: list[Facts] = []

        def extract_now(hit: Hit) -> None:
            if at_first_hit is not None and not early:
                at_first_hit()
            early.extend(self._read(self._job((hit,)), extract_job))

        needles = {language: terms.needles for language, terms in self.prefilter.terms.items()}
        meanwhile = None if self.executor or self.limits else extract_now
        comments = names_one_of(_words()) if any(rule.asks_about_comments for rule in self.rules) else names_a_code
        with ParallelSearch(needles, self.workers, meanwhile, self.workspace, comments=comments) as search:
            self.found = self.find(paths, search.add)
            hits = search.hits()
        self._naming = search.naming
        self.lost += search.lost
        facts = sorted(early + self._extract(self._job(hits), progress), key=lambda one: one.path)
        facts += [
            Facts(place.path, place.language, unreadable=place.reason)
            for place in self.found.unreadable
            if place.language is not None
        ]
        self._around = RelatedFiles(paths, self.found, self._find_around, self.workspace, self.known, self.project)
        self._common: set[str] = set()
        facts += self._through_reexports(facts)
        around = [*self._modules_around(facts), *self._classes_around(facts)]
        project = Project(
            [*facts, *around],
            minimum_torch=self.minimum_torch,
            intents=self.intents,
            reindent_limit=self.reindent_limit,
            minimum_torch_at=self.minimum_torch_at,
            around=frozenset(one.path for one in around) - {one.path for one in facts},
            build=self._build(paths, facts),
        )
        project.lasting_memory(KeptRuns).store = self.cache.store if self.cache and not self.workspace.buffers else None
        asked: dict[str, set[str]] = {language: set() for language in self.found.files}
        answers = any(rule.whole_project for rule in self.rules)
        if answers:
            project = self._answered(project, asked, progress)
        if any(rule.follows_models for rule in self.rules):
            project = self._models_followed(project, progress)
        # What a project summary leads to is decided on what all other files say, and so once.
        return self._summarized(project, asked, progress) if answers and not project.unseen else project

    def _build(self, paths: Sequence[str], facts: Iterable[Facts]) -> BuildFacts:
        """The build of the project around the paths, where some C++ may depend on it."""
        languages = {one.language for one in facts if one.guard_uses}
        languages = {name for name in languages if frontend_named(name).header is not None}
        named = self.workspace.key(self.project) if self.project else ""
        roots = list(dict.fromkeys(named or project_root(path) or path for path in map(self.workspace.key, paths)))
        if not languages or not roots:
            return NO_BUILD
        described = ((root, find_compile_commands(root, self.workspace)) for root in roots)
        root, commands = next(((root, found) for root, found in described if found.by_file), (roots[0], None))

        def listed() -> list[str]:
            listings = (self.found.files, self._around.files)
            return [path for files in listings for name in languages for path in files.get(name, ())]

        return BuildFacts(
            commands or CompileCommands(),
            self.workspace.key,
            partial(self._header_below, root),
            BuildTargets(root, self.workspace, lambda: map(self.workspace.key, listed())),
            listed,
        )

    def _header_below(self, root: str, path: str) -> HeaderFacts | None:
        """What the preprocessor makes of a file of the project; None for one of somebody else's."""
        frontend = frontend_of(path)
        if frontend is None or frontend.header is None or not path.startswith(root + os.sep):
            return None
        source = self.workspace.read_or_none(path)
        return frontend.header(source) if source is not None else None

    def files_with_comments(self, project: Project) -> list[Facts]:
        """Further files in which a comment that silences findings names a rule of guardfix's; only these comments."""
        further = {path: language for path, language in self._naming.items() if path not in project.files}
        # The files of a language in which the rules look for nothing else haven't been searched.
        terms = self.prefilter.terms
        others = [one for one in self.found.files if one in terms and not terms[one].needles]
        if others:
            with ParallelSearch(dict.fromkeys(others, _words()), self.workers, workspace=self.workspace) as search:
                for language in others:
                    search.add([path for path in self.found.files[language] if path not in project.files], language)
                further |= {path: language for language, path, _ in search.hits()}
        return self._with_comments(dict(sorted(further.items())), is_ours)

    def files_with_unknown_codes(self, project: Project) -> list[Facts]:
        """Further files in which such a comment names a code that no rule has; only the files' comments."""
        further = {path: self._naming[path] for path in sorted(self._naming) if path not in project.files}
        return self._with_comments(further, unknown_code)

    def _with_comments(self, languages: Mapping[str, str], asked: Callable[[str], bool]) -> list[Facts]:
        def comments_of(path: str) -> Facts | None:
            return self._comments_of(path, languages[path], asked)

        found = self.work.each(comments_of, languages, "looking for comments in it")
        return [facts for facts in found if facts is not None]

    def _comments_of(self, path: str, language: str, asked: Callable[[str], bool]) -> Facts | None:
        source = self.workspace.read_or_none(path)
        if source is None or re.search(rb"NOLINT|(?i:noqa)", source.text) is None:
            return None
        found = find_directives(source.text, source.row, frontend_named(language).comments).suppressions
        if not any(asked(given) for suppression in found for given in suppression.codes):
            return None
        lines = source.line_starts
        return Facts(path, language, digest=source.digest, suppressions=found, line_starts=lines)

    def _find_around(self, paths: Sequence[str], found: Callable[[list[str], str], None] | None = None) -> FoundFiles:
        """As `find`, of files that are only asked: a mistake in the settings of another folder is not this run's."""
        patterns_in = self.choice.patterns_in

        def patterns_or_ours(folder: str) -> PathPatterns:
            assert patterns_in is not None
            try:
                return patterns_in(folder)
            except UnknownSettings:
                return self.choice.patterns

        return self.find(paths, found, patterns_or_ours if patterns_in is not None else None)

    def find(
        self,
        paths: Sequence[str],
        found: Callable[[list[str], str], None] | None = None,
        patterns_in: Callable[[str], PathPatterns] | None = None,
        most: int = EVERY_NAME,
    ) -> FoundFiles:
        """The files of the languages that the run looks at, as its choice has it, among the first names."""
        return find_files(
            paths,
            exclude=self.choice.exclude,
            root=self.choice.root,
            root_exclude=self.choice.root_exclude,
            respect_gitignore=self.choice.respect_gitignore,
            force_exclude=self.choice.force_exclude,
            patterns=self.choice.patterns,
            patterns_in=patterns_in or self.choice.patterns_in,
            languages=self.prefilter.languages,
            found=found,
            workspace=self.workspace,
            most=most,
        )

    def _job(self, hits: Iterable[Hit], watched: frozenset[str] = frozenset()) -> Job:
        terms: Mapping[str, SearchTerms] | None = None if self.prefilter.recorded else self.prefilter.terms
        return Job(tuple(hits), watched, terms, self.guards, self.workspace)

    def _extract(self, job: Job, progress: _Progress | None = None) -> list[Facts]:
        extract = partial(
            extract_all,
            workers=self.workers,
            executor=self.executor,
            progress=progress,
            limits=self.limits,
            lost=self.lost,
        )
        return self._read(job, extract)

    def _read(self, job: Job, extract: Callable[[Job], list[Facts]]) -> list[Facts]:
        known, rest = self.known.split(job)
        if self.cache is not None:
            kept, rest = self.cache.known(self.cache.FACTS, rest)
            self.known.remember(kept, job)
            known += kept
        read = extract(rest)
        self.known.remember(read, job)
        if self.cache is not None:
            self.cache.keep(self.cache.FACTS, rest, read)
        return sorted((*known, *read), key=lambda facts: facts.path) if known else read

    def _file_summaries(self, language: str, progress: _Progress | None, paths: Sequence[str]) -> list[FileSummary]:
        known, job = self.known.split_file_summaries(self._job((language, path, "") for path in paths))
        if self.cache is not None:
            kept, job = self.cache.known(self.cache.FILE_SUMMARIES, job)
            self.known.remember_file_summaries(kept, self.workspace)
            known += kept
        made, left_out = summarize_all(
            job,
            workers=self.workers,
            executor=self.executor,
            progress=progress,
            limits=self.limits,
            lost=self.lost,
        )
        self.work.left_out.update(left_out)
        if self.cache is not None:
            self.cache.keep(self.cache.FILE_SUMMARIES, job, made)
        self.known.remember_file_summaries(made, self.workspace)
        return sorted((*known, *made), key=lambda file_summary: file_summary.path)

    def _answered(self, project: Project, asked: Mapping[str, set[str]], progress: _Progress | None) -> Project:
        """The project with the files that name what its open uses depend on; these names are added to `asked`."""
        for _ in range(_ROUNDS):
            found: list[Facts] = []
            for language, known in asked.items():
                new = self._questions(project, language) - known
                if new:
                    found += self._asking(new, known, language, progress)
            if not found:
                break
            others = {path for paths in self._around.files.values() for path in paths}
            more = [one for one in found if one.path not in others]
            around = [one for one in found if one.path in others]
            project = project.joined(more, around, asked=frozenset().union(*asked.values()))
        # Nothing is listed, and so nothing unseen, where nothing is asked.
        left_open = any(names or uses_left_open(project, one, self.rules, self.work) for one, names in asked.items())
        unseen = self._around.unseen if left_open else ""
        return project.joined(unseen=unseen, common=self._common)

    def _questions(self, project: Project, language: str) -> set[str]:
        """The names that the rules ask about."""

        def of_file(path: str) -> set[str]:
            facts = project.files[path]
            return {name for rule in self.rules for name in rule.questions(facts, project)}

        paths = [facts.path for facts in project if facts.language == language]
        return set().union(*self.work.each(of_file, paths, DECIDING))

    def _models_followed(self, project: Project, progress: _Progress | None) -> Project:
        """The project with the files in which models are built, run and trained that run under inference mode."""
        for language in self.found.files:
            if not any(one.language == language and one.python and runs_inference(one) for one in project):
                continue
            checked, around = self.found.files[language], self._around.files.get(language, ())
            matters = partial(self._may_fill, language)
            all_matter = any(rule.asks_training for rule in self.rules)
            if not all_matter and not any(map(matters, (*checked, *around))):
                continue  # then there is nothing that models could share
            from .model_following import ModelFollowing

            following = ModelFollowing(language, checked, around, None if all_matter else matters)
            for _ in range(_ROUNDS):
                names, paths = following.asked(project)
                callers = self._files_that_call(names, following.near(project, names), language, not all_matter)
                hits: list[Hit] = [(language, path, "") for path in dict.fromkeys((*paths, *callers))]
                if not hits:
                    break
                watched = frozenset(new_names(one for one in project if one.language == language))
                found = self._extract(self._job(hits, watched)._replace(named=frozenset(following.names)), progress)
                following.read.update(path for _, path, _ in hits)
                project = project.joined(
                    [facts for facts in found if facts.path not in following.around],
                    [facts for facts in found if facts.path in following.around],
                )
        return project

    def _may_fill(self, language: str, path: str) -> bool:
        """Whether a model in a file may fill its own cache when it is run first."""
        may_fill = frontend_named(language).may_fill
        if may_fill is None or (source := self.workspace.read_or_none(path)) is None:
            return False
        return may_fill(source.text)

    def _summarized(self, project: Project, asked: Mapping[str, set[str]], progress: _Progress | None) -> Project:
        """The project with what its other files say, where a use stays open on what was read so far."""
        for language, known in asked.items():
            if frontend_named(language).file_summary is None:
                continue

            def extract(
                paths: Sequence[str], named: frozenset[str], language: str = language, known: Set[str] = known
            ) -> list[Facts]:
                job = self._job(((language, path, "") for path in paths), frozenset(known))
                return self._extract(job._replace(named=named), progress)

            summaries = partial(self._file_summaries, language, progress)
            asking = partial(self._asking, known=known, language=language, progress=progress)
            checked, around = self.found.files[language], self._around.files.get(language, ())
            summarizing = ProjectSummarizing(
                language, self.rules, checked, around, summaries, extract, asking, self._common, self.work
            )
            project = summarizing.summarized(project)
        return project

    def _through_reexports(self, found: Sequence[Facts]) -> list[Facts]:
        """The facts of files that use guards only under names which other files gave them."""
        more: list[Facts] = []
        for language in self.found.files:
            names = frozenset(new_names(facts for facts in found if facts.language == language))
            if names:
                more += self._files_that_name(names, names, language)
        return more

    def _modules_around(self, found: Sequence[Facts]) -> list[Facts]:
        """The facts of the project's other modules from which the files take what may be a guard."""
        facts = list(found)
        more: list[Facts] = []
        for language in self.found.files:
            while True:
                known = {one.path for one in facts}
                asked = modules_asked(facts) if any(one.language == language for one in facts) else frozenset()
                if not asked:
                    break
                paths = [p for p in self._around.files.get(language, ()) if p not in known and is_module(p, asked)]
                new = self._extract(self._job((language, path, "") for path in paths))
                if not new:
                    break
                facts += new
                more += new
        return more

    def _classes_around(self, found: Sequence[Facts]) -> list[Facts]:
        """The facts of the project's other files that define classes of the guards' names."""
        names = {name for facts in found for name in unqualified_guards(facts)}
        if not names:
            return []
        languages, among = {facts.language for facts in found}, [self._around.files]
        return [
            facts
            for language in sorted(languages & self._around.files.keys())
            for facts in self._files_that_name(names, frozenset(), language, among, None, class_definition)
        ]

    def _hits_of(self, words: Sequence[bytes], among: Sequence[str], language: str) -> list[Hit]:
        """The files in which one of the words occurs."""
        if among is not self._around.files.get(language):
            return self._sifted(words, among, language)
        # What is in memory may be another text each time; the disk stays as it was.
        in_memory = [path for path in among if self.workspace.buffer(path) is not None]
        hits = self.known.search(words, among)
        if hits is None:
            left_out = set(in_memory)
            hits = self._sifted(words, [path for path in among if path not in left_out], language)
            self.known.remember_search(words, among, hits)
        return sorted((*hits, *self._sifted(words, in_memory, language)), key=lambda hit: hit[1])

    def _sifted(self, words: Sequence[bytes], among: Sequence[str], language: str) -> list[Hit]:
        with ParallelSearch({language: words}, self.workers, workspace=self.workspace) as search:
            search.add(among, language)
            hits = search.hits()
        self.lost += search.lost
        return hits

    def _files_that_call(self, names: Iterable[str], among: Sequence[str], language: str, training: bool) -> list[str]:
        """The paths of those files in which one of the names is called, with `training` of those that may train."""
        from .model_following import calling_files

        words = [name.encode() for name in sorted(names)]
        hits = self._hits_of(words, among, language) if words and among else []
        sources = ((path, self.workspace.read_or_none(path)) for _, path, why in hits if not why)
        return calling_files(words, ((path, source.text) for path, source in sources if source is not None), training)

    def _files_that_name(
        self,
        names: Iterable[str],
        watched: frozenset[str],
        language: str,
        among: Iterable[Mapping[str, Sequence[str]]] = (),
        progress: _Progress | None = None,
        stands: Callable[[Iterable[bytes]], bytes | frozenset[bytes]] = frozenset,
    ) -> list[Facts]:
        """The facts of the files, of all that are checked or `among` others, in which one of the names occurs."""
        words = [name.encode() for name in sorted(names)]
        listed = filter(None, (files.get(language, ()) for files in among or (self.found.files,)))
        hits = [hit for paths in listed for hit in self._hits_of(words, paths, language)] if words else []
        job = self._job(hits, watched)._replace(stands=stands(words))
        if len(hits) > MOST_NAMING and isinstance(job.stands, frozenset):
            job = job._replace(hits=self._without_common_names(job))
        return self._extract(job, progress)

    def _asking(self, names: Set[str], known: set[str], language: str, progress: _Progress | None) -> list[Facts]:
        """Of all files of the project: which names are common doesn't depend on those that are checked."""
        known |= names  # Facts are read again where a watched name occurs: the place itself is then among the uses.
        files = (self.found.files, self._around.files)
        return self._files_that_name(names, frozenset(known), language, files, progress)

    def _without_common_names(self, job: Job) -> tuple[Hit, ...]:
        """The files that name what few files name, or that may register what many name."""
        found, left_out = words_all(
            job, workers=self.workers, executor=self.executor, limits=self.limits, lost=self.lost
        )
        self.work.left_out.update(left_out)
        counts = Counter(word for file in found for word in file.words)
        common = {word for word, count in counts.items() if count > MOST_NAMING}
        self._common.update(word.decode() for word in common)
        return tuple(file.hit for file in found if file.registers or not file.words <= common)
