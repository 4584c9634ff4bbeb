"""Comments that silence a finding on their line.

C++: `// NOLINT`, `// NOLINT(GF101)`, `// NOLINTNEXTLINE(legacy-guard)`, as clang-tidy has them.
Both languages: `noqa`, `noqa: GF101`, as Ruff has it. `guardfix: ignore-file` anywhere in a comment silences the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .facts import Suppression
from .sources import Source

_MARKS = (b"NOLINT", b"noqa", b"NOQA", b"guardfix:")
_COMMENT = re.compile(
    rb"\bNOLINT(?P<next>NEXTLINE)?\b(?:\((?P<checks>[^)\n]*)\))?"
    rb"|(?://|#|/\*)[^\n]*?\b(?i:noqa)\b(?::\s*(?P<codes>[\w-]+(?:[,\s]+[A-Z]+\d+)*))?"
    rb"|\bguardfix:\s*ignore-file\b"
)


def find_suppressions(source: Source) -> tuple[Suppression, ...]:
    """The file's suppressions; row 0 stands for the whole file."""
    text = source.text
    if not any(mark in text for mark in _MARKS):
        return ()
    found = []
    for match in _marked(text):
        row = source.position(match.start()).row
        if match.group().startswith(b"guardfix:"):
            found.append(Suppression(0, ()))
            continue
        codes = match["checks"] if match["checks"] is not None else match["codes"]
        names = tuple(re.split(r"[,\s]+", codes.decode("utf-8", "replace").strip())) if codes else ()
        found.append(Suppression(row + 1 if match["next"] else row, tuple(filter(None, names))))
    return tuple(found)


def _marked(text: bytes) -> Iterator[re.Match[bytes]]:
    """The marks, line by line: most lines hold none, and need not be searched."""
    done = 0
    for hint in sorted(place for mark in _MARKS for place in _places(mark, text)):
        if hint >= done:
            start = text.rfind(b"\n", 0, hint) + 1
            done = text.find(b"\n", hint)
            done = len(text) if done < 0 else done
            yield from _COMMENT.finditer(text, start, done)


def _places(mark: bytes, text: bytes) -> Iterator[int]:
    place = text.find(mark)
    while place >= 0:
        yield place
        place = text.find(mark, place + len(mark))


def is_suppressed(suppressions: tuple[Suppression, ...], rows: range, code: str, name: str) -> bool:
    """Whether one of the comments on `rows` silences the rule."""
    for suppression in suppressions:
        if suppression.row and suppression.row not in rows:
            continue
        if not suppression.codes or any(_matches(given, code, name) for given in suppression.codes):
            return True
    return False


def _matches(given: str, code: str, name: str) -> bool:
    given = given.removeprefix("guardfix-")
    if given.endswith("*"):
        return code.startswith(given[:-1]) or name.startswith(given[:-1])
    return given in (code, name) or (given[:2] == "GF" and code.startswith(given))
