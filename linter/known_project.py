"""What a check has read, for the next one over other texts of the same files, as at every key press in an editor.

Facts and sketches depend on the text and on what is looked for in it, and on nothing else. Which files there are, and
which of them hold a word, is remembered as well: between the two checks, the disk counts as unchanged where no facts
were read. Whoever knows better begins a check of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .facts import Facts
from .facts.sketch import Sketch
from .files.sift import Hit
from .files.workspace import Workspace
from .frontends.extraction import Job

Listing = dict[str, list[str]]
"""The paths of a project's files by language."""

_MOST_SEARCHES = 64
"""Searches that are remembered: who types a name asks for another one at each key press."""


class KnownProject:
    """What is known of a project from earlier checks."""

    def __init__(self) -> None:
        self._facts: dict[tuple[object, ...], Facts] = {}
        self._sketches: dict[str, tuple[Sketch, bool]] = {}
        """Each with whether its text was on the disk."""
        self._listings: dict[object, Listing | None] = {}
        self._searches: dict[tuple[object, ...], tuple[Sequence[str], list[Hit]]] = {}

    def beside(self) -> KnownProject:
        """What a check of other files of the project may start from, if its options are the same ones.

        What was seen in files by their bytes is known to both from now on, and is one sketch for each file. Facts
        are not: they would pile up, as each name that is asked for makes others.
        """
        found = KnownProject()
        found._sketches = self._sketches
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

    def remember_sketches(self, sketches: Iterable[Sketch], workspace: Workspace) -> None:
        """Keep what was seen in these files."""
        self._sketches.update({one.path: (one, workspace.buffer(one.path) is None) for one in sketches if one.digest})

    def split_sketches(self, job: Job) -> tuple[list[Sketch], Job]:
        """What is known of a job's files by their bytes, and the job of looking at the others."""
        if not self._sketches:
            return [], job
        known: list[Sketch] = []
        others: list[Hit] = []
        for hit in job.hits:
            sketch = self._sketch_of(hit[1], job.workspace)
            if sketch is not None:
                known.append(sketch)
            else:
                others.append(hit)
        return known, job._replace(hits=tuple(others))

    def _sketch_of(self, path: str, workspace: Workspace) -> Sketch | None:
        sketch, was_on_disk = self._sketches.get(path, (None, False))
        if sketch is None or (was_on_disk and workspace.buffer(path) is None):
            return sketch
        source = workspace.read_or_none(path)
        return sketch if source is not None and source.digest == sketch.digest else None

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
        """The files on the disk in which one of the words stands, if this very list was searched for them before."""
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
