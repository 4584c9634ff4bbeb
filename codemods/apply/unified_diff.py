"""A file's change as a unified diff that `patch -p1` and `git apply` take."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator

from .line_changes import Opcode, changed_lines
from .rewriting import Rewrite

_ESCAPES = {b"\a": b"a", b"\b": b"b", b"\t": b"t", b"\n": b"n", b"\v": b"v", b"\f": b"f", b"\r": b"r"}


def base_of(paths: Iterable[str]) -> str:
    """The folder from which the files at and below `paths` are named in diffs.

    The working folder when it holds them all, else the nearest folder that does: neither `git apply` nor `patch`
    takes a name that leads out of the folder where it runs.
    """
    here = os.path.realpath(os.curdir)
    found = [os.path.realpath(path) for path in paths]
    if all(path == here or path.startswith(os.path.join(here, "")) for path in found):
        return here
    return os.path.commonpath([path if os.path.isdir(path) else os.path.dirname(path) for path in found])


def unified_diff(rewritten: Rewrite, base: str = os.curdir) -> list[bytes]:
    """The diff's lines, in the file's own bytes: encoding, line ends and byte order mark are those that patch meets.

    No patch can be made for UTF-16 (`is_for_reading`): its lines are given as UTF-8. Links are followed, as
    neither tool patches through one.
    """
    source = rewritten.source
    name = os.path.relpath(os.path.realpath(source.path), os.path.realpath(base)).replace(os.sep, "/")
    codes = changed_lines(_lines(source.text), _lines(rewritten.text), rewritten.stays())
    before, after = (
        _lines(text if is_for_reading(rewritten) else source.encode(text)) for text in (source.text, rewritten.text)
    )
    found = [b"--- " + _header("a/" + name) + b"\n", b"+++ " + _header("b/" + name) + b"\n"]
    for hunk in _Matched(codes).get_grouped_opcodes(_AROUND):
        (_, first, _, first_new, _), (_, _, end, _, end_new) = hunk[0], hunk[-1]
        found.append(b"@@ -%s +%s @@\n" % (_range(first, end), _range(first_new, end_new)))
        for kind, a, b, c, d in hunk:
            found += [b" " + line for line in before[a:b]] if kind == "equal" else [b"-" + line for line in before[a:b]]
            found += [b"+" + line for line in after[c:d]] if kind != "equal" else []
    lines = found if len(found) > 2 else []
    return [line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in lines]


_AROUND = 3
"""Lines around a change."""


def lines_between(before: bytes, after: bytes) -> Iterator[str]:
    """The lines that go and those that come, for reading."""
    old, new = (text.decode("utf-8", "replace").splitlines() for text in (before, after))
    for line in difflib.unified_diff(old, new, lineterm="", n=0):
        if line[:1] in "+-" and not line.startswith(("+++", "---")):
            yield f"{line[0]} {line[1:]}"


class _Matched(difflib.SequenceMatcher[bytes]):
    """A comparison that was made elsewhere, for what difflib makes of one."""

    def __init__(self, codes: list[Opcode]) -> None:
        super().__init__(None, [], [])
        self._codes = codes

    def get_opcodes(self) -> list[Opcode]:  # type: ignore[override]
        return self._codes


def _range(first: int, end: int) -> bytes:
    """Lines as a hunk's head names them: from 1, and for none the line above."""
    count = end - first
    return b"%d" % (first + 1) if count == 1 else b"%d,%d" % (first + 1 if count else first, count)


def is_for_reading(rewritten: Rewrite) -> bool:
    """Whether the diff can be read but not applied."""
    return rewritten.source.encoding.startswith("utf-16")


def _lines(text: bytes) -> list[bytes]:
    """Lines end at LF only, as they do for patch: a CRLF shows as what it is."""
    return re.findall(rb"[^\n]*\n|[^\n]+", text)


def _header(name: str) -> bytes:
    """The name as git writes it: quoted where it must be, and with a tab after it where it holds a space."""
    raw = os.fsencode(name)
    if not raw.decode("utf-8", "surrogateescape").isprintable() or re.search(rb'["\\]', raw):
        return b'"' + re.sub(rb'["\\\x00-\x1f\x7f-\xff]', _escaped, raw) + b'"'
    return raw + b"\t" if b" " in raw else raw


def _escaped(match: re.Match[bytes]) -> bytes:
    character = match.group()
    if character in b'"\\':
        return b"\\" + character
    return b"\\" + (_ESCAPES.get(character) or b"%03o" % ord(character))
