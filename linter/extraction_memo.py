"""What a check has read, for the next one over other texts of the same files, as at every key press in an editor.

Facts and file summaries depend on the text and on what is looked for in it, and on nothing else. Which files there
are, and which of them hold a word, is remembered as well: between the two checks, the disk counts as unchanged where no
facts were read. Who knows better begins another check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .facts import Facts
from .facts.file_summary import FileSummary
from .files.parallel_search import Hit
from .files.workspace import Workspace
from .frontends.extraction import Job

Listing = dict[str, list[str]]
"""The paths of a project's files by language."""

_MOST_SEARCHES = 64
"""Searches that are remembered: who types a name asks for another one at each key press."""


class ExtractionMemo:
    """What is known of a project from earlier checks."""

    def __init__(self) -> None:
        self._facts: dict[tuple[object, ...], Facts] = {}
        self._file_summaries: dict[str, tuple[FileSummary, bool]] = {}
        """Each with whether its text was on the disk."""
        self._listings: dict[object, Listing | None] = {}
        self._searches: dict[tuple[object, ...], tuple[Sequence[str], list[Hit]]] = {}

    def beside(self) -> ExtractionMemo:
        """What a check of other files of the project may start from, if its options are the same ones.

        What was seen in files by their bytes is known to both from now on, and is one file summary for each file. Facts
        are not: they would pile up, as each name that is asked for makes others.
        """
        found = ExtractionMemo()
        found._file_summaries = self._file_summaries
        return found

    def remember(self, facts: Iterable[Facts], job: Job) -> None:
        """Keep what was read for a job."""
        self._facts.update({_known_as(one.path, job): one for one in facts if one.digest})

    def split(self, job: Job) -> tuple[list[Facts], Job]:
        """What is known of a job's files, and the job of reading the others."""
        if not self._facts:
            return [], job
        known: list[Facts] = []
        others: list[Hit] = []
        for hit in job.hits:
            facts = None if hit[2] else self._facts.get(_known_as(hit[1], job))
            if facts is not None and job.workspace.unchanged(facts) is not None:
                known.append(facts)
            else:
                others.append(hit)
        return known, job._replace(hits=tuple(others))

    def remember_file_summaries(self, file_summaries: Iterable[FileSummary], workspace: Workspace) -> None:
        """Keep what was seen in these files."""
        self._file_summaries.update(
            {one.path: (one, workspace.buffer(one.path) is None) for one in file_summaries if one.digest}
        )

    def split_file_summaries(self, job: Job) -> tuple[list[FileSummary], Job]:
        """What is known of a job's files by their bytes, and the job of looking at the others."""
        if not self._file_summaries:
            return [], job
        known: list[FileSummary] = []
        others: list[Hit] = []
        for hit in job.hits:
            file_summary = self._file_summary_of(hit[1], job.workspace)
            if file_summary is not None:
                known.append(file_summary)
            else:
                others.append(hit)
        return known, job._replace(hits=tuple(others))

    def _file_summary_of(self, path: str, workspace: Workspace) -> FileSummary | None:
        file_summary, was_on_disk = self._file_summaries.get(path, (None, False))
        if file_summary is None or (was_on_disk and workspace.buffer(path) is None):
            return file_summary
        source = workspace.read_or_none(path)
        return file_summary if source is not None and source.digest == file_summary.digest else None

    def listing(
        self, workspace: Workspace, checked: Sequence[str], list_them: Callable[[], Listing | None]
    ) -> Listing | None:
        """The project's files around those that are checked, by `list_them` where they aren't known yet.

        None for a project that has too many files.
        """
        key = frozenset(workspace.buffers), tuple(checked)
        if key not in self._listings:
            self._listings = {key: list_them()}  # other texts are open now: the ones before don't come back
        return self._listings[key]

    def search(self, words: Sequence[bytes], among: Sequence[str]) -> list[Hit] | None:
        """The files on the disk in which one of the words occurs, if this very list was searched for them before."""
        found = self._searches.get((tuple(words), id(among)))
        return found[1] if found is not None else None

    def remember_search(self, words: Sequence[bytes], among: Sequence[str], hits: list[Hit]) -> None:
        """Keep which files on the disk hold one of the words."""
        if len(self._searches) >= _MOST_SEARCHES:
            del self._searches[next(iter(self._searches))]
        # The list is kept, so that no other one can have its identity.
        self._searches[tuple(words), id(among)] = among, hits


def _known_as(path: str, job: Job) -> tuple[object, ...]:
    return path, job.watched, job.named, job.stands
