"""What all tests share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

# Modules that the tests share and that aren't tests; importlib mode leaves their folder off the path.
sys.path.insert(0, str(Path(__file__).parent))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves files without a smoke test unread in a smoke test: reading all of them takes longer than running it."""
    if config.option.markexpr != "smoke" or not collection_path.is_file():
        return None
    return True if b"pytest.mark.smoke" not in collection_path.read_bytes() else None
