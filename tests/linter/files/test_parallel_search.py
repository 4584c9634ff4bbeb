"""The search that several processes share: every hit once, whoever finds it, and no file passed over unseen."""

from __future__ import annotations

import importlib
import os
import resource
import signal
import sys
import time
from pathlib import Path

import pytest

from guardfix.linter.files import search
from guardfix.linter.files.parallel_search import Hit, ParallelSearch
from guardfix.linter.files.search import names_one_of

NEEDLES = {"cpp": (b"needle",), "python": (b"thread", b"yarn")}


def haystack(folder: Path, files: int, every: int) -> tuple[list[str], list[str]]:
    """(paths, those of them that hold a needle)."""
    paths, hits = [], []
    for number in range(files):
        path = folder / f"{number:05}.cpp"
        path.write_text("a needle\n" if number % every == 0 else "hay\n")
        paths.append(str(path))
        if number % every == 0:
            hits.append(str(path))
    return paths, hits


@pytest.mark.parametrize(
    ("processes", "files"),
    [
        pytest.param(1, 50, id="one process"),
        pytest.param(2, 50, id="too few files to fork for"),
        pytest.param(2, 2000, id="one child"),
        pytest.param(5, 2000, id="four children that share a queue"),
    ],
)
@pytest.mark.parametrize("meanwhile", [False, True], ids=["hits at the end", "hits meanwhile"])
def test_finds_each_hit_once(tmp_path: Path, processes: int, files: int, meanwhile: bool) -> None:
    paths, expected = haystack(tmp_path, files, every=7)
    early: list[Hit] = []
    with ParallelSearch(NEEDLES, processes, early.append if meanwhile else None) as search:
        for path in paths:
            search.add([path], "cpp")
        hits = search.hits()
    assert hits == sorted(hits)
    assert sorted(path for _, path, _ in early + hits) == expected
    assert {(language, trouble) for language, _, trouble in early + hits} == {("cpp", "")}


def test_hits_are_passed_on_while_children_are_busy(tmp_path: Path) -> None:
    paths, expected = haystack(tmp_path, 3000, every=2)
    early: list[Hit] = []
    with ParallelSearch(NEEDLES, 2, early.append) as search:
        search.add(paths, "cpp")
        hits = search.hits()
    assert early
    assert len(early) + len(hits) == len(expected)


def test_languages_have_needles_of_their_own(tmp_path: Path) -> None:
    files = {"a.cpp": "needle", "b.cpp": "yarn", "c.py": "needle", "d.py": "yarn", "e.py": "thread"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with ParallelSearch(NEEDLES, 2) as search:
        for name in files:
            search.add([str(tmp_path / name)], "cpp" if name.endswith(".cpp") else "python")
        search.add([str(tmp_path / "f.md")], "docs")  # nobody looks for anything there
        hits = search.hits()
    assert [os.path.basename(path) for _, path, _ in hits] == ["a.cpp", "d.py", "e.py"]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(b"two\nlines.cpp", id="line break"),
        pytest.param(b"lines\n\napart.cpp", id="empty line"),
        pytest.param(b"caf\xe9.cpp", id="bytes that aren't UTF-8"),
        pytest.param("ガード.cpp".encode(), id="wide characters"),
        pytest.param(b"n" * 240 + b".cpp", id="long"),
    ],
)
def test_odd_names(tmp_path: Path, name: bytes) -> None:
    paths, _ = haystack(tmp_path, 1000, every=10_000)
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/" + name)
    Path(odd).write_text("needle")
    with ParallelSearch(NEEDLES, 2) as search:
        search.add([*paths[1:], *[odd] * 40], "cpp")  # the batches are split where they grow too long
        assert search.hits() == [("cpp", odd, "")] * 40


def test_files_that_cannot_be_read_are_hits_with_a_reason(tmp_path: Path) -> None:
    paths, _ = haystack(tmp_path, 1000, every=10_000)
    missing = str(tmp_path / "missing.cpp")
    with ParallelSearch(NEEDLES, 2) as search:
        search.add([*paths[1:], missing, str(tmp_path)], "cpp")
        hits = search.hits()
    assert hits == [("cpp", str(tmp_path), "Is a directory"), ("cpp", missing, "No such file or directory")]


@pytest.mark.parametrize("processes", [2, 4])
@pytest.mark.parametrize("meanwhile", [False, True], ids=["hits at the end", "hits meanwhile"])
@pytest.mark.parametrize("pause", [0, 0.05])
@pytest.mark.few("0-hits at the end-2", "0.05-hits meanwhile-4")
def test_what_a_killed_child_had_in_hand_is_searched_again(
    tmp_path: Path, processes: int, meanwhile: bool, pause: float
) -> None:
    paths, expected = haystack(tmp_path, 2000, every=2)
    early: list[Hit] = []
    with ParallelSearch(NEEDLES, processes, early.append if meanwhile else None) as search:
        search.add(paths[:1500], "cpp")
        time.sleep(pause)
        for child in search._children:
            os.kill(child.process.pid, signal.SIGKILL)
        search.add(paths[1500:], "cpp")
        hits = search.hits()
    assert sorted(path for _, path, _ in early + hits) == expected
    assert search.lost == ["killed by SIGKILL"] * (processes - 1)


@pytest.mark.parametrize("spare", range(12))
def test_too_few_descriptors_mean_fewer_processes(tmp_path: Path, spare: int) -> None:
    paths, expected = haystack(tmp_path, 1000, every=7)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 2 + spare, hard))
    try:
        with ParallelSearch(NEEDLES, 4) as search:
            search.add(paths, "cpp")
            hits = search.hits()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert [path for _, path, trouble in hits if not trouble] == expected


def test_children_end_when_the_search_is_given_up(tmp_path: Path) -> None:
    paths, _ = haystack(tmp_path, 1000, every=7)
    with ParallelSearch(NEEDLES, 3) as search:
        search.add(paths[:500], "cpp")
        search.add(paths[500:], "cpp")
        children = [child.process.pid for child in search._children]
    assert children
    for pid in children:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_leaves_no_pipe_open(tmp_path: Path) -> None:
    paths, _ = haystack(tmp_path, 1000, every=7)
    before = set(os.listdir("/proc/self/fd"))
    with ParallelSearch(NEEDLES, 3) as search:
        search.add(paths, "cpp")
        search.hits()
    assert set(os.listdir("/proc/self/fd")) == before


def test_a_slow_reader_of_hits_does_not_stop_the_children(tmp_path: Path) -> None:
    """More hits than a pipe holds, found before anybody asks for them."""
    paths, expected = haystack(tmp_path, 1500, every=1)
    with ParallelSearch(NEEDLES, 2) as search:
        search.add(paths, "cpp")
        time.sleep(0.2)
        assert [path for _, path, _ in search.hits()] == expected


@pytest.mark.parametrize("has_stringzilla", [True, False], ids=["StringZilla", "without it"])
@pytest.mark.parametrize(
    ("data", "size", "found"),
    [
        pytest.param(b"hay needle hay", 14, True, id="inside"),
        pytest.param(b"hay needle", 10, True, id="at the end"),
        pytest.param(b"hay needle", 9, False, id="cut off: what stands behind is of another file"),
        pytest.param(b"", 0, False, id="empty"),
        pytest.param(b"\xff\xfeh\0", 4, True, id="UTF-16 is decoded whatever stands in it"),
    ],
)
def test_holds(monkeypatch: pytest.MonkeyPatch, has_stringzilla: bool, data: bytes, size: int, found: bool) -> None:
    if not has_stringzilla:
        monkeypatch.setitem(sys.modules, "stringzilla", None)
    try:
        module = importlib.reload(search)
        assert module.holds(bytearray(data + b"\0" * 8), size, [b"needle"]) is found
        assert (module.find.__module__ == search.__name__) is not has_stringzilla
    finally:
        monkeypatch.undo()
        importlib.reload(search)


OURS = (b"GF", b"legacy-guard")
COMMENTS = [
    pytest.param("x; // NOLINT(GF101)\n", True, id="a code"),
    pytest.param("x  # noqa: GF101\n", True, id="in Python"),
    pytest.param("x  # NoQA: legacy-guard\n", True, id="a name"),
    pytest.param("x  # noqa: E501\n", False, id="another tool's"),
    pytest.param("GF101  # noqa\n", False, id="before the mark"),
    pytest.param("x  # noqa\nGF101\n", False, id="on the next line"),
    pytest.param("x  # noqa\rGF101\n", False, id="behind a lone CR"),
    pytest.param("x qa GF101\n", False, id="no mark"),
    pytest.param("// NOLINT\n" * 3000 + "x; // NOLINT(GF101)", True, id="the last of many"),
    pytest.param("x" * (1 << 20) + " // NOLINT(GF101)", True, id="behind the first megabyte"),
    pytest.param("y" * ((1 << 20) - 20) + "// NOLINT(" + "bugprone, " * 200 + "GF101)\n", True, id="across it"),
    pytest.param("x\n" * (1 << 19), False, id="a megabyte of lines"),
]


@pytest.mark.parametrize("processes", [1, 3])
def test_comments_that_name_something_are_found_on_the_way(tmp_path: Path, processes: int) -> None:
    for number in range(700 if processes > 1 else 0):
        (tmp_path / f"{number}.py").write_text("x = 1\n")
    texts = [(one.values[0], one.values[1]) for one in COMMENTS]
    for number, (text, _) in enumerate(texts):
        (tmp_path / f"comment{number}.py").write_text(str(text), newline="")
    expected = {str(tmp_path / f"comment{number}.py") for number, (_, named) in enumerate(texts) if named}
    with ParallelSearch(NEEDLES, processes, comments=names_one_of(OURS)) as found:
        found.add(sorted(map(str, tmp_path.iterdir())), "python")
        assert found.hits() == []
    assert set(found.naming) == expected


@pytest.mark.parametrize(("text", "named"), COMMENTS)
def test_a_text_in_memory_is_looked_at_as_a_file_is(text: str, named: bool) -> None:
    data = text.encode()
    assert names_one_of(OURS)(data, len(data)) is named
