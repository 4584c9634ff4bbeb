"""Entries are found again, or count as missing: damage, other processes and full stores never do more."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from guardfix.linter.files.entry_store import Entry, EntryStore, FileStamp

STAMP = FileStamp(5, 6, 7)


def entries(count: int, size: int = 100) -> dict[bytes, Entry]:
    source = random.Random(count)
    return {
        number.to_bytes(16, "big"): Entry(STAMP, source.randbytes(16), source.randbytes(size))
        for number in range(count)
    }


def test_what_was_put_is_found(tmp_path: Path) -> None:
    some = entries(1200)
    EntryStore(str(tmp_path / "new" / "facts")).put(some)
    keys = [*some, b"unknown"]
    assert EntryStore(str(tmp_path / "new" / "facts")).get(keys) == some


def test_nothing_is_made_by_looking(tmp_path: Path) -> None:
    assert EntryStore(str(tmp_path / "facts")).get([b"key"]) == {}
    assert not list(tmp_path.iterdir())


def test_stamps_are_replaced_and_nothing_else(tmp_path: Path) -> None:
    store = EntryStore(str(tmp_path))
    some = entries(2)
    first, second = some
    store.put(some)
    store.restamp([(first, FileStamp(5, 8, 9))])
    assert store.get([first, second]) == {**some, first: some[first]._replace(stamp=FileStamp(5, 8, 9))}


@pytest.mark.parametrize("seed", range(24))
def test_a_damaged_store_gives_what_was_put_or_nothing(tmp_path: Path, seed: int) -> None:
    store = EntryStore(str(tmp_path))
    some = entries(30)
    store.put(some)
    data = bytearray(Path(store.path).read_bytes())
    source = random.Random(seed)
    kind = seed % 4
    if kind == 0:
        del data[source.randrange(len(data)) :]
    elif kind == 1:
        start = source.randrange(len(data))
        data[start : start + 300] = bytes(300)
    else:
        for _ in range(kind * 4):
            data[source.randrange(len(data))] ^= 1 << source.randrange(8)
    Path(store.path).write_bytes(data)
    found = store.get(list(some))
    assert all((entry.digest, entry.data) == (some[key].digest, some[key].data) for key, entry in found.items())
    store.put(some)
    store.put(some)  # what was beyond repair has been removed by now
    assert store.get(list(some)).keys() <= some.keys()


def test_what_is_no_database_is_replaced(tmp_path: Path) -> None:
    store = EntryStore(str(tmp_path))
    Path(store.path).write_bytes(b"something else " * 100)
    assert store.get([b"key"]) == {}
    some = entries(3)
    store.put(some)
    assert store.get(list(some)) == some


@pytest.mark.parametrize("obstacle", ["a file in the folder's place", "a folder in the file's place", "read-only"])
def test_a_store_that_cannot_be_written_is_empty(tmp_path: Path, obstacle: str) -> None:
    folder = tmp_path / "facts"
    if obstacle.startswith("a file"):
        folder.write_text("")
    elif obstacle.startswith("a folder"):
        (folder / "entries-1.sqlite").mkdir(parents=True)
    else:
        if os.geteuid() == 0:
            pytest.skip("root may write anywhere")
        folder.mkdir(mode=0o500)
    store = EntryStore(str(folder))
    store.put(entries(3))
    assert store.get(list(entries(3))) == {}


def test_the_oldest_entries_make_room(tmp_path: Path) -> None:
    store = EntryStore(str(tmp_path), largest=1_000_000)
    old, new = entries(150, 2000), {b"new" + key: entry for key, entry in entries(150, 2000).items()}
    store.put(old)
    with sqlite3.connect(store.path) as database:
        database.execute("UPDATE entries SET day = day - 5")
    database.close()
    kept = list(old)[:10]
    store.get(kept)  # used today
    store.put(new)
    assert store.get(list(new)) == new
    left = store.get(list(old)).keys()
    assert set(kept) <= left
    assert len(left) < 100
    assert Path(store.path).stat().st_size < 1_300_000


def test_pruning_removes_what_is_old_then_what_is_much(tmp_path: Path) -> None:
    store = EntryStore(str(tmp_path))
    old, new = entries(20, 5000), {b"new" + key: entry for key, entry in entries(40, 5000).items()}
    store.put(old)
    with sqlite3.connect(store.path) as database:
        database.execute("UPDATE entries SET day = day - 31")
    database.close()
    store.put(new)
    store.prune(30, 1_000_000)
    assert store.get([*old, *new]) == new
    store.prune(30, 100_000)
    assert 5 < len(store.get([*old, *new])) < 25
    assert Path(store.path).stat().st_size < 130_000


_WRITER = """
import sys
sys.path.insert(0, {tests!r})
from guardfix.linter.files.entry_store import EntryStore
from test_entry_store import entries
store = EntryStore({folder!r})
print("ready", flush=True)
for number in {times}:
    store.put({{b"%d-" % {name} + key: entry for key, entry in entries(40, 3000).items()}})
"""


def _writer(folder: Path, name: int) -> subprocess.Popen[bytes]:
    text = _WRITER.format(
        tests=str(Path(__file__).parent), folder=str(folder), name=name, times="range(2)" if name < 9 else "range(1000)"
    )
    return subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE)


def test_processes_share_a_store_and_one_is_killed(tmp_path: Path) -> None:
    writers = [_writer(tmp_path, name) for name in range(2)]
    victim = _writer(tmp_path, 9)
    assert victim.stdout is not None
    victim.stdout.readline()
    time.sleep(0.05)
    victim.send_signal(signal.SIGKILL)
    victim.communicate()
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    store = EntryStore(str(tmp_path))
    expected = {b"%d-" % name + key: entry for name in range(2) for key, entry in entries(40, 3000).items()}
    assert store.get(list(expected)) == expected
    store.put(entries(5))
    assert store.get(list(entries(5))) == entries(5)
