"""When and from which commit a report was made, and what the last one in its place said."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Any

from guardfix.closed_git import git_folders
from guardfix.git_files import NoRepository
from guardfix.regular_files import read_regular_text

_DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MOST = 1 << 20
"""Bytes of a file of refs that are read."""


@dataclass(frozen=True)
class ReportOrigin:
    """A report, without its findings."""

    date: str = ""
    commit: str = ""
    """The one that was checked out, shortened; empty outside of a repository."""
    findings: int = 0

    @property
    def data(self) -> dict[str, Any]:
        """As the page keeps it for the next one."""
        return asdict(self)


def origin_now(folder: str) -> tuple[str, str]:
    """The date, and the commit that is checked out in a repository's top folder."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), checked_out(folder)


def checked_out(folder: str) -> str:
    """The commit of HEAD, shortened, from the files of the repository alone; empty where they don't say it."""
    try:
        git = git_folders(folder)
    except NoRepository:
        return ""
    if git is None:
        return ""
    head = _text(os.path.join(git.own, "HEAD"))
    name = head.removeprefix("ref: ")
    if name == head:
        found = head
    elif re.fullmatch(r"refs/[\w./+@-]+", name) is None or ".." in name:
        return ""
    else:
        found = _text(os.path.join(git.common, *name.split("/")))
        if not found:
            packed = re.search(
                rf"^(\w+) {re.escape(name)}$", _text(os.path.join(git.common, "packed-refs")), re.MULTILINE
            )
            found = "" if packed is None else packed[1]
    return found[:10] if _COMMIT.fullmatch(found) else ""


def _text(path: str) -> str:
    try:
        return read_regular_text(path, "replace")[:_MOST].strip()
    except OSError:
        return ""


def last_report(path: str) -> ReportOrigin | None:
    """What the report in a file said of itself; None where there is none."""
    try:
        said = _DATA.search(read_regular_text(path))
        made = json.loads(said[1])["made"] if said is not None else None
        return None if made is None else ReportOrigin(str(made["date"]), str(made["commit"]), int(made["findings"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
