"""Whether `funnel_table.py` still says what the rules, the guard table and the front ends declare.

Asked before each quick answer, so it imports next to nothing and reads next to nothing: the names in the folders are
compared, and of files that are newer than the record the part that declares something. A record that is behind
costs time and no finding: the real command then derives everything anew.
"""

from __future__ import annotations

import os

from . import funnel_table

_TOP = os.path.dirname(os.path.dirname(__file__))
_SLACK = 10.0
"""Seconds by which a file may be newer than the record, and yet have been installed together with it."""


def rule_modules(names: list[str]) -> list[str]:
    """Those of a folder's entries that are rules."""
    return [name for name in names if name.startswith("gf") and name.endswith(".py")]


def is_room(entry: os.DirEntry[str]) -> bool:
    """Whether an entry of `frontends` is the folder of a front end."""
    return "." not in entry.name and entry.name[:1] != "_" and entry.is_dir()


def declaration(name: str, data: bytes) -> bytes:
    """The part of a file that the record depends on: of a rule its `RULE = …`, of another file all."""
    if not name.startswith("rules/"):
        return data
    start = data.find(b"\nRULE")
    return data[start : data.find(b"\n\n", start + 1)]


def checksum(name: str) -> int:
    """Of what a file, given by its path below `linter`, declares."""
    from binascii import crc32

    with open(os.path.join(_TOP, name), "rb") as file:
        return crc32(declaration(name, file.read().replace(b"\r\n", b"\n")))


def is_current() -> bool:
    """Whether the record was made from what stands here now."""
    known = funnel_table.DECLARATIONS
    try:
        made = os.stat(funnel_table.__file__).st_mtime + _SLACK
        rules = rule_modules(os.listdir(os.path.join(_TOP, "rules")))
        if len(rules) != funnel_table.RULES or any("rules/" + name not in known for name in rules):
            return False
        with os.scandir(os.path.join(_TOP, "frontends")) as entries:
            folders = {entry.name for entry in entries if is_room(entry)}
        if folders != funnel_table.FRONTENDS:
            return False
        newer = (name for name in known if os.stat(os.path.join(_TOP, name)).st_mtime > made)
        return all(checksum(name) == known[name] for name in newer)
    except OSError:
        return False
