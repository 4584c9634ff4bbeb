"""Asks the whole project where a use stays open: what it is about, and what the functions do that the use reaches.

Files are looked at by their bytes first. Those that define a function which is called below an open use are read, of
them these functions alone; then those that define what is called there; and so on, a few calls down.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Set

from msgspec import Struct, field

from .analysis.call_graph import call_graph, effects_below
from .analysis.project import Project
from .analysis.project_summary import ProjectSummary, is_vendored
from .bounded_work import DECIDING, BoundedWork
from .facts import Facts, GuardUse, Span
from .facts.file_summary import FileSummary
from .rule import Rule

LARGE = 1500
"""A project of more files is looked at near its open uses alone, where what was read shows that it defines ops."""
_ROUNDS = 2
"""What is read for one use can make the callers of another unclear, which is asked then."""
_STEPS = 12
"""How many times files are read for what the files that were read before call."""
_STEPS_IN_LARGE = 3
"""The same where only the files near the uses were looked at: a long chain of calls leaves them."""
_MOST_FILES = 400
"""How many files are read for their sake."""

OpenUse = tuple[str, GuardUse]
"""A use and the file in which it is."""


def uses_left_open(project: Project, language: str, rules: Sequence[Rule], work: BoundedWork) -> list[OpenUse]:
    """The uses in checked files that are undecided, or hardly decided, by what was read so far."""

    def of_file(path: str) -> list[OpenUse]:
        facts = project.files[path]
        return [(path, use) for rule in rules for use in rule.undecided(facts, project)]

    paths = [facts.path for facts in project.checked() if facts.language == language]
    return [use for uses in work.each(of_file, paths, DECIDING) for use in uses]


class ProjectSummarizing(Struct, frozen=True):
    """Asks the files of one language in one run."""

    language: str
    rules: Sequence[Rule]
    checked: Sequence[str]
    around: Sequence[str]
    """Paths of files that are not checked."""
    file_summary: Callable[[Sequence[str]], list[FileSummary]]
    extract: Callable[[Sequence[str], frozenset[str]], list[Facts]]
    """(paths, names) -> the files' facts, as far as the functions with these names go."""
    naming: Callable[[frozenset[str]], list[Facts]]
    """names -> the facts of all files in which one of them occurs, as far as the functions around it go."""
    common: Set[str] = frozenset()
    """Names that are in too many files to be read there."""
    work: BoundedWork = field(default_factory=BoundedWork)

    def summarized(self, project: Project) -> Project:
        """The project with what all its files say, and the functions that open uses reach, where some stay open."""
        asked: set[tuple[str, Span]] = set()
        for _ in range(_ROUNDS):
            uses = uses_left_open(project, self.language, self.rules, self.work)
            places = {(path, use.type_span) for path, use in uses}
            if places <= asked:
                break
            asked |= places
            if project.summary is None:
                project = project.joined(summary=self._summary(project, uses))
            project = self._followed(project, uses)
        return project

    def _summary(self, project: Project, uses: Sequence[OpenUse]) -> ProjectSummary:
        files = [path for path in (*self.checked, *self.around) if not is_vendored(path)]
        if len(files) <= LARGE or not _defines_ops(project):
            return ProjectSummary(self.file_summary(files))
        return ProjectSummary(self.file_summary(nearest(files, {path for path, _ in uses}, LARGE)), complete=False)

    def _followed(self, project: Project, uses: Sequence[OpenUse]) -> Project:
        """The project with the functions that are called below these uses, by them in turn, and so on."""
        around = set(self.around)
        read: set[str] = set()
        summary = project.summary
        for _ in range(_STEPS if summary is not None and summary.complete else _STEPS_IN_LARGE):
            names, sought = self._wanted(project, uses)
            if not (names or sought) or summary is None:
                break
            found = self.naming(sought) if sought else []
            paths = {path for name in names for path in summary.defining(name)}
            paths = {path for path in paths if not _is_read_whole(project.files.get(path))}
            new = sorted(paths - read)[: max(0, _MOST_FILES - len(read))]
            found += self.extract(sorted((paths & read).union(new)), project.named | names)
            read.update(new)
            project = project.joined(
                [facts for facts in found if facts.path not in around],
                [facts for facts in found if facts.path in around],
                named=names,
                common=self.common,
                asked=sought,
            )
        return project

    def _wanted(self, project: Project, uses: Iterable[OpenUse]) -> tuple[frozenset[str], frozenset[str]]:
        """The functions and classes that these uses reach and that haven't been read; the names to look for."""
        by_path: dict[str, list[GuardUse]] = defaultdict(list)
        for path, use in uses:
            by_path[path].append(use)

        def of_file(path: str) -> tuple[frozenset[str], frozenset[str]]:
            facts = project.files[path]
            for use in by_path[path]:
                outermost = next(iter(facts.enclosing(use.function)[-1:]), None)
                if outermost is not None:
                    effects_below(project, facts, outermost.span, use.function)
            # A process that is forked for the file has its own call graph; here one is for all files.
            graph = call_graph(project)
            return frozenset(graph.wanted), frozenset(graph.sought)

        reached = self.work.each(of_file, by_path, DECIDING)
        return frozenset().union(*(one for one, _ in reached)), frozenset().union(*(one for _, one in reached))


def _defines_ops(project: Project) -> bool:
    """Whether the files that were read show that the project defines ops: then it says nothing about a use."""
    return any(
        facts.registrations or any(project.is_autograd_function(facts, class_) for class_ in facts.classes)
        for facts in project
        if not is_vendored(facts.path)
    )


def _is_read_whole(facts: Facts | None) -> bool:
    """Whether nothing was left out of what is known of a file."""
    return facts is not None and bool(facts.functions) and all(function.is_read for function in facts.functions)


def nearest(files: Iterable[str], uses: Iterable[str], count: int) -> list[str]:
    """So many of the files: those first that have the longest path of folders in common with one of `uses`."""
    depths: dict[str, int] = {}
    for path in uses:
        folder = os.path.dirname(path)
        while folder and folder not in depths:
            depths[folder] = len(folder)
            above = os.path.dirname(folder)
            folder = above if above != folder else ""

    known = {"": 0}

    def depth(folder: str) -> int:
        passed = []
        while folder not in known and folder not in depths:
            passed.append(folder)
            above = os.path.dirname(folder)
            folder = above if above != folder else ""
        found = depths[folder] if folder in depths else known[folder]
        known.update(dict.fromkeys(passed, found))
        return found

    return sorted(files, key=lambda path: (-depth(os.path.dirname(path)), path))[:count]
