"""How many uses of each guard a version of a file holds, read from git's objects: each version once and for all."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from guardfix.closed_git import ClosedRepository
from guardfix.linter.files.sources import BinaryFile, Unreadable, decode
from guardfix.linter.files.user_cache import for_us_alone, made_folder
from guardfix.linter.frontends.frontend import frontend_named
from guardfix.linter.guards import CPP, gradient_guards
from guardfix.package_version import VERSION

Counts = Mapping[str, int]
"""Guard -> uses."""
GUARD_NAMES = frozenset(name for name, guard in CPP.items() if gradient_guards(guard))
"""The guards that are counted: those of C++, every use of which is found. Of Python's, only those that rules ask about
are read."""
_NEEDLE = re.compile("|".join(sorted(GUARD_NAMES)).encode())
_WIDE = (b"\xff\xfe", b"\xfe\xff")
"""Texts in which the names are as other bytes."""
_LARGEST = 8 << 20
_SCHEMA = """CREATE TABLE IF NOT EXISTS counts
  (blob TEXT, language TEXT, version TEXT, counts TEXT, PRIMARY KEY (blob, language, version))"""


class BlobCache:
    """Counts of blobs, kept in a file, or for this run alone."""

    def __init__(self, path: Path | None) -> None:
        """Raises OSError or `sqlite3.Error` where the file can't be used."""
        if path is not None:
            made_folder(str(path.parent))
            os.close(for_us_alone(str(path), os.O_RDWR | os.O_CREAT))
            os.chmod(path, 0o600)
        self._connection = sqlite3.connect(path or ":memory:", timeout=60)
        self._connection.execute(_SCHEMA)

    def known(self, wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Counts]:
        """(blob, language) -> counts, of those that are known."""
        self._connection.execute("CREATE TEMP TABLE IF NOT EXISTS wanted (blob TEXT, language TEXT)")
        self._connection.execute("DELETE FROM wanted")
        self._connection.executemany("INSERT INTO wanted VALUES (?, ?)", wanted)
        rows = self._connection.execute(
            "SELECT blob, language, counts FROM wanted JOIN counts USING (blob, language) WHERE version = ?", (VERSION,)
        )
        return {(blob, language): json.loads(counts) if counts else {} for blob, language, counts in rows}

    def add(self, rows: Iterable[tuple[str, str, Counts]]) -> None:
        """Keep counts."""
        with self._connection:
            self._connection.executemany(
                "INSERT OR REPLACE INTO counts VALUES (?, ?, ?, ?)",
                ((blob, language, VERSION, json.dumps(counts) if counts else "") for blob, language, counts in rows),
            )

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def count_blobs(
    git: ClosedRepository,
    wanted: Iterable[tuple[str, str]],
    on_progress: Callable[[int], None] | None = None,
) -> Iterator[tuple[str, str, Counts]]:
    """(blob, language, counts) of blobs. What the repository lacks counts nothing. Raises `NoRepository`."""
    pairs = sorted(wanted)
    contents = git.blobs([blob for blob, _ in pairs])
    for number, ((blob, language), data) in enumerate(zip(pairs, contents, strict=True), 1):
        yield blob, language, _uses_in(data, language)
        if on_progress is not None:
            on_progress(number)


def _uses_in(data: bytes, language: str) -> Counts:
    """The uses of guards in a file of a language."""
    if len(data) > _LARGEST or not (data.startswith(_WIDE) or _NEEDLE.search(data)):
        return {}
    try:
        source = decode(data, "")
    except (BinaryFile, Unreadable):
        return {}
    facts = frontend_named(language).extract(source, frozenset(), None)
    if facts is None:
        return {}
    uses = (use.guard for piece in (facts, *facts.embedded) for use in piece.guard_uses)
    return Counter(guard for guard in uses if guard in GUARD_NAMES)
