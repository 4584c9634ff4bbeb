"""What running programs showed about a guard, kept by the digests of the sources that were run.

`guardfix verify --decide` tries each replacement of a guard and keeps what only one of them survives. It holds as
long as no source changes that went into the programs.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from ..files.user_cache import user_cache_folder
from ..findings import Context

if TYPE_CHECKING:  # a check of one file needs no more of it
    from pathlib import Path


class ObservedRun(Struct, frozen=True):
    """The one replacement with which programs still do what they should."""

    start: int
    """Where the guard's type begins in its file, in bytes."""
    context: Context
    shown_by: str
    """What was run: `tests/test_ops.py`."""


def kept_runs(digest: bytes) -> tuple[ObservedRun, ...]:
    """What is kept about the guards of a file with that digest, and still holds."""
    return _read(_folder(), digest) if digest else ()


@lru_cache(maxsize=256)
def _read(folder: str, digest: bytes) -> tuple[ObservedRun, ...]:
    try:
        with open(os.path.join(folder, f"{digest.hex()}.json"), encoding="utf-8") as file:
            text = file.read()
    except OSError:  # as it is with nearly every file
        return ()
    import json

    try:
        kept = json.loads(text)
        if not all(_digest(path) == known for path, known in kept["sources"].items()):
            return ()
        return tuple(ObservedRun(one["start"], Context(one["context"]), one["shown_by"]) for one in kept["runs"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ()


def keep_runs(digest: bytes, runs: Iterable[ObservedRun], sources: Iterable[Path]) -> None:
    """Keep what was shown about a file with that digest, for as long as the sources stay as they are."""
    import json

    known: Mapping[str, str] = {str(path): _digest(str(path)) for path in sources if path.is_file()}
    kept = {
        "sources": known,
        "runs": [{"start": run.start, "context": run.context.value, "shown_by": run.shown_by} for run in runs],
    }
    folder = _folder()
    with contextlib.suppress(OSError):  # then it has to be run again
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"{digest.hex()}.json"), "w", encoding="utf-8") as file:
            json.dump(kept, file)
    _read.cache_clear()


def _digest(path: str) -> str:
    import hashlib

    try:
        with open(path, "rb") as file:
            return hashlib.blake2b(file.read(), digest_size=16).hexdigest()
    except OSError:
        return ""


def _folder() -> str:
    """Beside what else guardfix keeps for a user."""
    return os.path.join(user_cache_folder(), "decided")
