#!/usr/bin/env python3
"""The picture on the first page: what `guardfix check` prints of the page's own example, as a terminal shows it.

    docsite/terminal_picture.py        rewrites docs/assets/check.svg, and check-narrow.svg for a phone

`tests/docsite/test_site_pages.py` compares it with what the command prints.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURES = {ROOT / "docs" / "assets" / name: columns for name, columns in (("check.svg", 92), ("check-narrow.svg", 46))}
"""The files, with how many columns their terminals have."""
_CELL, _LINE, _MARGIN = 7.83, 19, 16
_STYLE = re.compile("\x1b\\[([0-9;]*)m|\x1b\\]8;;[^\x1b]*\x1b\\\\")
_COLORS = {"31": "#ff9a9a", "32": "#7fd99a", "33": "#f0c060", "34": "#82b7ff", "35": "#d7a6ff", "36": "#6fd3e0"}


def shown_program() -> tuple[str, str]:
    """The name and the text of the first program on the page."""
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    found = re.search(r'^```\w+ title="([^"]+)"\n(.*?)^```', page, re.DOTALL | re.MULTILINE)
    assert found is not None, "docs/index.md begins with a program"
    return found[1], found[2]


def printed() -> str:
    """What the command prints of it, with colors."""
    from click.testing import CliRunner

    from guardfix.cli.check_command import command

    name, text = shown_program()
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, name).write_text(text, encoding="utf-8")
        os.chdir(folder)
        try:
            words = ["--isolated", "--color", "always", name]
            found = CliRunner().invoke(command, words, color=True, env={"FORCE_HYPERLINK": "0"})
        finally:
            os.chdir(before)
    return f"$ guardfix check {name}\n{found.stdout}"


def pieces(line: str) -> Iterator[tuple[str, str, bool]]:
    """(text, color, bold) of each part of a line with escape sequences."""
    color, bold, at = "", False, 0
    for found in _STYLE.finditer(line):
        if found.start() > at:
            yield line[at : found.start()], color, bold
        at = found.end()
        for code in (found[1] or "0").split(";") if found[1] is not None else ():
            color, bold = ("", False) if code in ("0", "") else (_COLORS.get(code, color), bold or code == "1")
    if line[at:]:
        yield line[at:], color, bold


def picture(text: str, columns: int) -> str:
    """The text as SVG; a long line goes on below."""
    lines = [part for line in text.rstrip().split("\n") for part in _broken(line, columns)]
    width, height = columns * _CELL + 2 * _MARGIN, len(lines) * _LINE + 2 * _MARGIN
    rows = [
        f'<text x="{_MARGIN}" y="{_MARGIN + 14 + number * _LINE}" xml:space="preserve">'
        f"{''.join(map(_span, pieces(line)))}</text>"
        for number, line in enumerate(lines)
    ]
    plain = escape(_STYLE.sub("", text).strip(), quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img">\n'
        f"<title>{plain}</title>\n"
        f'<rect width="100%" height="100%" rx="10" fill="#14171c"/>\n'
        '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" fill="#e7eaf0">\n'
        + "\n".join(rows)
        + "\n</g>\n</svg>\n"
    )


def _span(piece: tuple[str, str, bool]) -> str:
    text, color, bold = piece
    how = (f' fill="{color}"' if color else "") + (' font-weight="600"' if bold else "")
    return f"<tspan{how}>{escape(text)}</tspan>" if how else escape(text)


def _broken(line: str, columns: int) -> Iterator[str]:
    """The line in parts that fit, broken at blanks; styles don't go over the end of one."""
    rest, first = line, True
    while len(_STYLE.sub("", rest)) > columns - (0 if first else 6):
        room, at, last = columns - (0 if first else 6), 0, 0
        for word in re.finditer(r"\S+\s*", rest):
            if len(_STYLE.sub("", rest[: word.end()]).rstrip()) > room:
                break
            last = word.end()
        at = last or len(rest)
        yield ("" if first else "      ") + rest[:at].rstrip()
        rest, first = rest[at:], False
    yield ("" if first else "      ") + rest


if __name__ == "__main__":
    for path, columns in PICTURES.items():
        path.write_text(picture(printed(), columns), encoding="utf-8")
