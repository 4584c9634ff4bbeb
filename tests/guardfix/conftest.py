"""Git repositories for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from campaign_repositories import MakeRepository, git


@pytest.fixture
def repository(tmp_path: Path) -> MakeRepository:
    """A function that makes a git repository with one commit; called again with its name, a further commit."""

    def make(name: str, files: Mapping[str, str]) -> Path:
        folder = tmp_path / name
        if not folder.exists():
            folder.mkdir()
            git(folder, "init", "--quiet", "--initial-branch=main")
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message=files")
        return folder

    return make
