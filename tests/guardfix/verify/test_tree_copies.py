"""Copies of folders: made once, put back for each program, bounded in what is looked at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from guardfix.verify.runs.tree_copies import CopyLimits, TreeCopy

ROOMY = CopyLimits(1 << 20, 100, 1000)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for name in ("main.cpp", "a.txt", "inner/b.txt", ".git/config", "inner/.venv/x"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return root


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


WHOLE = {"main.cpp": "main.cpp", "a.txt": "a.txt", "inner/b.txt": "inner/b.txt"}


def test_what_a_program_did_is_undone(root: Path, tmp_path: Path) -> None:
    copy = TreeCopy(root, tmp_path / "copy", ROOMY)
    copy.restore({root / "main.cpp": b"first"})
    assert contents(copy.target) == {**WHOLE, "main.cpp": "first"}
    unchanged = (copy.target / "inner/b.txt").stat()

    (copy.target / "new" / "deep").mkdir(parents=True)
    (copy.target / "new" / "deep" / "file").write_text("new")
    (copy.target / "link").symlink_to(root)
    (copy.target / "a.txt").write_text("A.txt")
    os.utime(copy.target / "a.txt", (0, 0))
    copy.restore({root / "new.txt": b"new"})
    assert contents(copy.target) == {**WHOLE, "new.txt": "new"}
    assert sorted(os.listdir(copy.target)) == ["a.txt", "inner", "main.cpp", "new.txt"]
    assert (copy.target / "inner/b.txt").stat().st_ctime_ns == unchanged.st_ctime_ns, "it was not copied again"

    (copy.target / "a.txt").unlink()
    copy.restore({})
    assert contents(copy.target) == WHOLE


@pytest.mark.parametrize(
    ("limits", "kept", "left_out", "stopped"),
    [
        (ROOMY, {"main.cpp", "a.txt", "inner/b.txt"}, 0, False),
        (CopyLimits(1 << 20, 2, 1000), {"main.cpp", "a.txt"}, 1, False),
        (CopyLimits(14, 100, 1000), {"main.cpp", "a.txt"}, 1, False),
        (CopyLimits(1 << 20, 100, 1), {"main.cpp"}, 0, True),
    ],
    ids=["all", "files", "bytes", "entries"],
)
def test_limits(root: Path, tmp_path: Path, limits: CopyLimits, kept: set[str], left_out: int, stopped: bool) -> None:
    copy = TreeCopy(root, tmp_path / "copy", limits)
    copy.restore({}, root / "main.cpp")
    assert "main.cpp" in contents(copy.target), "the program itself is there, whatever else is"
    if not stopped:
        assert contents(copy.target).keys() == kept
    assert (copy.left_out, copy.stopped) == (left_out, stopped)


def test_a_program_that_was_left_out_is_there_when_it_is_its_turn(root: Path, tmp_path: Path) -> None:
    copy = TreeCopy(root, tmp_path / "copy", CopyLimits(1 << 20, 1, 1000))
    copy.restore({}, root / "main.cpp")
    copy.restore({}, root / "inner/b.txt")
    assert contents(copy.target)["inner/b.txt"] == "inner/b.txt"
