"""Where guardfix keeps what it has found out: a folder of the user's, outside every tree that is checked."""

from __future__ import annotations

import os

VARIABLE = "GUARDFIX_CACHE_DIR"
"""The environment variable that names another folder."""

_TAG = """Signature: 8a477f597d28d172789f06886806bc55
# This file marks a cache: backup programs leave its folder out. See https://bford.info/cachedir/
"""


def user_cache_folder() -> str:
    """$GUARDFIX_CACHE_DIR, else guardfix in the user's cache folder. It need not exist."""
    given = os.environ.get(VARIABLE)
    if given:
        return given
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "guardfix")


def facts_folder() -> str:
    """Where facts about files are kept."""
    return os.path.join(user_cache_folder(), "facts")


def made_folder(path: str) -> str:
    """The folder `path` of the cache, made if there is none, for this user alone. Raises `OSError`."""
    os.makedirs(path, mode=0o700, exist_ok=True)
    tag = os.path.join(os.path.dirname(path), "CACHEDIR.TAG")
    if not os.path.exists(tag):
        with open(tag, "w", encoding="utf-8") as file:
            file.write(_TAG)
    return path
