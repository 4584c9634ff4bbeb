"""Which lines a change touches: from a unified diff, or from git."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass, field

from guardfix.linter.engine import Report
from guardfix.linter.findings import Finding
from guardfix.linter.lazy_regex import lazy_regex

_HUNK = lazy_regex(rb"@@ -\d+(?:,(?P<old>\d+))? \+(?P<row>\d+)(?:,(?P<new>\d+))? @@")
_ESCAPED = lazy_regex(rb"\\([0-7]{3}|.)", re.DOTALL)
_CONTROLS = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


class NoDiff(Exception):
    """Changed lines that cannot be told; the message says why."""


@dataclass
class ChangedLines:
    """Rows of files, by the files' real paths."""

    rows: dict[str, list[int]] = field(default_factory=dict)
    """Sorted."""
    whole: set[str] = field(default_factory=set)
    """Files that are new."""

    def touch(self, report: Report, finding: Finding) -> bool:
        """Whether one of the rows of a finding's statement is changed."""
        path = os.path.realpath(finding.path)
        if path in self.whole:
            return True
        rows = report.rows(finding)
        changed = self.rows.get(path, [])
        place = bisect_left(changed, rows.start)
        return place < len(changed) and changed[place] < rows.stop


def lines_of_diff(diff: bytes, *folders: str) -> ChangedLines:
    """The added lines of a unified diff. Its paths start from the first of the folders in which the file is there.

    Raises `NoDiff` for text that isn't a unified diff.
    """
    found = ChangedLines()
    for name, row in _added(diff):
        path = _path(name, folders)
        insort(found.rows.setdefault(path, []), row)
    return found


def _added(diff: bytes) -> Iterator[tuple[bytes, int]]:
    """(name of the file, row) of each added line."""
    name: bytes | None = None
    is_diff = diff.startswith(b"diff --git") or not diff.strip()
    row = old = new = 0
    for line in diff.split(b"\n"):
        if old > 0 or new > 0:  # inside a hunk nothing else counts, whatever a line looks like
            sign = line[:1]
            if sign == b"+":
                if name is not None:
                    yield name, row
                row, new = row + 1, new - 1
            elif sign == b"-":
                old -= 1
            elif sign != b"\\":  # a blank line of context may have lost its blank
                row, old, new = row + 1, old - 1, new - 1
            continue
        hunk = _HUNK.match(line)
        if hunk is not None:
            row, old, new = int(hunk["row"]), int(hunk["old"] or 1), int(hunk["new"] or 1)
        elif line.startswith(b"+++ "):
            name, is_diff = _name(line[4:]), True
    if old > 0 or new > 0 or not is_diff:
        raise NoDiff("not a unified diff, or cut short")


def _name(written: bytes) -> bytes | None:
    """The name as a header has it; None for a file that is removed."""
    written = written.rstrip(b"\r")
    if written.startswith(b'"'):
        end = written.rfind(b'"')
        name = _ESCAPED.sub(_unescaped, written[1:end])
    else:
        name = written.split(b"\t", 1)[0]
    return None if name == b"/dev/null" else name


def _unescaped(match: re.Match[bytes]) -> bytes:
    given = match[1]
    return bytes([int(given, 8)]) if len(given) == 3 else _CONTROLS.get(given, given)


def _path(name: bytes, folders: tuple[str, ...]) -> str:
    """The real path of a name in a diff, with or without git's `b/` in front."""
    given = os.fsdecode(name)
    prefix, slash, rest = given.partition("/")
    names = ([rest, given] if len(prefix) == 1 else [given, rest]) if slash else [given]
    places = [os.path.join(folder, name) for name in names for folder in folders]
    return os.path.realpath(next((place for place in places if os.path.exists(place)), places[0]))


def lines_since(revision: str, folder: str = os.curdir) -> ChangedLines:
    """What the working tree changed since it parted from a revision: the lines since their merge base, and files that
    git does not know yet.

    Raises `NoDiff`.
    """
    top = _git(folder, "rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").rstrip("\n")
    if revision.startswith("-") or not _succeeds(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"):
        raise NoDiff(f"git knows no commit `{revision}`{_shallow(folder)}")
    try:
        base = _git(folder, "merge-base", revision, "HEAD").decode().strip()
    except NoDiff:
        raise NoDiff(f"`{revision}` and HEAD have no common commit{_shallow(folder)}") from None
    prefixes = ("--src-prefix=a/", "--dst-prefix=b/")
    how = ("--no-ext-diff", "--no-textconv", "--no-color", "--text", "--unified=0", "--find-renames", *prefixes)
    found = lines_of_diff(_git(top, "diff", *how, "--ignore-submodules", base, "--"), top)
    untracked = _git(top, "ls-files", "--others", "--exclude-standard", "-z").split(b"\0")
    found.whole.update(os.path.realpath(os.path.join(top, os.fsdecode(name))) for name in untracked if name)
    return found


def _shallow(folder: str) -> str:
    """What helps where a CI server fetched the last commit only."""
    if _git(folder, "rev-parse", "--is-shallow-repository").strip() == b"true":
        return "; this clone is shallow: fetch the whole history (`fetch-depth: 0`, `GIT_DEPTH: 0`)"
    return ""


def _succeeds(folder: str, *arguments: str) -> bool:
    try:
        _git(folder, *arguments)
    except NoDiff:
        return False
    return True


def _git(folder: str, *arguments: str) -> bytes:
    """What git says. Raises `NoDiff`."""
    try:
        done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, check=False)
    except OSError as error:
        raise NoDiff(f"git cannot be run: {error.strerror or error}") from None
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise NoDiff(f"git {arguments[0]}: {told[0] if told else 'failed'}")
    return done.stdout


def read_diff(path: str) -> bytes:
    """The diff of a file; `-` is standard input. Raises `NoDiff`."""
    if path == "-":
        if sys.stdin is None:
            raise NoDiff("standard input is closed")
        return sys.stdin.buffer.read()
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise NoDiff(f"{path}: {error.strerror or error}") from None
