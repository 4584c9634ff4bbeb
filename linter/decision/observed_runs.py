"""What running programs showed about a guard, kept by the digests of the sources that were run.

`guardfix verify --decide` tries each replacement of a guard and keeps what only one of them survives. It holds as
long as no source changes that went into the programs.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from guardfix.regular_files import read_regular

from ..files.user_cache import for_us_alone, made_folder, own_folder, user_cache_folder
from ..findings import Context
from ..named_tuples import NamedTuple

if TYPE_CHECKING:  # a check of one file needs no more of it
    from pathlib import Path


class ObservedRun(Struct, frozen=True):
    """The one replacement with which programs still do what they should."""

    start: int
    """Where the guard's type begins in its file, in bytes."""
    context: Context
    shown_by: str
    """What was run: `tests/test_ops.py`."""
    where: str = ""
    """The guard's place, for people: `/home/me/src/step.cpp:5`."""


class KeptRun(NamedTuple):
    """One of the runs that are kept, for a list of them."""

    run: ObservedRun
    path: str
    """The file that keeps it."""
    holds: bool
    """No source has changed since."""


def kept_runs(digest: bytes) -> tuple[ObservedRun, ...]:
    """What is kept about the guards of a file with that digest, and still holds."""
    return _read(folder, digest) if digest and (folder := _folder()) else ()


@lru_cache(maxsize=256)
def _read(folder: str, digest: bytes) -> tuple[ObservedRun, ...]:
    try:
        text = read_regular(os.path.join(folder, f"{digest.hex()}.json"))
    except OSError:  # as it is with nearly every file
        return ()
    import json

    try:
        kept = json.loads(text)
        return _runs(kept) if _holds(kept) else ()
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ()


def _holds(kept: Mapping[str, Any]) -> bool:
    return all(_digest(path) == known for path, known in kept["sources"].items())


def _runs(kept: Mapping[str, Any]) -> tuple[ObservedRun, ...]:
    return tuple(
        ObservedRun(one["start"], Context(one["context"]), one["shown_by"], one.get("where", ""))
        for one in kept["runs"]
    )


def all_kept_runs() -> Iterator[KeptRun]:
    """Everything that is kept, of all projects, by the guards' places."""
    import json

    found = []
    with contextlib.suppress(FileNotFoundError):
        for entry in os.scandir(_folder()):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
                kept = json.loads(read_regular(entry.path))
                holds = _holds(kept)
                found += [KeptRun(run, entry.path, holds) for run in _runs(kept)]
    yield from sorted(found, key=lambda one: (one.run.where, one.run.start))


def drop_runs(runs: Iterable[KeptRun]) -> None:
    """Forget what was shown about the files of these runs. Raises `OSError`."""
    for path in {one.path for one in runs}:
        os.unlink(path)
    _read.cache_clear()


def keep_runs(digest: bytes, runs: Iterable[ObservedRun], sources: Iterable[Path]) -> None:
    """Keep what was shown about a file with that digest, for as long as the sources stay as they are."""
    import json

    known: Mapping[str, str] = {str(path): _digest(str(path)) for path in sources if path.is_file()}
    kept = {
        "sources": known,
        "runs": [
            {"start": run.start, "context": run.context.value, "shown_by": run.shown_by, "where": run.where}
            for run in runs
        ],
    }
    folder = _folder()
    with contextlib.suppress(OSError):  # then it has to be run again
        made_folder(folder)
        with open(os.path.join(folder, f"{digest.hex()}.json"), "w", encoding="utf-8", opener=for_us_alone) as file:
            json.dump(kept, file)
    _read.cache_clear()


def _digest(path: str) -> str:
    import hashlib

    try:
        return hashlib.blake2b(read_regular(path), digest_size=16).hexdigest()
    except OSError:
        return ""


def _folder() -> str:
    return _own_folder(user_cache_folder())


@lru_cache(maxsize=1)
def _own_folder(cache: str) -> str:
    """Beside what else guardfix keeps for a user; empty where others could have put their runs there."""
    return own_folder("decided")
