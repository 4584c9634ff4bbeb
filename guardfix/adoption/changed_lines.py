"""Which lines a change touches: from a unified diff, or from git."""

from __future__ import annotations

import os
import re
import sys
from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass, field

from guardfix.closed_git import closed_repository, git_folders_above, ignored_everywhere
from guardfix.git_files import NoRepository
from guardfix.linter.engine import Report
from guardfix.linter.findings import Finding
from guardfix.linter.lazy_regex import lazy_regex
from guardfix.regular_files import read_regular

_HUNK = lazy_regex(rb"@@ -\d+(?:,(?P<old>\d+))? \+(?P<row>\d+)(?:,(?P<new>\d+))? @@")
_ESCAPED = lazy_regex(rb"\\([0-7]{3}|.)", re.DOTALL)
_CONTROLS = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


class NoDiff(Exception):
    """Changed lines that can't be found out; the message says why."""


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


_HOW = (
    "--patch", "--no-ext-diff", "--no-textconv", "--no-color", "--text", "--unified=0", "--find-renames",
    "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=all",
    # Git converts no line ends here, although the repository or the user may have configured it to.
    "--ignore-cr-at-eol",
)  # fmt: skip


def lines_since(revision: str, folder: str = os.curdir) -> ChangedLines:
    """What the working tree changed since it parted from a revision: the lines since their merge base, and files that
    git does not know yet.

    Raises `NoDiff`.
    """
    try:
        source = git_folders_above(folder)
        if not source.top:
            raise NoDiff(f"{source.own} has no working tree")
        with closed_repository(source, revision) as git:
            git.copy_index()
            commit = git.commit(revision)
            try:
                base = git.run("merge-base", commit, "HEAD").decode().strip()
            except NoRepository:
                raise NoDiff(f"`{revision}` and HEAD have no common commit{git.hint(revision)}") from None
            try:
                diff = git.run("diff-index", *_HOW, base, "--", tree=source.top)
            except NoRepository as error:
                raise NoDiff(f"{error}{git.hint(revision)}") from None
            ignored = ignored_everywhere()
            listing = (*(("-c", f"core.excludesFile={ignored}") if ignored else ()), "ls-files")
            untracked = git.run(*listing, "--others", "--exclude-standard", "-z", tree=source.top).split(b"\0")
    except NoRepository as error:
        raise NoDiff(str(error)) from None
    found = lines_of_diff(diff, source.top)
    found.whole.update(os.path.realpath(os.path.join(source.top, os.fsdecode(name))) for name in untracked if name)
    return found


def read_diff(path: str) -> bytes:
    """The diff of a file; `-` is standard input. Raises `NoDiff`."""
    if path == "-":
        if sys.stdin is None:
            raise NoDiff("standard input is closed")
        return sys.stdin.buffer.read()
    try:
        return read_regular(path, pipes=True)
    except OSError as error:
        raise NoDiff(f"{path}: {error.strerror or error}") from None
