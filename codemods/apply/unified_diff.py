"""A file's change as a unified diff that `patch -p1` and `git apply` take."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable

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
    before, after = (
        text if is_for_reading(rewritten) else source.encode(text) for text in (source.text, rewritten.text)
    )
    lines = difflib.diff_bytes(
        difflib.unified_diff, _lines(before), _lines(after), _header("a/" + name), _header("b/" + name)
    )
    return [line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in lines]


def is_for_reading(rewritten: Rewrite) -> bool:
    """Whether the diff can be read but not applied."""
    return rewritten.source.encoding.startswith("utf-16")


def _lines(text: bytes) -> list[bytes]:
    """Lines end at LF only, as they do for patch: a CRLF shows as what it is."""
    return re.findall(rb"[^\n]*\n|[^\n]+", text)


def _header(name: str) -> bytes:
    """The name as git writes it: quoted where it must be, and with a tab behind it where it holds a space."""
    raw = os.fsencode(name)
    if re.search(rb'["\\\x00-\x1f\x7f]', raw):
        return b'"' + re.sub(rb'["\\\x00-\x1f\x7f]', _escaped, raw) + b'"'
    return raw + b"\t" if b" " in raw else raw


def _escaped(match: re.Match[bytes]) -> bytes:
    character = match.group()
    if character in b'"\\':
        return b"\\" + character
    return b"\\" + (_ESCAPES.get(character) or b"%03o" % ord(character))
