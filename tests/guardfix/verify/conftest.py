from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache of compiled programs for these tests alone."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GUARDFIX_CACHE_DIR", str(folder))
        yield folder
    shutil.rmtree(folder)  # pytest keeps its folders, and PyTorch's headers precompiled are 0.7 GB
