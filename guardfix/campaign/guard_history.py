"""The uses of guards over the commits of a repository, from its objects alone: nothing is checked out."""

from __future__ import annotations

import contextlib
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import NamedTuple

from guardfix.linter.files.discovery import SKIPPED_FOLDERS
from guardfix.linter.files.languages import language_of

from .blob_counts import BlobCache, Counts, count_blobs
from .repository_commits import NoRepository, commit_of, git_command

_NOTHING: Counts = {}
_NO_BLOB = "0"


_LOG = (
    "-c log.showSignature=false log --first-parent --diff-merges=first-parent --reverse --root --raw -z --no-renames "
    "--no-abbrev --no-ext-diff --no-textconv --no-notes --no-mailmap --ignore-submodules"
).split()


class HistoryPoint(NamedTuple):
    """A commit that changes how often a guard is used."""

    commit: str
    time: datetime
    subject: str
    counts: Counts
    """After the commit."""


@dataclass
class GuardHistory:
    """What a repository's commits say, oldest first, along the first parents."""

    repository: str
    head: str
    commits: int = 0
    first: datetime | None = None
    last: datetime | None = None
    versions: int = 0
    """Versions of files."""
    read: int = 0
    """Those that were read now; the others were known."""
    points: list[HistoryPoint] = field(default_factory=list)

    @property
    def guards(self) -> list[str]:
        """The guards that were ever used."""
        return sorted({guard for point in self.points for guard, count in point.counts.items() if count})


class _Change(NamedTuple):
    old: str
    new: str
    path: str
    language: str


class _Commit(NamedTuple):
    name: str
    time: int
    subject: str
    changes: list[_Change]


def guard_history(
    repository: str, revision: str, cache: BlobCache, on_progress: Callable[[int, int], None] | None = None
) -> GuardHistory:
    """The history that ends at a revision. `on_progress` is called with (versions read, versions to read).

    Raises `NoRepository`.
    """
    head = commit_of(repository, revision)
    commits = list(_commits(repository, head))
    wanted = {(change.new, change.language) for one in commits for change in one.changes if change.new.strip(_NO_BLOB)}
    known = cache.known(wanted)
    missing = wanted - known.keys()
    told = None if on_progress is None else lambda done: on_progress(done, len(missing))
    read: list[tuple[str, str, Counts]] = []
    try:
        for row in count_blobs(repository, missing, told):
            read.append(row)
    finally:
        cache.add(read)  # those that were read before an interruption, as well
    known.update(((blob, language), counts) for blob, language, counts in read)
    history = GuardHistory(repository, head, len(commits), versions=len(wanted), read=len(missing))
    if commits:
        history.first, history.last = _time(commits[0].time), _time(commits[-1].time)
    history.points.extend(_points(commits, known))
    return history


def _points(commits: list[_Commit], known: dict[tuple[str, str], Counts]) -> Iterator[HistoryPoint]:
    now: Counter[str] = Counter()
    for commit in commits:
        before = dict(now)
        for change in commit.changes:
            now.subtract(known.get((change.old, change.language), _NOTHING))
            now.update(known.get((change.new, change.language), _NOTHING))
        after = {guard: count for guard, count in sorted(now.items()) if count}
        if after != {guard: count for guard, count in before.items() if count}:
            yield HistoryPoint(commit.name, _time(commit.time), commit.subject, after)


def _time(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)


def _commits(repository: str, head: str) -> Iterator[_Commit]:
    """The commits along the first parents, oldest first, with what they change in files of a known language."""
    command, environment = git_command(["-C", repository, *_LOG, "--format=%x01%H %ct %s", head])
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        yield from _parsed(process.stdout.read().split(b"\0"))
        said = process.stderr.read() if process.stderr is not None else b""
    if process.returncode:
        raise NoRepository(said.decode("utf-8", "replace").strip() or "git log failed")


def _parsed(parts: list[bytes]) -> Iterator[_Commit]:
    """What `git log --raw -z` prints: `\\1COMMIT TIME SUBJECT`, then for each file its modes, blobs and path."""
    commit: _Commit | None = None
    stream = iter(parts)
    for part in stream:
        entry = part.lstrip(b"\n")
        if entry.startswith(b"\1"):
            if commit is not None:
                yield commit
            name, time, subject = entry[1:].decode("utf-8", "replace").split(" ", 2)
            commit = _Commit(name, int(time), subject.strip(), [])
        elif entry.startswith(b":") and commit is not None:
            path = next(stream, b"").decode("utf-8", "replace")
            change = _change(entry.decode("ascii"), path)
            if change is not None:
                commit.changes.append(change)
    if commit is not None:
        yield commit


def _change(entry: str, path: str) -> _Change | None:
    language = language_of(path.rpartition("/")[2])
    if language is None or not SKIPPED_FOLDERS.isdisjoint(path.split("/")[:-1]):
        return None
    with contextlib.suppress(ValueError):
        old_mode, new_mode, old, new, _ = entry[1:].split(" ")
        # Links hold no code, and submodules aren't blobs.
        old = old if old_mode.startswith("100") else _NO_BLOB
        new = new if new_mode.startswith("100") else _NO_BLOB
        return _Change(old, new, path, language)
    return None
