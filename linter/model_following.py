"""Which further Python files are read for the models that some code runs under inference mode.

They are the modules that define these models and their parts, found by import, and the files nearby that call the
functions that run them: those callers may train the same model.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from .analysis.project import Project
from .analysis.shared_models import SharedModels

MODELS = frozenset({"models"})
"""What a file is asked for, beside what it is always asked for."""
MOST_FILES = 200
"""Files that are read for this in one project."""
_LEVELS_UP = 2
"""Callers are looked for below the folder so far above a file."""


class ModelFollowing:
    """What has to be read in one language."""

    def __init__(self, language: str, checked: Sequence[str], around: Sequence[str]) -> None:
        self.language = language
        self.around = frozenset(around)
        """Paths of files that are not checked."""
        self.read: set[str] = set()
        """Paths of files that were read for this."""
        self._by_place = {os.path.abspath(path): path for path in (*around, *checked)}
        self._names: set[str] = set()

    def asked(self, project: Project) -> tuple[frozenset[str], list[str]]:
        """(names of functions whose callers are asked now, paths of modules to read)."""
        models = SharedModels(project.files, self._by_place)
        names = models.asked_names - self._names
        self._names |= names
        for path in project.files:
            for _ in models.caches_in(path):
                pass  # what has to be followed for the answer, and was not read, is then among the unread
        unread = sorted(models.definitions.unread - self.read)
        return names, unread[: MOST_FILES - len(self.read)]

    def near(self, project: Project) -> list[str]:
        """The files in which callers are looked for: those whose models haven't been read yet."""
        known = {facts.path for facts in project if facts.python is not None and facts.python.models is not None}
        folders = set()
        for path in known - self.read:
            folder = os.path.dirname(os.path.abspath(path))
            for _ in range(_LEVELS_UP):
                folder = os.path.dirname(folder)
            folders.add(folder.rstrip(os.sep) + os.sep)
        starts = tuple(folders)
        return [path for place, path in self._by_place.items() if place.startswith(starts) and path not in known]
