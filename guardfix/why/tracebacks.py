"""What a terminal shows when a program fails -> the message, and the frames of the user's own code."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from guardfix.pytorch_messages.message_lookup import message_in
from guardfix.pytorch_messages.message_table import KnownMessage


class StackFrame(NamedTuple):
    """One frame; without a path where only the function's name is known, as in C++."""

    path: str
    row: int
    function: str


class Traceback(NamedTuple):
    """What an error text says."""

    message: KnownMessage | None
    line: str
    """The line with the error, as it was printed."""
    frames: tuple[StackFrame, ...]
    """Those of the user's code, the innermost last."""
    cpp: bool
    """It comes from a C++ program."""
    code: str = ""
    """The line of code of the innermost frame, as the traceback shows it."""


_BEGIN = re.compile(r"^.*Traceback \(most recent call last\)", re.MULTILINE)
_ORIGINAL = re.compile(r"^.*\bOriginal Traceback \(")
_PREFIX = re.compile(
    r"^(?P<prefix>\S[^\n]*?\s*)(?:Original )?Traceback \(most recent call last\):\n(?P<next>\S[^\n]*?) {2}File \"",
    re.MULTILINE,
)
_DIGITS = re.compile(r"\d+")
_COLORS = re.compile(r"\x1b\[[0-9;]*m")
_PYTHON = re.compile(r'^[ |+E]*File "(?P<path>[^"\n]+)", line (?P<row>\d+)(?:, in (?P<function>.+))?', re.MULTILINE)
_IPYTHON = re.compile(r"^File (?P<path>[^\n:,]+?\.py):(?P<row>\d+)(?:, in (?P<function>[\w.<>]+))?", re.MULTILINE)
_OLD_IPYTHON = re.compile(
    r"^(?P<path>[^\s:]+\.py) in (?P<function>[\w.<>]+)\([^\n]*\n(?: +\d+[^\n]*\n)*-+> (?P<row>\d+)\b", re.MULTILINE
)
_RICH = re.compile(r"^[│|] (?P<path>\S+\.py):(?P<row>\d+) in (?P<function>\S+)", re.MULTILINE)
_PYTEST = re.compile(
    r"^(?P<path>[^\s:][^:\n]*\.py):(?P<row>\d+):"
    r"(?: (?:in (?P<function>\S+)|\w+(?:Error|Exception|Interrupt)\b)|[ \t]*$)",
    re.MULTILINE,
)
_CPP_FRAME = re.compile(
    r"^\s*(?:frame )?#\d+:?\s+(?:0x[0-9a-f]+ in )?(?P<function>[~\w:<>]+?) ?(?:\([^\n]*?\)(?: const)?)?"
    r"(?: \+ 0x[0-9a-f]+)?"
    r"(?: \([^\n]*\)| (?:at|from) (?P<path>[^\s:]+):(?P<row>\d+)| (?P<file>/[^\s:]+):(?P<line>\d+)[:\d]*)?$",
    re.MULTILINE,
)
_CPP_SIGNS = ("terminate called", "what():", "c10::Error", "libc++abi", "Exception raised from")
_COMPILER = re.compile(r"^(?P<path>[^\s:]+\.(?:cpp|cc|cxx|cu|h|hpp|cuh)):(?P<row>\d+):", re.MULTILINE)
_ERROR = re.compile(r"^[ |+E]*(?:what\(\):\s*)?(?P<line>(?:[\w.]+(?:Error|Exception|Warning)): .*)$", re.MULTILINE)
_LIBRARIES = re.compile(
    r"(?:^|[/\\])(?:site-packages|dist-packages|lib[/\\]python\d[\d.]*|runtime_shim|_pytest|pluggy|importlib)[/\\]|"
    r"^<(?!ipython|stdin)|(?:^|[/\\])(?:torch|aten|c10)[/\\](?:csrc|src|core|util|include)[/\\]|"
    r"^/usr/(?:include|lib)/|^/lib\d*/"
)
_LIBRARY_NAMES = re.compile(
    r"^(?:at|c10|torch|std|caffe2|__\w+|_start|operator\w*|pybind11|testing|boost|PyObject\w*|_Py\w*|Py\w*|clone|"
    r"start_thread|gsignal|abort|raise|main_thread\w*|THP\w*|libc\w*)(?:::|$)|^(?:0x|<unknown)"
)


def is_of_library(path: str) -> bool:
    """Whether a file belongs to Python, PyTorch, an installed package or the C++ library."""
    return _LIBRARIES.search(path) is not None


def read_traceback(text: str) -> Traceback:
    """The message of a log that ended the program, and the way to it."""
    text = _without_prefixes(_COLORS.sub("", text.replace("\r\n", "\n")))
    block = _block_of_the_message(text)
    cpp = any(sign in text for sign in _CPP_SIGNS)
    frames = list(_frames(block))
    if not frames and cpp:
        frames = list(reversed(list(_cpp_frames(block))))
    if not frames:
        frames = [StackFrame(found["path"], int(found["row"]), "") for found in _COMPILER.finditer(block)][:1]
        cpp = cpp or bool(frames)
    message = message_in(block) or message_in(text)
    return Traceback(message, _line_of(block), tuple(frames), cpp, _code_of(block, frames))


def _without_prefixes(text: str) -> str:
    """The log without the prefix of each line: `[rank0]: ` of a launcher, `(Actor pid=7) ` of Ray, a time."""
    for match in _PREFIX.finditer(text):
        prefix = match["prefix"]
        # Times and numbers of processes differ from line to line.
        written = r"\d+".join(map(re.escape, _DIGITS.split(prefix)))
        if re.fullmatch(written, match["next"]):
            return re.sub(rf"^{written}", "", text, flags=re.MULTILINE)
    return text


def _block_of_the_message(text: str) -> str:
    """The last traceback that ends with a message of the table; the whole text where there are none."""
    starts = [match.start() for match in _BEGIN.finditer(text)]
    blocks = [text[start:end] for start, end in pairwise([*starts, len(text)])]
    for index in range(len(blocks) - 1, -1, -1):
        if message_in(blocks[index]) is not None:
            # What a worker raised is raised again where its result is asked for: the way there begins in that block.
            is_again = index > 0 and _ORIGINAL.match(blocks[index]) is not None
            return blocks[index - 1] + blocks[index] if is_again else blocks[index]
    return blocks[-1] if blocks and message_in(text) is None else text


def _frames(block: str) -> Iterator[StackFrame]:
    for pattern in (_PYTHON, _IPYTHON, _OLD_IPYTHON, _RICH, _PYTEST):
        found = [
            StackFrame(os.path.expanduser(match["path"]), int(match["row"]), match["function"] or "")
            for match in pattern.finditer(block)
        ]
        own = [frame for frame in found if not is_of_library(frame.path)]
        if own:
            yield from own
            return


def _cpp_frames(block: str) -> Iterator[StackFrame]:
    """The functions of the program, the innermost first."""
    for match in _CPP_FRAME.finditer(block):
        function, path = match["function"], match["path"] or match["file"] or ""
        if _LIBRARY_NAMES.search(function) or is_of_library(path):
            continue
        yield StackFrame(path, int(match["row"] or match["line"] or 0), function)


def _code_of(block: str, frames: Sequence[StackFrame]) -> str:
    """What a traceback shows below its innermost frame of the user's."""
    if not frames:
        return ""
    last = frames[-1]
    shown = re.search(rf'{re.escape(last.path)}", line {last.row}\b[^\n]*\n([^\n]*)', block)
    return shown[1].strip() if shown is not None else ""


def _line_of(block: str) -> str:
    """The line with the error; the last one where several are."""
    lines = [match["line"] for match in _ERROR.finditer(block) if message_in(match["line"]) is not None]
    if lines:
        return lines[-1].strip()
    rows = block.splitlines()
    held = next((line for line in rows if message_in(line) is not None), "")
    if not held:  # a message of two lines
        held = next((one for one, below in pairwise(rows) if message_in(f"{one}\n{below}") is not None), "").rstrip(":")
    return held.strip().removeprefix("what():").strip()
