"""Paths -> the joined facts of the files that matter to the rules of a run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .analysis.project import Project
from .analysis.reexports import new_names
from .facts import Facts
from .files.discovery import FoundFiles, find_files
from .files.sift import Hit, Sift
from .files.sought import Sought
from .files.workspace import DISK, Workspace
from .frontends.extraction import Job, cores, extract_all, extract_job
from .funnel import Funnel
from .guards import Guard
from .rule import Rule

if TYPE_CHECKING:
    from concurrent.futures import Executor

_ROUNDS = 3
"""A struct's users can be helpers, whose callers are asked in turn."""


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
        progress: Callable[[int, int], None] | None = None,
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
        project = Project(facts, minimum_torch=self.minimum_torch)
        return self._answered(project) if any(rule.whole_project for rule in self.rules) else project

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

    def _extract(self, job: Job, progress: Callable[[int, int], None] | None = None) -> list[Facts]:
        return extract_all(job, workers=self.workers, executor=self.executor, progress=progress)

    def _answered(self, project: Project) -> Project:
        """The project with the files that name what its open uses depend on."""
        asked: dict[str, set[str]] = {language: set() for language in self.found.files}
        for _ in range(_ROUNDS):
            more: list[Facts] = []
            for language, known in asked.items():
                names = {
                    name
                    for facts in project
                    if facts.language == language
                    for rule in self.rules
                    for name in rule.questions(facts, project)
                }
                if not names <= known:
                    known |= names
                    # Facts are read anew where a watched name stands: the place itself is then among the uses.
                    more += self._files_that_name(names, frozenset(known), language)
            if not more:
                break
            project = project.joined(more)
        return project

    def _through_reexports(self, found: Sequence[Facts]) -> list[Facts]:
        """The facts of files that use guards only under names which other files gave them."""
        more: list[Facts] = []
        for language in self.found.files:
            names = frozenset(new_names(facts for facts in found if facts.language == language))
            if names:
                more += self._files_that_name(names, names, language)
        return more

    def _files_that_name(self, names: Iterable[str], watched: frozenset[str], language: str) -> list[Facts]:
        words = [name.encode() for name in sorted(names)]
        with Sift({language: words}, self.workers, workspace=self.workspace) as sift:
            sift.add(self.found.files[language], language)
            hits = [hit for hit in sift.hits() if names_word(hit[1], words, self.workspace)]
        return self._extract(self._job(hits, watched))


def names_word(path: str, words: Iterable[bytes], workspace: Workspace = DISK) -> bool:
    """Whether one of the words stands whole in the file."""
    source = workspace.read_or_none(path)
    any_word = rb"\b(?:" + b"|".join(map(re.escape, words)) + rb")\b"
    return source is not None and re.search(any_word, source.text) is not None
