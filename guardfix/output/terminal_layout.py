"""Text on a terminal: how many cells it takes, where its lines break, and which part of a long line is shown."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from guardfix.linter.named_tuples import NamedTuple

from ..foreign_text import own, printable

TAB = "    "
_LONGEST = 500
_NARROWEST = 30
_ZERO_WIDTH = frozenset({"Mn", "Me", "Cf"})


def styling(color: bool) -> Callable[..., str]:
    """As click's `style`, or what leaves a text as it is where no colors are wanted."""
    if not color:
        return lambda text, **_: text
    return _styled


def _styled(text: str, **how: Any) -> str:
    import click

    before, after = click.style("\n", **how).split("\n")
    return f"{own(before)}{text}{own(after)}"


def hyperlink(text: str, uri: str) -> str:
    """A text that leads to an address when it is clicked (OSC 8); the text alone where the address is none."""
    if not (uri.isascii() and uri.isprintable()):
        return text
    start, end = own(f"\x1b]8;;{uri}\x1b\\"), own("\x1b]8;;\x1b\\")
    return f"{start}{text}{end}"


_PROGRAMS = frozenset({"Hyper", "iTerm.app", "terminology", "WezTerm", "vscode", "ghostty", "Tabby", "rio", "zed"})
_TERMINALS = frozenset({"xterm-kitty", "alacritty", "alacritty-direct", "xterm-ghostty", "foot", "contour", "domterm"})
_MARKS_OF_TERMINALS = ("WT_SESSION", "KONSOLE_VERSION", "DOMTERM", "KITTY_WINDOW_ID", "ALACRITTY_WINDOW_ID")
_VTE_WITH_LINKS = 5000


def has_links(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the terminal is known to show links (OSC 8). `FORCE_HYPERLINK` says it for the others, 0 for none.

    Others may print the addresses, so that they get none: the terminals of CI servers, tmux and screen.
    """
    forced = environment.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced != "0"
    if environment.get("CI") or environment.get("TERM", "").startswith(("screen", "tmux")) or "TMUX" in environment:
        return False
    vte = environment.get("VTE_VERSION", "")
    return (
        environment.get("TERM_PROGRAM") in _PROGRAMS
        or environment.get("TERM") in _TERMINALS
        or environment.get("COLORTERM") == "xfce4-terminal"
        or (vte.isdecimal() and int(vte) >= _VTE_WITH_LINKS)
        or any(environment.get(name) for name in _MARKS_OF_TERMINALS)
    )


def terminal_width(stream: TextIO | None = None) -> int | None:
    """Columns of the terminal that a stream (standard output) writes to; None where it goes elsewhere."""
    if not (stream or sys.stdout).isatty():
        return None
    import shutil

    return max(_NARROWEST, shutil.get_terminal_size().columns)


def cells(text: str) -> int:
    """How many cells of a terminal a text takes: wide characters take two, combining ones none (UAX #11)."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.category(character) in _ZERO_WIDTH and character != "\N{SOFT HYPHEN}":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def displayable(text: str) -> str:
    """A line of code as it is printed: tabs as blanks, what can't be seen as pictures of itself."""
    return printable(text.replace("\t", TAB))


def wrapped(text: str, width: int | None, *, first: int = 0, indent: str = "") -> list[str]:
    """The text broken at blanks, so that no line is wider than `width`; what holds no blank stays whole.

    `first` cells of the first line are taken already; further lines begin with `indent`, and the first with the blanks
    that the text begins with. No width, no breaks.
    """
    if width is None:
        return [text]
    said = text.lstrip(" ")
    lines = [text[: len(text) - len(said)]]
    room = width - first
    for word in said.split(" "):
        begun = bool(lines[-1].strip())
        longer = f"{lines[-1]} {word}" if begun else lines[-1] + word
        if cells(longer) > room and (begun or first):
            lines.append(indent + word)
            room = width
        else:
            lines[-1] = longer
    return lines


def reflowed(text: str, width: int | None) -> str:
    """A text whose paragraphs are broken again, to fit a terminal; indented lines, which are code, stay as they are."""
    if width is None:
        return text
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        own = paragraph.split("\n")
        if any(line.startswith((" ", "\t")) for line in own):
            lines += [*own, ""]
        else:
            lines += [*wrapped(" ".join(own), width), ""]
    return "\n".join(lines[:-1])


class Frame(NamedTuple):
    """A line of code, and what is below it."""

    code: str
    before: str
    """Blanks up to the carets."""
    carets: str


def frame(line: str, start: int, end: int, width: int | None) -> Frame:
    """A line with carets under its characters `start` up to, not including, `end`.

    Of a line that is wider than `width` only the part around the carets is shown, with `…` where it is cut.
    Without a width, which is in a pipe, 500 cells are shown.
    """
    if width is None:
        width = _LONGEST
    # What is far away is not shown anyway: generated code has lines of megabytes.
    reach = 2 * width
    before, after = line[max(0, start - reach) : start], line[end : end + reach]
    before, marked, after = (displayable(part) for part in (before, line[start : min(end, start + reach)], after))
    if cells(before) + cells(marked) + cells(after) <= width:
        return Frame(before + marked + after, " " * cells(before), "^" * max(1, cells(marked)))
    # The code after the marked part gives way first, then that before it, last the marked part itself.
    lead = max(1, width - cells(marked) - 1)
    if cells(before) > lead:
        before = "…" + _last(before, lead - 1)
    room = width - cells(before)
    if cells(marked) > room:
        marked = _first(marked, room - 1)
        return Frame(f"{before}{marked}…", " " * cells(before), "^" * max(1, cells(marked)))
    room -= cells(marked)
    if cells(after) > room:
        after = _first(after, room - 1) + "…" if room else ""
    return Frame(before + marked + after, " " * cells(before), "^" * max(1, cells(marked)))


def _first(text: str, width: int) -> str:
    """As much of the text's beginning as fits."""
    end = taken = 0
    for character in text:
        taken += _width(character)
        if taken > width:
            break
        end += 1
    return text[:end]


def _last(text: str, width: int) -> str:
    """As much of the text's end as fits."""
    start = len(text)
    taken = 0
    for character in reversed(text):
        taken += _width(character)
        if taken > width:
            break
        start -= 1
    return text[start:]
