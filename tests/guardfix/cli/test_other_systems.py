"""What the tool needs of a system: without what only Unix has, it checks and migrates all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fixture_files import ROOT
from guardfix.codemods.apply import temporary_files

OLD = (ROOT / "fixtures/cpp/inference_load_and_run.cpp").read_text(encoding="utf-8")
NEW = (ROOT / "fixtures/cpp/inference_load_and_run.migrated.cpp").read_text(encoding="utf-8")
WITHOUT_UNIX = """
import os, select, signal, subprocess, sys  # subprocess chooses its ways by these names when it is imported

for name in (
    "fork forkpty readv preadv writev geteuid getuid getgid getegid fchown chown killpg setsid getpgid setpgid pidfd_open "
    "sched_getaffinity listxattr getxattr setxattr removexattr O_DIRECTORY O_NOFOLLOW O_CLOEXEC O_NONBLOCK statvfs "
    "mkfifo WNOHANG WIFSIGNALED WTERMSIG register_at_fork"
).split():
    delattr(os, name)
for name in "SIGHUP SIGALRM SIGKILL SIGCHLD setitimer getitimer alarm pthread_sigmask".split():
    delattr(signal, name)
del select.poll
for name in "fcntl resource pwd grp termios tty".split():
    sys.modules[name] = None  # importing it raises ImportError

sys.argv[1:] = {arguments!r}
from guardfix.__main__ import main

main()
"""


def without_unix(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT_UNIX.format(arguments=list(arguments))]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def test_checking_and_migrating(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(OLD)
    (tmp_path / "b.cpp").write_text("int b;\n" * 200_000)  # more than is read at once
    checked = without_unix("check", "--isolated", ".", cwd=tmp_path)
    assert (checked.returncode, "GF101" in checked.stdout) == (1, True), checked.stderr
    clean = without_unix("check", "b.cpp", cwd=tmp_path)
    assert (clean.returncode, clean.stdout) == (0, "All checks passed (1 file).\n"), clean.stderr
    migrated = without_unix("migrate", "--isolated", "--apply", ".", cwd=tmp_path)
    assert migrated.returncode == 0, migrated.stderr
    assert (tmp_path / "a.cpp").read_text() == NEW
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.cpp", "b.cpp"]


def test_a_temporary_file_is_closed_before_it_is_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows renames no file that is open."""
    rename = os.rename

    def rename_closed(old: str, new: str) -> None:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(handle)
        rename(old, new)

    monkeypatch.setattr(temporary_files, "_CLOSED_FIRST", True)
    monkeypatch.setattr(os, "rename", rename_closed)
    temporary = temporary_files.TemporaryFile(str(tmp_path / "a.cpp"), b"new", b"old")
    temporary.write()
    handle = temporary.handle
    temporary.sync()
    assert Path(temporary.path).read_bytes() == b"new"
    temporary.close()
    assert list(tmp_path.iterdir()) == []
