"""`guardfix check --watch`: checks after each change, loses none, and goes on after mistakes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, Queue

import pytest

pytest.importorskip("watchfiles")

OLD = "void swap(at::Tensor& a) {\n  at::AutoNonVariableTypeMode g;\n  a.set_(a);\n}\n"


class Watch:
    """A running `guardfix check --watch`."""

    def __init__(self, folder: Path, path: str = ".") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "guardfix", "check", "--watch", "--output-format", "concise", path],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        self._lines: Queue[str] = Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def round(self, seconds: float = 60) -> list[str]:
        """What the next check says."""
        said = []
        end = time.monotonic() + seconds
        while True:
            line = self._lines.get(timeout=max(0.01, end - time.monotonic()))
            if "waiting for changes" in line:
                return said
            said.append(line.rstrip("\n"))

    def says_nothing(self, seconds: float) -> bool:
        try:
            self.round(seconds)
        except Empty:
            return True
        return False


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.cpp").write_text("int a;\n")
    running = Watch(tmp_path)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.wait()


def test_each_save_is_checked(watch: Watch, tmp_path: Path) -> None:
    assert watch.round() == ["All checks passed (1 file)."]
    (tmp_path / "a.cpp").write_text(OLD)
    assert watch.round()[0].startswith("a.cpp:2:3: GF101")
    # As editors save: a new file takes the old one's place.
    (tmp_path / "a.cpp.new").write_text("int b;\n")
    (tmp_path / "a.cpp.new").rename(tmp_path / "a.cpp")
    assert watch.round() == ["All checks passed (1 file)."]
    (tmp_path / "b.cpp").write_text(OLD)
    assert watch.round()[0].startswith("b.cpp:2:3: GF101")
    # A mistake in the configuration is told, and the watch goes on.
    (tmp_path / "guardfix.toml").write_text("selct = []\n")
    assert "did you mean `select`?" in watch.round()[0]
    (tmp_path / "guardfix.toml").write_text('ignore = ["GF101"]\n')
    assert watch.round() == ["All checks passed (2 files)."]
    # What doesn't matter starts nothing.
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / ".git" / "c.cpp").write_text(OLD)
    assert watch.says_nothing(1.5)
    watch.process.send_signal(signal.SIGINT)
    assert watch.process.wait(timeout=30) == 0


def test_a_configuration_above_what_is_watched(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.cpp").write_text(OLD)
    watch = Watch(tmp_path, "src")
    try:
        assert watch.round()[0].startswith("src/a.cpp:2:3: GF101")
        (tmp_path / "guardfix.toml").write_text('ignore = ["GF101"]\n')
        assert watch.round() == ["All checks passed (1 file)."]
        (tmp_path / "guardfix.toml").unlink()
        assert watch.round()[0].startswith("src/a.cpp:2:3: GF101")
    finally:
        watch.process.kill()
        watch.process.wait()


def test_what_it_cannot_be_combined_with(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "guardfix", "check", "--watch", "--fix", "."],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, "--watch can't be combined with" in done.stderr) == (2, True)
