"""The uses of guards over the commits of a repository, from its objects alone: nothing is checked out."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import NamedTuple

from guardfix.closed_git import ClosedRepository, closed_repository, git_folders
from guardfix.git_files import NoRepository
from guardfix.linter.files.discovery import SKIPPED_FOLDERS
from guardfix.linter.files.languages import language_of

from .blob_counts import BlobCache, Counts, count_blobs

_NOTHING: Counts = {}
_NO_BLOB = "0"


_LOG = (
    "log --first-parent --diff-merges=first-parent --reverse --root --raw -z --no-renames "
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
    folders = git_folders(repository)
    if folders is None:
        raise NoRepository("is not a git repository; make a copy of a remote one with `git clone --bare URL`")
    with closed_repository(folders, revision) as git:
        head = git.commit(revision or "HEAD")
        return _history(git, repository, head, cache, on_progress)


def _history(
    git: ClosedRepository,
    repository: str,
    head: str,
    cache: BlobCache,
    on_progress: Callable[[int, int], None] | None,
) -> GuardHistory:
    try:
        log = git.run(*_LOG, "--format=%x01%H %ct %s", head)
    except NoRepository as error:
        raise NoRepository(f"{error}{git.hint(head)}") from None
    commits = list(_parsed(log.split(b"\0")))
    wanted = {(change.new, change.language) for one in commits for change in one.changes if change.new.strip(_NO_BLOB)}
    known = cache.known(wanted)
    missing = wanted - known.keys()
    count_done = None if on_progress is None else lambda done: on_progress(done, len(missing))
    read: list[tuple[str, str, Counts]] = []
    try:
        for row in count_blobs(git, missing, count_done):
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
