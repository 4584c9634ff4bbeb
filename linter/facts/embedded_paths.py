"""The names by which pieces of C++ go that are in another file: `tool.py#12.340`."""

from __future__ import annotations

from ..lazy_regex import lazy_regex

_PIECE = lazy_regex(r"#\d+\.\d+\Z")


def path_of_piece(path: str, row: int, start: int) -> str:
    """The name of the piece of a file that begins in a row (from 1), so many bytes after the file's start."""
    return f"{path}#{row}.{start}"


def real_path(path: str) -> str:
    """The file in which a piece of embedded C++ is; any other path as it is."""
    return _PIECE.sub("", path) if "#" in path else path
