"""New text -> disk, whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from guardfix.codemods.apply.rewriting import Rewrite
from guardfix.codemods.apply.writing import NotWritten, write
from guardfix.linter.files.workspace import DISK


@pytest.fixture
def changed(tmp_path: Path) -> Rewrite:
    path = tmp_path / "a.cpp"
    path.write_text("int a;\n")
    path.chmod(0o755)
    return Rewrite(DISK.read(str(path)), b"int b;\n")


def test_mode_stays_and_no_other_file_is_left(changed: Rewrite, tmp_path: Path) -> None:
    write(changed)
    path = tmp_path / "a.cpp"
    assert path.read_text() == "int b;\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    assert os.listdir(tmp_path) == ["a.cpp"]


def test_a_file_that_changed_since_is_left(changed: Rewrite, tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text("int c;\n")
    with pytest.raises(NotWritten, match="changed since it was read"):
        write(changed)
    assert (tmp_path / "a.cpp").read_text() == "int c;\n"


def test_a_file_that_is_gone(changed: Rewrite, tmp_path: Path) -> None:
    (tmp_path / "a.cpp").unlink()
    with pytest.raises(NotWritten, match="cannot be read any more"):
        write(changed)


def test_a_file_that_may_not_be_written(changed: Rewrite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(NotWritten, match="not writable"):
        write(changed)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_half_way_leaves_the_file_whole(
    step: str, changed: Rewrite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(NotWritten, match="No space left"):
        write(changed)
    assert (tmp_path / "a.cpp").read_text() == "int a;\n"
    assert os.listdir(tmp_path) == ["a.cpp"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.cpp").write_text("int a;\n")
    link = tmp_path / "link.cpp"
    link.symlink_to(tmp_path / "real.cpp")
    write(Rewrite(DISK.read(str(link)), b"int b;\n"))
    assert link.is_symlink()
    assert (tmp_path / "real.cpp").read_text() == "int b;\n"
