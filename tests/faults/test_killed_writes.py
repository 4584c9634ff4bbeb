"""A run that is killed at any system call of its writing leaves each file whole, and the next run cleans up.

The kernel stops the run before each of its calls in turn: `strace --inject` where it is installed, and else the
functions of `os` that make the calls.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

OLD = b"""#include <torch/torch.h>
struct F : torch::autograd::Function<F> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x) {
    at::AutoNonVariableTypeMode g;
    return at::relu(x);
  }
};
"""
NEW = OLD.replace(b"AutoNonVariableTypeMode", b"AutoDispatchBelowADInplaceOrView")
APPLY = [sys.executable, "-m", "guardfix", "migrate", "--isolated", "--apply", "a.cpp"]
CALLS = ["open", "write", "fsync", "rename", "chmod", "unlink", "close", "listdir", "stat", "lstat"]
STOP = """
import os, signal, sys
name, count, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
import guardfix.codemods.apply.writing as writing, guardfix.codemods.apply.temporary_files as temporary
own = getattr(writing if name == "exchange" else os, name)
begun = False

def stopped(*arguments, **given):
    global count
    if begun:
        count -= 1
        if count < 0:
            os.kill(os.getpid(), number)
    return own(*arguments, **given)

def write(*arguments):
    global begun
    begun = True
    try:
        return real(*arguments)
    finally:
        begun = False

setattr(writing if name == "exchange" else os, name, stopped)
import guardfix.codemods.apply.applying as applying
real, applying.write = applying.write, write
from guardfix.__main__ import main
sys.argv[1:] = ["migrate", "--isolated", "--apply", "a.cpp"]
main()
"""


def folder_of(path: Path) -> dict[str, bytes]:
    return {found.name: found.read_bytes() for found in path.iterdir()}


def assert_whole_and_clean(path: Path) -> None:
    """The file is the old or the new one; another run makes it the new one, and leaves nothing beside it."""
    assert (path / "a.cpp").read_bytes() in (OLD, NEW)
    for data in folder_of(path).values():
        assert data in (OLD, NEW) or NEW.startswith(data)
    done = subprocess.run(APPLY, cwd=path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert folder_of(path) == {"a.cpp": NEW}


@pytest.mark.parametrize(
    ("name", "count", "number"), [("write", 0, 9), ("exchange", 0, 9), ("fsync", 0, 15), ("unlink", 0, 15)]
)
def test_a_run_that_is_killed(name: str, count: int, number: int, tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_bytes(OLD)
    command = [sys.executable, "-c", STOP, name, str(count), str(number)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == (-9 if number == 9 else 143), done.stderr
    if number == 15:
        assert set(folder_of(tmp_path)) == {"a.cpp"}
    assert_whole_and_clean(tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("number", [9, 15], ids=["SIGKILL", "SIGTERM"])
@pytest.mark.parametrize("count", range(3))
@pytest.mark.parametrize("name", CALLS)
def test_a_run_that_is_killed_anywhere(name: str, count: int, number: int, tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_bytes(OLD)
    command = [sys.executable, "-c", STOP, name, str(count), str(number)]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert_whole_and_clean(tmp_path)


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace here")
@pytest.mark.parametrize(
    "call", ["openat", "write", "fsync", "rename", "renameat2", "chmod", "unlink", "flock", "close"]
)
def test_a_run_that_is_killed_at_each_system_call(call: str, tmp_path: Path) -> None:
    for when in range(1, 400, 1 if call in ("fsync", "rename", "renameat2", "chmod", "unlink", "flock") else 23):
        (tmp_path / "a.cpp").write_bytes(OLD)
        inject = f"inject={call}:signal=KILL:when={when}"
        done = subprocess.run(
            ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", inject, *APPLY],
            cwd=tmp_path, capture_output=True, check=False,
        )  # fmt: skip
        assert_whole_and_clean(tmp_path)
        if done.returncode == 0:
            break


def test_a_full_disk(tmp_path: Path) -> None:
    """A limit for the size of files is met as a full disk is."""
    (tmp_path / "a.cpp").write_bytes(OLD + b"// filler\n" * 2000)
    limited = f"ulimit -f 8; trap '' XFSZ; exec {sys.executable} -B -m guardfix migrate --isolated --apply a.cpp"
    done = subprocess.run(["bash", "-c", limited], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "a.cpp: not written: " in done.stderr
    assert set(os.listdir(tmp_path)) == {"a.cpp"}
    assert (tmp_path / "a.cpp").read_bytes().startswith(OLD)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_bytes(OLD)
    tmp_path.chmod(0o555)
    try:
        done = subprocess.run(APPLY, cwd=tmp_path, capture_output=True, text=True, check=False)
    finally:
        tmp_path.chmod(0o755)
    assert (done.returncode, folder_of(tmp_path)) == (2, {"a.cpp": OLD})
