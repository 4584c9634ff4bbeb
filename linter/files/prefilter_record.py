"""Whether `prefilter_table.py` still says what the rules, the guard table and the front ends declare.

Asked before each quick answer, so it imports next to nothing and reads next to nothing: the names in the folders and
the sizes of the files are compared, and the text of a file whose size is another or whose date is newer. A record that
is behind costs time and no finding: the real command then derives everything again.
"""

from __future__ import annotations

import os

from . import prefilter_table

_TOP = os.path.dirname(os.path.dirname(__file__))
_SLACK = 2.0
"""Seconds by which a file may be newer than the record, and yet have been written together with it: by git, by pip."""


def rule_modules(names: list[str]) -> list[str]:
    """Those of a folder's entries that are rules."""
    return [name for name in names if name.startswith("gf") and name.endswith(".py")]


def is_room(entry: os.DirEntry[str]) -> bool:
    """Whether an entry of `frontends` is the folder of a front end; one without its module is a leftover."""
    return os.path.exists(os.path.join(entry.path, f"{entry.name}_frontend.py"))


def fingerprint(name: str) -> tuple[int, int]:
    """(size, checksum) of a file, given by its path below `linter`, whatever ends its lines."""
    from binascii import crc32

    with open(os.path.join(_TOP, name), "rb") as file:
        data = file.read().replace(b"\r\n", b"\n")
    return len(data), crc32(data)


def is_current() -> bool:
    """Whether the record was made from what is here now."""
    known = prefilter_table.DECLARATIONS
    try:
        made = os.stat(prefilter_table.__file__).st_mtime + _SLACK
        rules = rule_modules(os.listdir(os.path.join(_TOP, "rules")))
        if len(rules) != prefilter_table.RULES or any("rules/" + name not in known for name in rules):
            return False
        with os.scandir(os.path.join(_TOP, "frontends")) as entries:
            folders = {entry.name for entry in entries if is_room(entry)}
        if folders != prefilter_table.FRONTENDS:
            return False
        for name, recorded in known.items():
            found = os.stat(os.path.join(_TOP, name))
            if (found.st_size != recorded[0] or found.st_mtime > made) and fingerprint(name) != recorded:
                return False
    except OSError:
        return False
    return True
