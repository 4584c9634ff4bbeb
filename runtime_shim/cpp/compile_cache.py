"""The folder of what is compiled, and the keys of what it holds."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path


def cache_folder() -> Path:
    """$GUARDFIX_CACHE_DIR, else guardfix in the user's cache folder."""
    given = os.environ.get("GUARDFIX_CACHE_DIR")
    if given:
        return Path(given) / "programs"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "guardfix" / "programs"


def digest(*parts: str | bytes) -> str:
    """A key for what the parts say, in their order."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        total.update(len(data).to_bytes(8, "little"))
        total.update(data)
    return total.hexdigest()


def manifest_files(entry: Path) -> list[str]:
    """The files that went into what the cache holds in the folder `entry`."""
    manifest: dict[str, str] = json.loads((entry / "manifest.json").read_text())
    return list(manifest)


def entry_is_current(entry: Path, product: str = "program.so") -> bool:
    """True when the entry is complete and every file that went into it is as it was."""
    try:
        manifest: dict[str, str] = json.loads((entry / "manifest.json").read_text())
        return (entry / product).is_file() and all(
            digest(Path(path).read_bytes()) == expected for path, expected in manifest.items()
        )
    except (OSError, ValueError):
        return False
