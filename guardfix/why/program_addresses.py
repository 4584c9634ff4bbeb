"""The frames of a C++ backtrace that has addresses in place of names, from the program itself.

A program that wasn't linked with `-rdynamic` prints `<unknown function> + 0x1379b (0x55… in ./train)`. `addr2line`
(part of binutils) finds the line, as for a debugger, if the program is there and was compiled with `-g`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from .tracebacks import StackFrame, is_of_library

_ADDRESS = re.compile(
    r"<unknown function> \+ 0x(?P<offset>[0-9a-f]+) \(0x[0-9a-f]+ in (?P<program>[^)\n]+)\)|"
    r"^\s*(?P<shown>[^\s()]+)\(\+0x(?P<at>[0-9a-f]+)\) ?\[0x",
    re.MULTILINE,
)
_LIBRARY = re.compile(r"^lib(?:torch|c10|caffe2|stdc\+\+|c|m|pthread|gomp|python|cu|nv)[\w.+-]*\.so")
_MOST = 100
_MOST_PROGRAMS = 8
_SECONDS = 20


def frames_at_addresses(text: str) -> tuple[StackFrame, ...]:
    """The frames of the user's code for the addresses in a backtrace, the innermost last; empty where none is known."""
    by_program: dict[str, list[int]] = {}
    for match in _ADDRESS.finditer(text):
        program = match["program"] or match["shown"]
        # A return address is behind the call, perhaps on another line.
        by_program.setdefault(program, []).append(int(match["offset"] or match["at"], 16) - 1)
    own = [program for program in by_program if not is_of_library(program) and not _LIBRARY.match(Path(program).name)]
    there = [program for program in own if os.path.isfile(program)][:_MOST_PROGRAMS]
    found = [frame for program in there for frame in _frames(program, by_program[program][:_MOST])]
    return tuple(reversed(found))


def _frames(program: str, offsets: list[int]) -> Iterator[StackFrame]:
    command = shutil.which("addr2line")
    if command is None:
        return
    questions = "".join(f"{offset:#x}\n" for offset in offsets)
    try:
        answered = subprocess.run(
            [command, "-fiC", "-e", program],
            input=questions,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_SECONDS,
            check=False,
            env={name: value for name, value in os.environ.items() if name != "DEBUGINFOD_URLS"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    lines = answered.stdout.splitlines()
    for function, place in zip(lines[::2], lines[1::2], strict=False):
        path, _, row = place.partition(" ")[0].rpartition(":")  # `file.cpp:12 (discriminator 3)`
        if row.isdecimal() and row != "0" and not is_of_library(path):
            yield StackFrame(path, int(row), function.partition("(")[0])
