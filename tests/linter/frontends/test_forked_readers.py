"""Processes that read files and are lost: nothing hangs, nothing is passed over, and it is said how they ended."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import pytest

from guardfix.linter.facts import Facts
from guardfix.linter.files.parallel_search import Hit
from guardfix.linter.frontends.forked_readers import FileLimits, FilePiece, Readers

PARENT = os.getpid()


def pieces(files: int, size: int) -> list[FilePiece]:
    hits: list[Hit] = [("cpp", f"{number:03}.cpp", "") for number in range(files)]
    return [tuple(hits[start : start + size]) for start in range(0, files, size)]


def facts_of(hits: Sequence[Hit]) -> list[Facts]:
    return [Facts(path, language) for language, path, _ in hits]


def unreadable(hit: Hit, why: str) -> list[Facts]:
    return [Facts(hit[1], hit[0], unreadable=why)]


def killing(*names: str, how: Callable[[], object]) -> Callable[[Sequence[Hit]], list[Facts]]:
    """Reads files, and does `how` to the process when it comes to one of these."""

    def extract(hits: Sequence[Hit]) -> list[Facts]:
        for _, path, _ in hits:
            if path in names and os.getpid() != PARENT:
                how()
        return facts_of(hits)

    return extract


def kill(number: int) -> Callable[[], object]:
    return lambda: os.kill(os.getpid(), number)


@pytest.mark.parametrize("others", [1, 3])
@pytest.mark.parametrize(("files", "size"), [(1, 1), (40, 4), (100, 16)])
def test_every_file_is_read_once(others: int, files: int, size: int) -> None:
    counted: list[int] = []
    readers = Readers(facts_of, unreadable, others, done=counted.append)
    found = readers.read(pieces(files, size))
    assert sorted(facts.path for facts in found) == [f"{number:03}.cpp" for number in range(files)]
    assert sum(counted) == files
    assert readers.lost == []


@pytest.mark.parametrize("others", [1, 3])
@pytest.mark.parametrize(
    ("how", "words"),
    [
        pytest.param(kill(signal.SIGKILL), "killed by SIGKILL", id="killed"),
        pytest.param(kill(signal.SIGTERM), "killed by SIGTERM", id="terminated"),
        pytest.param(lambda: os._exit(3), "ended with status 3", id="an exit"),
    ],
)
def test_a_file_that_ends_whatever_reads_it_is_unreadable(others: int, how: Callable[[], object], words: str) -> None:
    readers = Readers(killing("007.cpp", "021.cpp", how=how), unreadable, others)
    found = readers.read(pieces(40, 4))
    assert sorted(facts.path for facts in found) == [f"{number:03}.cpp" for number in range(40)]
    bad = {facts.path: facts.unreadable for facts in found if facts.unreadable}
    # A piece that was read here did no harm.
    assert set(bad) <= {"007.cpp", "021.cpp"}
    assert set(bad.values()) <= {f"the process was lost while reading it ({words})"}
    assert set(readers.lost) == {words}


def test_a_worker_that_is_killed_while_it_sends(tmp_path: Path) -> None:
    """More than a pipe holds, so that it is killed in the middle."""

    def extract(hits: Sequence[Hit]) -> list[Facts]:
        if os.getpid() != PARENT and not (tmp_path / "once").exists():
            (tmp_path / "once").write_text(str(os.getpid()))
        return [Facts(path, language, notes=("x" * (1 << 20),)) for language, path, _ in hits]

    def stop_one(_: int) -> None:
        while not (tmp_path / "once").exists() or not (tmp_path / "once").read_text():
            time.sleep(0.01)
        time.sleep(0.1)
        try:
            os.kill(int((tmp_path / "once").read_text()), signal.SIGKILL)
        except ProcessLookupError:
            return

    start = time.monotonic()
    readers = Readers(extract, unreadable, 3, done=stop_one)
    found = readers.read(pieces(48, 4))
    assert sorted(facts.path for facts in found) == [f"{number:03}.cpp" for number in range(48)]
    assert not any(facts.unreadable for facts in found)
    assert readers.lost == ["killed by SIGKILL"]
    assert time.monotonic() - start < 60


def test_what_a_reader_raises_is_raised_here_and_no_process_stays() -> None:
    def extract(hits: Sequence[Hit]) -> list[Facts]:
        if os.getpid() != PARENT:
            raise ZeroDivisionError("in a worker")
        time.sleep(0.01)
        return facts_of(hits)

    before = psutil.Process().children()
    with pytest.raises(ZeroDivisionError, match="in a worker"):
        Readers(extract, unreadable, 2).read(pieces(100, 4))
    assert psutil.Process().children() == before


def test_leaves_no_pipe_open() -> None:
    before = os.listdir("/proc/self/fd")
    Readers(killing("007.cpp", how=kill(signal.SIGKILL)), unreadable, 3).read(pieces(40, 4))
    assert len(os.listdir("/proc/self/fd")) == len(before)


@pytest.mark.parametrize("spare", range(10))
def test_too_few_descriptors_mean_fewer_processes(spare: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 1 + spare, hard))
    try:
        found = Readers(facts_of, unreadable, 3).read(pieces(40, 4))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert sorted(facts.path for facts in found) == [f"{number:03}.cpp" for number in range(40)]


def test_a_file_that_takes_too_long_is_left_out() -> None:
    readers = Readers(killing("001.cpp", "003.cpp", how=lambda: time.sleep(60)), unreadable, 2, FileLimits(seconds=0.3))
    found = readers.read(pieces(6, 1))
    bad = {facts.path: facts.unreadable for facts in found if facts.unreadable}
    assert bad == dict.fromkeys(("001.cpp", "003.cpp"), "reading it took longer than 0.3 seconds (--timeout-per-file)")
    assert len(found) == 6
    assert readers.lost == []


def test_a_file_that_takes_too_much_memory_is_left_out(own_megabytes: int) -> None:
    most = own_megabytes + 1000
    readers = Readers(killing("001.cpp", how=lambda: bytearray(3 << 30)), unreadable, 2, FileLimits(megabytes=most))
    found = readers.read(pieces(4, 1))
    bad = {facts.path: facts.unreadable for facts in found if facts.unreadable}
    assert bad == {"001.cpp": f"reading it takes more than {most} MB (--memory)"}
    assert len(found) == 4
