"""The project around the paths that are checked: where the answers to their open questions may be.

A project is what lies below the nearest folder with a configuration or a repository. Its other files are listed when
the first question comes, and searched for the names in question alone; nothing is reported in them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from .extraction_memo import ExtractionMemo, Listing
from .files.discovery import FoundFiles
from .files.project_root import project_root
from .files.workspace import Workspace
from .frontends.frontend import frontend_of

LARGEST = 20_000
"""Files of a project that are still searched for the answer to a question."""

Find = Callable[[Sequence[str], Callable[[list[str], str], None]], FoundFiles]
"""`find_files` as a run calls it: (paths, what is called with each folder's files) -> the files."""

_ELSEWHERE = "what decides this may be in another file"


class _TooMany(Exception):
    """The project has more files than are searched."""


class RelatedFiles:
    """The files of the project that are not among those that are checked."""

    def __init__(
        self,
        paths: Sequence[str],
        checked: FoundFiles,
        find: Find,
        workspace: Workspace,
        known: ExtractionMemo,
        project: str = "",
    ) -> None:
        self._paths, self._checked, self._find, self._workspace = paths, checked, find, workspace
        self._known = known
        self._project = project
        """The folder of the project, where it was named: it is searched however large it is."""

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """The projects of which only a part is checked, as paths are shown; none for texts that are in memory alone."""
        if not self._workspace.has_disk:
            return ()
        named = self._workspace.key(self._project) if self._project else ""
        roots = {}
        for path in self._paths:
            folder = self._workspace.key(path)
            root = named or project_root(folder)
            if root is not None and root != folder:
                roots[root] = root if os.path.isabs(path) else os.path.relpath(root)
        outermost = [root for root in roots if not any(root.startswith(other + os.sep) for other in roots)]
        return tuple(roots[root] for root in outermost)

    @property
    def files(self) -> Mapping[str, list[str]]:
        """The other files by language; none when there are too many."""
        return self._listed or {}

    @property
    def unseen(self) -> str:
        """Why questions may have answers that weren't looked for; empty when they have none."""
        if self._listed is not None:
            return self._without_project
        where = ", ".join(map(os.path.abspath, self.roots))
        return f"only {len(self._checked)} of more than {LARGEST} files below {where} were looked at: {_ELSEWHERE}"

    @cached_property
    def _without_project(self) -> str:
        """That files were named of which nothing shows the project; empty when there are none."""
        if self._project or not self._workspace.has_disk:
            return ""
        keys = map(self._workspace.key, self._paths)
        if not any(os.path.isfile(key) and project_root(key) is None and _has_company(key) for key in keys):
            return ""
        return (
            "the rest of the project wasn't looked at, as nothing shows where it is (`--project FOLDER` says so): "
            + _ELSEWHERE
        )

    @cached_property
    def _listed(self) -> Listing | None:
        if not self.roots:
            return {}
        return self._known.listing(self._workspace, self._checked.paths(), self._list)

    def _list(self) -> Listing | None:
        count = 0

        def counted(paths: list[str], language: str) -> None:
            nonlocal count
            count += len(paths)
            if count > LARGEST and not self._project:
                raise _TooMany

        try:
            found = self._find(self.roots, counted)
        except _TooMany:
            return None
        known = set(map(self._workspace.key, self._checked.paths()))
        return {
            language: [path for path in paths if self._workspace.key(path) not in known]
            for language, paths in found.files.items()
        }


def _has_company(path: str) -> bool:
    """Whether other source files are in a file's folder or the one above it; without them it is a project by itself."""
    folder = os.path.dirname(path)
    for looked_at in (folder, os.path.dirname(folder)):
        try:
            names = os.listdir(looked_at)
        except OSError:
            continue
        if any(frontend_of(name) is not None and os.path.join(looked_at, name) != path for name in names):
            return True
    return False
