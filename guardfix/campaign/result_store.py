"""The folder of a campaign: what was found in each repository, by repository and by what it depends on.

    campaign.json                     the repositories of the last run, in the manifest's order
    journal.ndjson                    the tasks that it has done so far, one a line, with the folder of the result
    results/NAME/COMMIT-KEY/          repository.json, uses.ndjson, findings.ndjson, findings.sarif, patches/
    uses.parquet, …                   the tables, made from the results when they are asked for

A result appears whole or not at all. Results of other commits and settings stay, and are found again.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from guardfix.regular_files import read_regular, read_regular_text

from .repository_task import ENDED_BY_LIMITS, RepositoryTask, TaskOutcome, TaskResult

REPOSITORY = "repository.json"
_CAMPAIGN, _JOURNAL, _RESULTS = "campaign.json", "journal.ndjson", "results"
_VERSION = 1


class BadStore(Exception):
    """A folder that can't be used as a campaign's; the message says why."""


@dataclass(frozen=True)
class KnownTask:
    """A task of the last run, and what it came to so far."""

    repository: str
    shard: int
    result: Path | None
    """The folder of its result; None while there is none."""


class ResultStore:
    """The results in a folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def check_there(self) -> None:
        """Raises `BadStore` when no campaign was run there."""
        if not (self.folder / _CAMPAIGN).is_file():
            raise BadStore(
                f"{self.folder} holds no campaign; `guardfix campaign run MANIFEST -o {self.folder}` makes one"
            )

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """No other run writes to the folder meanwhile. Raises `BadStore` when one does."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise BadStore(f"{self.folder}: {error.strerror or error}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise BadStore(f"{self.folder}: another campaign is running there") from None
        try:
            for left in self.folder.glob(f"{_RESULTS}/*/.new-*"):
                shutil.rmtree(left, ignore_errors=True)  # by a run that was killed
            yield
        finally:
            os.close(lock)

    def begin(self, tasks: Sequence[RepositoryTask]) -> None:
        """Note which tasks the run has; none is done yet."""
        rows = [[task.entry.name, task.shard, task.folder] for task in tasks]
        (self.folder / _JOURNAL).unlink(missing_ok=True)
        self._write(_CAMPAIGN, json.dumps({"version": _VERSION, "tasks": rows}))

    def _write(self, name: str, text: str) -> None:
        temporary = self.folder / f".{name}.new"
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, self.folder / name)

    def known(self, task: RepositoryTask, *, retry: bool) -> frozenset[str]:
        """The keys of the results that need not be made again: with other limits, or to `retry`, failures are."""
        found = set()
        for folder in (self.folder / _RESULTS / task.folder).glob("*-*"):
            row = _row_of(folder)
            if row is None:
                continue
            outcome = row.get("outcome")
            same = outcome in ENDED_BY_LIMITS and not retry and row.get("limits") == _limits(task)
            if same or outcome == TaskOutcome.DONE:
                found.add(folder.name)
        return frozenset(found)

    def add(self, task: RepositoryTask, result: TaskResult) -> dict[str, Any]:
        """Keep a result, and note that the task is done; its row."""
        above = self.folder / _RESULTS / task.folder
        folder = above / result.key
        if result.outcome is not TaskOutcome.UNCHANGED:
            above.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".new-", dir=above, ignore_cleanup_errors=True) as temporary:
                new = Path(temporary) / result.key
                new.mkdir()
                if result.archive:
                    with tarfile.open(fileobj=io.BytesIO(result.archive), mode="r:gz") as archive:
                        archive.extractall(new, filter="data") if hasattr(
                            tarfile, "data_filter"
                        ) else archive.extractall(new)
                row = {**result.facts, "limits": _limits(task)}
                (new / REPOSITORY).write_text(json.dumps(row), encoding="utf-8")
                if folder.exists():
                    shutil.rmtree(folder)
                os.rename(new, folder)
        with open(self.folder / _JOURNAL, "a", encoding="utf-8") as journal:
            journal.write(json.dumps([task.entry.name, task.shard, result.key]) + "\n")
        return _row_of(folder) or {}

    def tasks(self) -> list[KnownTask]:
        """The tasks of the last run, in their order. Raises `BadStore`."""
        self.check_there()
        try:
            campaign = json.loads(read_regular(self.folder / _CAMPAIGN))
            rows = [(name, shard, folder) for name, shard, folder in campaign["tasks"]]
        except (OSError, ValueError, KeyError, TypeError):
            raise BadStore(f"{self.folder / _CAMPAIGN} can't be read; run the campaign again") from None
        done = dict(self._journal())
        found = []
        for name, shard, folder in rows:
            key = done.get((name, shard))
            result = self.folder / _RESULTS / folder / key if key is not None else None
            found.append(KnownTask(name, shard, result if result is not None and result.is_dir() else None))
        return found

    def _journal(self) -> Iterator[tuple[tuple[str, int], str]]:
        try:
            lines = read_regular_text(self.folder / _JOURNAL).split("\n")
        except FileNotFoundError:
            return
        for line in lines[:-1]:  # the last may be half a line, of a run that was killed
            with contextlib.suppress(ValueError):
                name, shard, key = json.loads(line)
                yield (name, shard), key

    def stamp(self) -> str:
        """A text that changes when the results do."""
        parts = []
        for name in (_CAMPAIGN, _JOURNAL):
            with contextlib.suppress(FileNotFoundError):
                status = (self.folder / name).stat()
                parts.append(f"{status.st_mtime_ns}:{status.st_size}")
        return " ".join(parts)


def _row_of(folder: Path) -> dict[str, Any] | None:
    try:
        row = json.loads(read_regular(folder / REPOSITORY))
    except (OSError, ValueError):
        return None
    return row if isinstance(row, dict) else None


def _limits(task: RepositoryTask) -> list[float]:
    return [task.limits.seconds, task.limits.megabytes]
