"""The shim's C++ headers: files with code, and a table of those that only bring others.

PyTorch has hundreds of headers that sources include by name and that need no more here than `#include` of another.
The table has a line for each. The compiler wants files, so they are written into the cache once for each text of the
table, the folder whole or not at all; and with them the rows of ops that no header names.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

from .compiler_processes import workplace
from .op_rows import ATEN, rows_of_new_ops


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
        (made / "ATen/core/new_ops.def").write_text(_new_ops(), encoding="ascii")
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
    names = _files(INCLUDE)
    return _kept(
        digest(_table_text(), _new_ops(), *map(str, names.items())),
        lambda: digest(
            _table_text(),
            _new_ops(),
            *(part for path in sorted(names) for part in (os.path.relpath(path, INCLUDE), Path(path).read_bytes())),
        ),
    )


@functools.cache
def _files(folder: Path) -> dict[str, tuple[int, int, int]]:
    """The files of a folder and those in it, with what tells that one is another now."""
    paths = (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)
    states = ((path, os.stat(path)) for path in sorted(paths))
    return {path: (found.st_size, found.st_mtime_ns, found.st_ino) for path, found in states}


def _kept(key: str, made: Callable[[], str]) -> str:
    """What was made for the key before, or is made now. The code that needs the cache reports that it can't be used."""
    kept = cache_folder() / "headers" / "digests" / key
    with contextlib.suppress(OSError):
        found, _, end = kept.read_text(encoding="ascii").rpartition("\n")
        if end == key:
            return found
    text = made()
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        written = kept.with_name(f"{kept.name}.{os.getpid()}")
        written.write_text(f"{text}\n{key}", encoding="ascii")
        os.replace(written, kept)
    return text


@functools.cache
def _new_ops() -> str:
    """The rows of ops that no header names. To find them, the kernels and headers are read."""
    headers, kernels = _files(INCLUDE), _files(ATEN)
    sources = {path: state for path, state in kernels.items() if path.endswith(".py")}
    return _kept(
        digest("new ops", *map(str, {**headers, **sources}.items())),
        lambda: rows_of_new_ops([Path(path) for path in headers]),
    )


@functools.cache
def _folder_name() -> str:
    return f"forwarding-{digest(_table_text(), _new_ops())[:16]}"


@functools.cache
def _table_text() -> str:
    return _TABLE.read_text(encoding="ascii")
