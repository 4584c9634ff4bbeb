"""Entries that are kept between runs, in one SQLite file: bytes by key, each with the stamp of the file it came from.

SQLite keeps the file whole when processes share it or are killed. Beyond that, nothing in it is trusted: a damaged
entry counts as missing, and a file that isn't a database is removed. A store never makes a run fail.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ..named_tuples import NamedTuple
from .digests import blake2b
from .user_cache import made_folder

if TYPE_CHECKING:
    import sqlite3

_NAME = "entries-1.sqlite"
"""The number is that of the table's layout."""
LARGEST_STORE = 256 << 20
"""Bytes that a store may take; beyond, the entries are dropped that were not used for longest."""
_KEPT = 0.75
"""What is kept then, as a part of the largest size, so that it doesn't happen at each run."""
_OVERHEAD = 150
"""Bytes that an entry takes besides its data, about."""
_WAIT = 2.0
"""Seconds to wait for another process that writes."""
_DAY = 86_400
_AT_ONCE = 500
"""Keys in one query; every SQLite takes 999."""

_TABLE = """
CREATE TABLE IF NOT EXISTS entries (
    key BLOB PRIMARY KEY,
    size INTEGER, modified INTEGER, changed INTEGER,
    digest BLOB, data BLOB, checksum BLOB, day INTEGER
)
"""


class FileStamp(NamedTuple):
    """What the system says about a file that isn't read; all zero where that proves nothing."""

    size: int = 0
    modified: int = 0
    """Nanoseconds."""
    changed: int = 0
    """Nanoseconds. On POSIX, no program can set it back."""


NO_STAMP = FileStamp()


class Entry(NamedTuple):
    """What is kept under one key."""

    stamp: FileStamp
    digest: bytes
    """Of the text that it was found in; empty when only the stamp tells whether it still holds."""
    data: bytes


class EntryStore:
    """The entries in a folder, which is made when the first one is written.

    Each call opens the database and closes it again: no connection is open when the process forks.
    """

    def __init__(self, folder: str, largest: int = LARGEST_STORE) -> None:
        self._folder, self._largest = folder, largest
        self.path = os.path.join(folder, _NAME)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Entry]:
        """The entries that exist under these keys."""
        if not os.path.exists(self.path):
            return {}
        found: dict[bytes, Entry] = {}
        today = int(time.time()) // _DAY

        def read(database: sqlite3.Connection) -> None:
            older = []
            for start in range(0, len(keys), _AT_ONCE):
                part = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(part))
                for row in database.execute(f"SELECT * FROM entries WHERE key IN ({marks})", part).fetchall():
                    key, size, modified, changed, digest, data, checksum, day = row
                    if isinstance(data, bytes) and isinstance(digest, bytes) and checksum == _sum(key, digest, data):
                        found[key] = Entry(FileStamp(size, modified, changed), digest, data)
                        if day != today:
                            older.append((today, key))
            if older:
                database.executemany("UPDATE entries SET day = ? WHERE key = ?", older)

        self._with_database(read)
        return found

    def put(self, entries: Mapping[bytes, Entry]) -> None:
        """Write these entries, over what was under their keys."""
        if not entries:
            return
        today = int(time.time()) // _DAY

        def write(database: sqlite3.Connection) -> None:
            database.execute(_TABLE)
            rows = (
                (key, *entry.stamp, entry.digest, entry.data, _sum(key, entry.digest, entry.data), today)
                for key, entry in entries.items()
            )
            database.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
            _make_room(database, self._largest, int(self._largest * _KEPT))

        with suppress(OSError):
            made_folder(self._folder)
            self._with_database(write)

    def restamp(self, stamps: Iterable[tuple[bytes, FileStamp]]) -> None:
        """Note the new stamps of files that still have the same text."""
        rows = [(*stamp, key) for key, stamp in stamps]
        if rows:
            change = "UPDATE entries SET size = ?, modified = ?, changed = ? WHERE key = ?"
            self._with_database(lambda database: database.executemany(change, rows))

    def prune(self, days: int, largest: int) -> None:
        """Remove what wasn't used for so many days, and the oldest entries beyond so many bytes."""

        def remove(database: sqlite3.Connection) -> None:
            database.execute("DELETE FROM entries WHERE day < ?", (int(time.time()) // _DAY - days,))
            _make_room(database, largest, largest)
            database.commit()
            database.execute("VACUUM")

        if os.path.exists(self.path):
            self._with_database(remove)

    def _with_database(self, use: Callable[[sqlite3.Connection], object]) -> None:
        """Call `use` with the database and commit; if something is wrong with it, the rest of `use` is left out."""
        try:
            import sqlite3
        except ImportError:  # a Python that was built without it
            return
        try:
            database = sqlite3.connect(self.path, timeout=_WAIT)
        except sqlite3.Error:
            return
        try:
            with suppress(OSError):
                os.chmod(self.path, 0o600)
            # After a crash of the whole system some entries may be damaged, which their checksums tell.
            database.execute("PRAGMA synchronous = OFF")
            use(database)
            database.commit()
        except sqlite3.OperationalError:  # another process writes, the disk is full, there is no table yet
            pass
        except sqlite3.DatabaseError:  # not a database, or a damaged one
            with suppress(OSError):
                os.remove(self.path)
        finally:
            database.close()


def _sum(key: bytes, digest: bytes, data: bytes) -> bytes:
    hasher = blake2b(key, digest_size=16)
    hasher.update(digest)
    hasher.update(data)
    return hasher.digest()


def _make_room(database: sqlite3.Connection, largest: int, kept: int) -> None:
    """Where more than `largest` bytes are taken, remove the entries that weren't used for longest, down to `kept`."""
    pages, free, size = (
        database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    taken = (pages - free) * size
    if taken <= largest:
        return
    entries = database.execute("SELECT key, LENGTH(data) FROM entries ORDER BY day, rowid").fetchall()
    lengths = [length + _OVERHEAD for _, length in entries]
    share = taken / max(1, sum(lengths))  # pages are never quite full
    for (key, _), length in zip(entries, lengths, strict=True):
        if taken <= kept:
            break
        database.execute("DELETE FROM entries WHERE key = ?", (key,))
        taken -= share * length
