"""Which lines of a C++ program its steps come from.

While the program runs, a step notes the return addresses on the stack that lie in the program; when it has ended,
`addr2line` finds their lines, as for a debugger. Without it, or without line numbers, steps have no lines.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_DEEPEST = 96
"""Frames of the stack that are looked at: from the call into the interpreter back to the program's own functions."""
_MOST = 24
"""Frames of the program that are noted, the innermost ones: those of our headers come first."""
_SECONDS = 30


class _Found(ctypes.Structure):
    """`Dl_info`."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


class CallSites:
    """Where in a loaded program this thread is."""

    def __init__(self, program: Path) -> None:
        self.program = os.fsencode(program)
        here = ctypes.CDLL(None)
        self._backtrace: Any = getattr(here, "backtrace", None)  # only glibc has it
        self._dladdr = here.dladdr
        self._dladdr.argtypes = (ctypes.c_void_p, ctypes.POINTER(_Found))
        self._known: dict[int, int | None] = {}

    def here(self) -> list[int]:
        """The offsets in the program of what called us, the innermost first."""
        if self._backtrace is None:
            return []
        frames = (ctypes.c_void_p * _DEEPEST)()
        count = self._backtrace(frames, _DEEPEST)
        known = self._known
        found = []
        for address in frames[:count]:
            if address is not None:
                offset = known[address] if address in known else self._look(address)
                if offset is not None:
                    found.append(offset)
        return found[:_MOST]

    def _look(self, address: int) -> int | None:
        found = _Found()
        inside = self._dladdr(address, ctypes.byref(found)) and found.file == self.program
        # A return address is behind the call, perhaps on another line.
        offset = self._known[address] = address - int(found.base or 0) - 1 if inside else None
        return offset


def with_lines(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events of a recording with the lines of the program's own file in place of the noted addresses."""
    compiled = next((event for event in events if event["event"] == "compiled"), None)
    if compiled is None or "program" not in compiled:
        return events
    lines = _lines_of(compiled["program"], compiled["files"][0], {o for event in events for o in event.get("at", ())})
    found = []
    for event in events:
        if "at" in event:
            event = dict(event)
            line = next((lines[offset] for offset in event.pop("at") if offset in lines), None)
            if line is not None:
                event["line"] = line
        found.append(event)
    return found


def _lines_of(program: str, source: str, offsets: Iterable[int]) -> dict[int, int]:
    """The lines of `source` that the offsets in a program stand for; those of other files are left out."""
    asked = sorted(offsets)
    command = shutil.which("addr2line")
    if command is None or not asked:
        return {}
    questions = "".join(f"{offset:#x}\n" for offset in asked)
    try:
        answered = subprocess.run(
            [command, "-e", program], input=questions, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    texts = _numbered(Path(source).read_text("utf-8", "replace"))
    found = {}
    for offset, answer in zip(asked, answered.stdout.splitlines(), strict=False):
        file, _, line = answer.partition(" ")[0].rpartition(":")  # `file.cpp:12 (discriminator 3)`
        if line.isdecimal() and line != "0" and os.path.realpath(file) == os.path.realpath(source):
            found[offset] = _above_braces(int(line), texts)
    return found


def _numbered(text: str) -> list[str]:
    """The lines by the numbers that they have for the compiler, which a first `#line 7 "…"` sets."""
    told = re.search(r"^#line (\d+).*\n", text, re.MULTILINE)
    return text.splitlines() if told is None else [*[""] * (int(told[1]) - 1), *text[told.end() :].splitlines()]


def _above_braces(line: int, texts: list[str]) -> int:
    """The line, or the one above that isn't a closing brace: GCC puts the calls of `return {a * b};` there."""
    while 1 < line <= len(texts) and texts[line - 1].strip() in ("", "}", "};"):
        line -= 1
    return line
