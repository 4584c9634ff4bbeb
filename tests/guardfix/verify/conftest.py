from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of compiled programs that no other test works in, to see what is left there."""
    folder = tmp_path.parent / f"{tmp_path.name}-cache"
    folder.mkdir()
    monkeypatch.setenv("GUARDFIX_CACHE_DIR", str(folder))
    return folder
