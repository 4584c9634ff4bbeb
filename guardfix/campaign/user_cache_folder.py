"""Where campaigns keep what can be made again."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache() -> Path:
    """$GUARDFIX_CACHE_DIR, else guardfix in the user's cache folder."""
    given = os.environ.get("GUARDFIX_CACHE_DIR")
    return Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "guardfix"
