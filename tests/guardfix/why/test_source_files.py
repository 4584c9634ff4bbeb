"""Which files an error leads to."""

from __future__ import annotations

from pathlib import Path

import pytest

from guardfix.linter.files.workspace import DISK
from guardfix.why.source_files import find_sources
from guardfix.why.tracebacks import StackFrame


def test_a_frame_leads_into_no_folder_that_is_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("here", "disk/deep/er", "project/package"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "project" / ".git").mkdir()
    for name in ("disk/a.py", "disk/deep/er/b.py", "project/a.py", "project/package/b.py", "here/c.py"):
        (tmp_path / name).write_text("import torch\n")
    monkeypatch.chdir(tmp_path / "here")

    def listed(*names: str) -> int:
        frames = [StackFrame(str(tmp_path / name), 1, "f") for name in names]
        return find_sources(frames, (), DISK, cpp=False).listed

    assert listed("disk/a.py") == 1
    assert listed("disk/a.py", "disk/deep/er/b.py") == 2
    assert listed("project/a.py") == 2
    assert listed("here/c.py", "missing.py") == 1
    monkeypatch.chdir(tmp_path)
    assert listed("here/c.py") == 5
