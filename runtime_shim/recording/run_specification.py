"""What one run is given, and the file that it is written to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Specification:
    """One program and how it is to be run."""

    source: str
    shown: str
    """What the program is told that it is called: the same before and after, wherever the copy lies."""
    recording: str
    """The file that the recording goes to."""
    arguments: tuple[str, ...] = ()
    backend: str = "shim"
    """`shim`, or `torch`: the installed PyTorch."""
    legacy_since19: bool = False
    uncovered: bool = False
    """With `torch`: no guard hides view tracking and version counting. What the program does then and not
    otherwise was hidden from it."""
    detailed: bool = False
    """Record which tensor is which, and the autograd graph, as far as the shim is what the program runs on."""
    include: tuple[str, ...] = ()
    quoted_include: tuple[str, ...] = ()
    """Folders for `#include "…"` alone: where the program's own headers lie when it is a copy."""
    units: tuple[dict[str, Any], ...] = ()
    """Further C++ sources of the program: the fields of `linked_program.SourceUnit`, with texts for paths."""
    root: str = ""
    """The copy of the project in which the program stands, where it has further sources."""
    define: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    standard: str = "c++17"
    compiler: str | None = None
    workplace: str | None = None
    """Where the compiler works; by default in the cache."""
    guard_table: str | None = None
    """The file in which entered guards are counted (see `guard_table`)."""
    writable: tuple[str, ...] = ()
    """The folders that the program may write to; it is contained if there are any (see `containment`)."""
    temporary: str = ""
    """Its private folder for temporary files."""
    memory: int | None = None
    """Bytes that the program may take on top of what the shim needs."""
    seconds: float | None = None
    made_up: str = ""
    """The folder in which missing files of data are made up (see `made_up_files`); empty if none are."""

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, path: str) -> Specification:
        with open(path, encoding="utf-8") as file:
            read: dict[str, Any] = json.load(file)
        fields: dict[str, Any] = {k: tuple(value) if isinstance(value, list) else value for k, value in read.items()}
        return cls(**fields)


def read_events(path: Path) -> Iterator[dict[str, Any]]:
    """The events of a recording; a last line that was cut short is left out."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.endswith("\n"):
                    yield json.loads(line)
    except FileNotFoundError:
        return
