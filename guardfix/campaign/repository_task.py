"""What is done with one repository, or a part of one, and what comes of it: plain data that any executor can carry."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from guardfix.codemods.choice import FixChoice
from guardfix.configuration import Configuration
from guardfix.linter.str_enum import StrEnum
from guardfix.package_version import VERSION

from .campaign_manifest import RepositoryEntry


class TaskOutcome(StrEnum):
    """What became of a repository, or of a part of one."""

    DONE = "done"
    UNCHANGED = "unchanged"
    """An earlier run has done it."""
    OUT_OF_TIME = "out of time"
    OUT_OF_MEMORY = "out of memory"
    CRASHED = "crashed"
    FAILED = "failed"
    """It can't be had, or its configuration can't be used."""


ENDED_BY_LIMITS = frozenset({TaskOutcome.OUT_OF_TIME, TaskOutcome.OUT_OF_MEMORY, TaskOutcome.CRASHED})
"""Outcomes that the same commit has again, with the same limits."""


@dataclass(frozen=True)
class TaskLimits:
    """What one repository may take."""

    seconds: float = 3600.0
    megabytes: int = 4096
    """Of address space, for each process."""


@dataclass(frozen=True)
class CampaignSettings:
    """How the repositories are looked at: what results depend on."""

    configuration: Configuration | None = None
    """Used for the repositories whose entry names none; they are then not asked for theirs."""
    isolated: bool = False
    """The repositories' own configurations are not read."""
    choice: FixChoice = field(default_factory=FixChoice)
    """Which fixes the patches hold."""
    verify: bool = False
    """Programs are run before and after; without it nothing of a repository is executed."""
    timeout_per_file: float = 0.0


@dataclass(frozen=True)
class RepositoryTask:
    """One repository, or a part of one, to be looked at."""

    entry: RepositoryEntry
    settings: CampaignSettings = CampaignSettings()
    limits: TaskLimits = TaskLimits()
    shard: int = 0
    known: frozenset[str] = frozenset()
    """The keys of results that need not be made again."""

    @property
    def label(self) -> str:
        """What people call it."""
        count = self.entry.shard_count
        return self.entry.name if count == 1 else f"{self.entry.name} ({self.shard + 1}/{count})"

    @property
    def configuration(self) -> Configuration | None:
        """What is used instead of the repository's own."""
        return (
            self.entry.configuration
            or self.settings.configuration
            or (Configuration() if self.settings.isolated else None)
        )

    def key(self, commit: str) -> str:
        """The name of the result: the commit, as people write it, and a digest of all that the result depends on."""
        configuration = self.configuration
        shards = self.entry.shards
        settings = self.settings
        described = (
            self.entry.name,
            commit,
            VERSION,
            None if configuration is None else [dict(source.values) for source in configuration.sources],
            [getattr(settings.choice, name) for name in settings.choice.__struct_fields__],
            settings.timeout_per_file,
            [self.entry.test, self.entry.test_build] if settings.verify else None,
            [self.shard, shards] if self.entry.shard_count > 1 else None,
        )
        digest = hashlib.blake2b(json.dumps(described, default=str).encode(), digest_size=12).hexdigest()
        return f"{_short(commit)}-{digest}"

    @property
    def folder(self) -> str:
        """The name of the folder that has the repository's results."""
        return re.sub(r"[^\w.+-]", "_", self.entry.name.replace("/", "+"))

    def with_known(self, keys: frozenset[str]) -> RepositoryTask:
        """The task with the keys of what is there already."""
        return replace(self, known=keys)


def _short(commit: str) -> str:
    return commit.rpartition("-")[2][:12] or "unresolved"


@dataclass(frozen=True)
class TaskResult:
    """What came of a task. The files are sent as they are: workers need not see the client's disk."""

    key: str
    outcome: TaskOutcome
    facts: Mapping[str, Any]
    """The row of the table `repositories`, by its columns; empty where the result is there already."""
    archive: bytes = b""
    """A tar of the other files of the result."""
