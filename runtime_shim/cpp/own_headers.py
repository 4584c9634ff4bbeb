"""The shim's C++ headers: files with code, and a table of those that only bring others.

PyTorch has hundreds of headers that sources include by name and that need no more here than `#include` of another.
The table has a line for each. The compiler wants files, so they are written into the cache once for each text of the
table, the folder whole or not at all.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
from pathlib import Path

from .compiler_processes import workplace


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


INCLUDE = Path(__file__).parent / "include"
"""The headers with code."""
_TABLE = Path(__file__).parent / "forwarding_headers.txt"
_DIGEST_LENGTH = 64


def own_include_folders() -> tuple[Path, Path]:
    """The folders in which a compiler finds our headers. `write_forwarding_headers` makes the second."""
    return INCLUDE, Path(os.path.abspath(cache_folder())) / "headers" / _folder_name()


def write_forwarding_headers() -> None:
    """Write the headers that only bring others, unless they are there. Raises OSError if the cache can't be written."""
    _, folder = own_include_folders()
    if folder.is_dir():
        return
    with workplace(folder.parents[1] / "unfinished") as temporary:
        made = temporary / folder.name
        for name, included in forwarding_headers().items():
            path = made / name
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = ["#pragma once", *(f"#include <{other}>" for other in included)]
            path.write_text("\n".join(lines) + "\n", encoding="ascii")
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.rename(made, folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise


@functools.cache
def forwarding_headers() -> dict[str, tuple[str, ...]]:
    """What each header brings that does nothing else: names as they are between the brackets of `#include`."""
    found: dict[str, tuple[str, ...]] = {}
    for line in _table_text().replace("\n    ", " ").splitlines():
        if not line.startswith("#"):
            name, _, included = line.partition(":")
            found[name] = tuple(included.split())
    return found


def has_own_header(name: str) -> bool:
    """Whether one of ours has this name, as in `torch/torch.h`."""
    return name in forwarding_headers() or (INCLUDE / name).is_file()


def is_own_header(path: Path) -> bool:
    """Whether a file that the compiler read is one of ours."""
    return any(path.is_relative_to(folder) for folder in own_include_folders())


@functools.cache
def headers_digest() -> str:
    """A key for what our headers say: their own names and texts, wherever and whenever they were installed.

    Reading them all takes as long as some programs run, so the key is kept as long as no file is another one.
    """
    paths, state = [], []
    for folder, _, names in os.walk(INCLUDE):
        for name in names:
            paths.append(path := os.path.join(folder, name))
            found = os.stat(path)
            state.append(f"{path}:{found.st_size}:{found.st_mtime_ns}:{found.st_ino}")
    kept = cache_folder() / "headers" / "digests" / digest(_table_text(), *sorted(state))
    with contextlib.suppress(OSError):
        if len(key := kept.read_text()) == _DIGEST_LENGTH:
            return key
    key = digest(
        _table_text(),
        *(part for path in map(Path, sorted(paths)) for part in (str(path.relative_to(INCLUDE)), path.read_bytes())),
    )
    with contextlib.suppress(OSError):  # the code that needs the cache reports that it can't be written
        kept.parent.mkdir(parents=True, exist_ok=True)
        written = kept.with_name(f"{kept.name}.{os.getpid()}")
        written.write_text(key)
        os.replace(written, kept)
    return key


@functools.cache
def _folder_name() -> str:
    return f"forwarding-{digest(_table_text())[:16]}"


@functools.cache
def _table_text() -> str:
    return _TABLE.read_text(encoding="ascii")
