"""Paths -> the joined facts of the files that matter to the rules of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .analysis.ownership import class_definition, unqualified_guards
from .analysis.project import Project
from .analysis.reexports import is_module, modules_asked, new_names
from .facts import Facts
from .facts.sketch import Sketch
from .files.discovery import FoundFiles, find_files
from .files.sift import Hit, Sift
from .files.sought import Sought
from .files.workspace import DISK, Workspace
from .frontends.extraction import Job, cores, extract_all, extract_job, sketch_all, words_all
from .frontends.frontend import frontend_named
from .funnel import Funnel
from .guards import Guard
from .rule import Rule
from .surroundings import Surroundings
from .surveying import Surveying

if TYPE_CHECKING:
    from concurrent.futures import Executor

_ROUNDS = 3
"""A struct's users can be helpers, whose callers are asked in turn."""


MOST_NAMING = 60
"""A name that stands in more files is a library's: of them only those are read that register functions."""
Progress = Callable[[int, int], None]
"""What is told (files done, files in all)."""


@dataclass(frozen=True)
class FileChoice:
    """Which files below a folder are taken, as `find_files` has it."""

    exclude: tuple[str, ...] = ()
    root: str = ""
    root_exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    force_exclude: bool = False


@dataclass
class ProjectReader:
    """Reads the files of one run."""

    rules: Sequence[Rule]
    funnel: Funnel
    choice: FileChoice = FileChoice()
    minimum_torch: str = ""
    guards: tuple[tuple[str, Guard], ...] = ()
    """(language, row) that the guard table has besides its own."""
    workspace: Workspace = DISK
    workers: int = 0
    """Processes; as many as there are processors when 0."""
    executor: Executor | None = None
    found: FoundFiles = field(default_factory=FoundFiles)
    """What stands at and below the paths that were read."""

    def read(
        self,
        paths: Sequence[str],
        *,
        progress: Progress | None = None,
        at_first_hit: Callable[[], None] | None = None,
    ) -> Project:
        """The facts of all files at and below `paths` that matter, joined.

        Files that hold a guard are read first. When a use stays open on what they say, the files that name what
        is asked for (a registered function, a struct of guards, a macro, an alias) are read too.
        """
        self.workers = self.workers or cores()
        early: list[Facts] = []

        def extract_now(hit: Hit) -> None:
            if at_first_hit is not None and not early:
                at_first_hit()
            early.extend(extract_job(self._job((hit,))))

        needles = {language: sought.needles for language, sought in self.funnel.sought.items()}
        with Sift(needles, self.workers, None if self.executor else extract_now, self.workspace) as sift:
            self.found = self._find(paths, sift.add)
            hits = sift.hits()
        facts = early + self._extract(self._job(hits), progress)
        facts.sort(key=lambda one: one.path)
        facts += [
            Facts(place.path, place.language, unreadable=place.reason)
            for place in self.found.unreadable
            if place.language is not None
        ]
        facts += self._through_reexports(facts)
        self._common: set[str] = set()
        self._around = Surroundings(paths, self.found, self._find, self.workspace)
        checked = {one.path for one in facts}
        around = [*self._modules_around(facts), *self._classes_around(facts)]
        project = Project(
            [*facts, *around],
            minimum_torch=self.minimum_torch,
            around=frozenset(one.path for one in around if one.path not in checked),
        )
        if any(rule.whole_project for rule in self.rules):
            project = self._answered(project, progress)
        return project

    def _find(self, paths: Sequence[str], found: Callable[[list[str], str], None] | None = None) -> FoundFiles:
        return find_files(
            paths,
            exclude=self.choice.exclude,
            root=self.choice.root,
            root_exclude=self.choice.root_exclude,
            respect_gitignore=self.choice.respect_gitignore,
            force_exclude=self.choice.force_exclude,
            languages=self.funnel.languages,
            found=found,
            workspace=self.workspace,
        )

    def _job(self, hits: Iterable[Hit], watched: frozenset[str] = frozenset()) -> Job:
        sought: Mapping[str, Sought] | None = None if self.funnel.recorded else self.funnel.sought
        return Job(tuple(hits), watched, sought, self.guards, self.workspace)

    def _extract(self, job: Job, progress: Progress | None = None) -> list[Facts]:
        return extract_all(job, workers=self.workers, executor=self.executor, progress=progress)

    def _answered(self, project: Project, progress: Progress | None) -> Project:
        """The project with the files that name what its open uses depend on."""
        asked: dict[str, set[str]] = {language: set() for language in self.found.files}
        for _ in range(_ROUNDS):
            more: list[Facts] = []
            around: list[Facts] = []
            for language, known in asked.items():
                names = {
                    name
                    for facts in project
                    if facts.language == language
                    for rule in self.rules
                    for name in rule.questions(facts, project)
                }
                new = names - known
                if new:
                    known |= new
                    # Facts are read anew where a watched name stands: the place itself is then among the uses.
                    more += self._files_that_name(new, frozenset(known), language)
                    around += self._files_that_name(new, frozenset(known), language, self._around.files)
            if not more and not around:
                break
            project = project.joined(more, around)
        # Nothing is listed, and so nothing unseen, where nothing is asked.
        unseen = self._around.unseen if any(asked.values()) else ""
        project = project.joined(unseen=unseen, common=self._common)
        return project if unseen else self._surveyed(project, asked, progress)

    def _surveyed(self, project: Project, asked: Mapping[str, set[str]], progress: Progress | None) -> Project:
        """The project with what its other files say, where a use stays open on what was read so far."""
        for language in self.found.files:
            if frontend_named(language).sketch is None:
                continue
            watched = frozenset(asked[language])

            def sketch(paths: Sequence[str], language: str = language) -> list[Sketch]:
                job = self._job((language, path, "") for path in paths)
                return sketch_all(job, workers=self.workers, executor=self.executor, progress=progress)

            def extract(
                paths: Sequence[str],
                named: frozenset[str],
                language: str = language,
                watched: frozenset[str] = watched,
            ) -> list[Facts]:
                return self._extract(self._job(((language, path, "") for path in paths), watched)._replace(named=named))

            around = self._around.files.get(language, ())
            surveying = Surveying(language, self.rules, self.found.files[language], around, sketch, extract)
            project = surveying.surveyed(project)
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
        languages = {facts.language for facts in found}
        return [
            facts
            for language in sorted(languages & self._around.files.keys())
            for facts in self._files_that_name(names, frozenset(), language, self._around.files, class_definition)
        ]

    def _files_that_name(
        self,
        names: Iterable[str],
        watched: frozenset[str],
        language: str,
        among: Mapping[str, Sequence[str]] | None = None,
        stands: Callable[[Iterable[bytes]], bytes | frozenset[bytes]] = frozenset,
    ) -> list[Facts]:
        """The facts of the files, of all that are checked or `among` others, in which one of the names stands."""
        words = [name.encode() for name in sorted(names)]
        paths = (self.found.files if among is None else among).get(language, ())
        if not words or not paths:
            return []
        with Sift({language: words}, self.workers, workspace=self.workspace) as sift:
            sift.add(paths, language)
            hits = sift.hits()
        job = self._job(hits, watched)._replace(stands=stands(words))
        if len(hits) > MOST_NAMING and isinstance(job.stands, frozenset):
            job = job._replace(hits=self._without_common_names(job))
        return self._extract(job)

    def _without_common_names(self, job: Job) -> tuple[Hit, ...]:
        """The files that name what few files name, or that may register what many name."""
        found = words_all(job, workers=self.workers, executor=self.executor)
        counts = Counter(word for file in found for word in file.words)
        common = {word for word, count in counts.items() if count > MOST_NAMING}
        self._common.update(word.decode() for word in common)
        return tuple(file.hit for file in found if file.registers or not file.words <= common)
