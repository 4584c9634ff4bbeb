"""Where a finding is, as tools want it: names of files, URIs, rows and columns."""

from __future__ import annotations

import os
import re
from functools import cache

from guardfix.linter.findings import Finding

from ..foreign_text import printed, readable
from .terminal_layout import displayable

RULES_PAGE = "https://github.com/guardfix/guardfix/blob/main/docs/rules.md"
PROJECT_PAGE = "https://github.com/guardfix/guardfix"
ERRORS_PAGE = "https://github.com/guardfix/guardfix/blob/main/docs/errors.md"


def rule_url(finding: Finding) -> str:
    """The page of a finding's rule; that of a rule from elsewhere is the one it names, or empty."""
    return finding.url if finding.url is not None else f"{RULES_PAGE}#{finding.code.lower()}-{finding.name}"


def one_line(text: str) -> str:
    """A name or a message without anything that ends a line or moves the cursor."""
    return displayable(text)


def place_from(path: str, row: int, here: str) -> str:
    """A place as it is called in a finding of the file `here`: `line 9`, or `other.cpp:9`."""
    return f"line {row}" if path == here else f"{one_line(path)}:{row}"


def xml_text(text: str) -> str:
    """A text, of several lines even, that XML 1.0 can hold and that is harmless to whoever prints it."""
    return _not_xml().sub("\N{REPLACEMENT CHARACTER}", printed(readable(text)))


@cache
def _not_xml() -> re.Pattern[str]:
    """What XML 1.0 has no place for, not even escaped; compiled when asked for, since it takes a while."""
    return re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def repository_top(start: str = os.curdir) -> str:
    """The top folder of the git repository that a folder is in; the folder itself when it is in none."""
    return _top_of(os.path.realpath(start))


@cache
def _top_of(here: str) -> str:
    folder = here
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return here
        folder = parent
    return folder


def below(path: str, top: str) -> str | None:
    """A file's name from a folder on, with slashes; None when it isn't below it. Links in the folders are resolved."""
    folder, name = os.path.split(os.path.abspath(path))
    full = os.path.join(os.path.realpath(folder), name)
    if not full.startswith(os.path.join(top, "")):
        return None
    return full[len(os.path.join(top, "")) :].replace(os.sep, "/")


def uri_of(path: str) -> str:
    """A relative name as a URI reference."""
    return _quoted(path)


def file_uri(path: str) -> str:
    """`file:///…` of a path."""
    full = os.path.abspath(path).replace(os.sep, "/")
    return "file://" + _quoted(full if full.startswith("/") else "/" + full)


def _quoted(path: str) -> str:
    from urllib.parse import quote  # takes two milliseconds, and a terminal without links needs none

    return quote(os.fsencode(path))
