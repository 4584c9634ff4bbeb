"""Verification runs the user's code. It says so before it does that with a project for the first time."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from guardfix.runtime_shim.cpp import cache_folder


def projects_of(paths: Iterable[str]) -> list[Path]:
    """The projects that paths belong to: the nearest folder above with a `.git`, else the folder itself."""
    found: dict[Path, None] = {}
    for path in paths:
        real = Path(path).resolve()
        folder = real if real.is_dir() else real.parent
        project = next((above for above in (folder, *folder.parents) if (above / ".git").exists()), folder)
        found.setdefault(project)
    return list(found)


def is_known(project: Path) -> bool:
    """Whether running this project's code has been agreed to before."""
    return _mark(project).exists()


def remember(project: Path) -> None:
    """Running this project's code is agreed to."""
    mark = _mark(project)
    with contextlib.suppress(OSError):  # then it is asked again
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.write_text(f"{project}\n")


def _mark(project: Path) -> Path:
    name = hashlib.blake2b(os.fsencode(project), digest_size=16).hexdigest()
    return cache_folder().parent / "agreed" / name
