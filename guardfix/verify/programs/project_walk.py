"""The files of a project, for what looks for sources, headers or libraries among them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from guardfix.linter.files.discovery import SKIPPED_FOLDERS


def files_below(root: Path, suffixes: Iterable[str] | None = None, *, without: Iterable[str] = ()) -> Iterator[Path]:
    """The files below a folder, in the same order each time; with `suffixes`, those whose names end so.

    Hidden folders, caches, virtual environments and folders named in `without` are passed by.
    """
    wanted = None if suffixes is None else frozenset(suffixes)
    passed_by = SKIPPED_FOLDERS.union(without)
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in passed_by and not name.startswith("."))
        for name in sorted(names):
            if wanted is None or os.path.splitext(name)[1] in wanted:
                yield Path(folder, name)
