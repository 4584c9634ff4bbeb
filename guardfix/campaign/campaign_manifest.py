"""The manifest of a campaign: which repositories it is about.

A plain list has a repository on each line, a folder or a git URL, and after a space its revision. A TOML file has a
table `[[repository]]` for each, which can say more.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from guardfix.configuration import BadConfiguration, Configuration, read_configuration
from guardfix.regular_files import read_regular_text

Shards = tuple[tuple[str, ...], ...]


class BadManifest(Exception):
    """A manifest that can't be used; the message says where and why."""


@dataclass(frozen=True)
class RepositoryEntry:
    """One repository of a manifest."""

    name: str
    source: str
    """A folder or a bare repository by its absolute path, or a git URL."""
    revision: str = ""
    """A commit, branch or tag; by default, what HEAD is."""
    configuration: Configuration | None = None
    """Used instead of the repository's own. Its patterns start from the top of the repository."""
    test: str = ""
    """The command that runs the project's tests with pytest, for `--verify`."""
    test_build: str = ""
    shards: int | Shards = 1
    """In how many tasks the repository is looked at, or the paths of each."""

    @property
    def shard_count(self) -> int:
        """How many tasks there are."""
        return self.shards if isinstance(self.shards, int) else len(self.shards)


_LARGEST = 1 << 26
_URL = re.compile(r"[a-z][a-z0-9+.-]+://|[\w.-]+@[\w.-]+:", re.IGNORECASE)


def read_manifest(path: str) -> list[RepositoryEntry]:
    """The repositories of a manifest, in its order. Raises `BadManifest`."""
    try:
        text = read_regular_text(path, largest=_LARGEST)
    except OSError as error:
        raise BadManifest(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise BadManifest(f"{path}: not valid UTF-8 at byte {error.start}") from None
    folder = os.path.dirname(os.path.abspath(path))
    rows = _rows_of_toml(text, path) if path.endswith(".toml") else list(_rows_of_list(text, path))
    sources = [_source(row["source"], folder, where) for where, row in rows]
    found = [
        _entry(row, source, name, folder, where)
        for (where, row), source, name in zip(rows, sources, _names(rows, sources), strict=True)
    ]
    if not found:
        raise BadManifest(f"{path}: it names no repository")
    twice = [name for name, count in Counter(entry.name for entry in found).items() if count > 1]
    if twice:
        raise BadManifest(f"{path}: two repositories are called `{twice[0]}`; give them a `name`, in a TOML manifest")
    return found


_Row = tuple[str, Mapping[str, Any]]
"""(where it is, what it says)."""


def _rows_of_list(text: str, path: str) -> Iterable[_Row]:
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split() if line.lstrip().startswith("#") else line.split()
        if not words:
            continue
        if len(words) > 2:
            raise BadManifest(
                f"{path}:{number}: a line has a repository and, behind it, a revision; for more, use TOML"
            )
        yield f"{path}:{number}", dict(zip(("source", "revision"), words, strict=False))


def _rows_of_toml(text: str, path: str) -> list[_Row]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadManifest(f"{path}: not valid TOML: {error}") from None
    rows = table.pop("repository", [])
    if table:
        raise BadManifest(f"{path}: unknown key `{next(iter(table))}`; a manifest has tables `[[repository]]`")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadManifest(f"{path}: write `[[repository]]` above each repository")
    return [
        (f"{path}: repository {number}", _checked(row, f"{path}: repository {number}"))
        for number, row in enumerate(rows, 1)
    ]


_MOST_SHARDS = 10_000


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value) and "\0" not in value


def _is_shards(value: Any) -> bool:
    if isinstance(value, int):
        return not isinstance(value, bool) and 1 <= value <= _MOST_SHARDS
    return isinstance(value, list) and bool(value) and all(_is_paths(part) for part in value)


def _is_paths(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_text, value))


_KEYS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "source": (_is_text, "a folder or a git URL"),
    "name": (_is_text, "a text"),
    "revision": (_is_text, "a commit, branch or tag"),
    "configuration": (_is_text, "a file"),
    "test": (_is_text, "a command"),
    "test-build": (_is_text, "a command"),
    "shards": (_is_shards, f"a number up to {_MOST_SHARDS:,}, or lists of paths"),
}


def _checked(row: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    for key, value in row.items():
        if key not in _KEYS:
            raise BadManifest(f"{where}: unknown key `{key}`; the keys are {', '.join(_KEYS)}")
        accepts, expected = _KEYS[key]
        if not accepts(value):
            raise BadManifest(f"{where}: `{key}` must be {expected}")
    if "source" not in row:
        raise BadManifest(f"{where}: `source` is missing")
    return row


def _source(given: str, folder: str, where: str) -> str:
    if given.startswith("-"):
        raise BadManifest(f"{where}: `{given}` is neither a folder nor a git URL")
    if _URL.match(given):
        return given
    return os.path.normpath(os.path.join(folder, os.path.expanduser(given)))


def is_url(source: str) -> bool:
    """Whether a source has to be fetched."""
    return _URL.match(source) is not None


_ANYTHING = frozenset({"checkout", "clone", "code", "main", "master", "repo", "repository", "source", "src", "trunk"})
"""Folders whose name doesn't say what is in them: the one above belongs to the name of a repository."""


def _names(rows: Sequence[_Row], sources: Sequence[str]) -> list[str]:
    """The names that are given; of the others, as much of the end of the source as tells them apart."""
    parts = []
    for (_, row), source in zip(rows, sources, strict=True):
        whole = (
            [row["name"]] if "name" in row else [one for one in re.split(r"[/:\\]+", source.removesuffix("/")) if one]
        )
        parts.append([*whole[:-1], whole[-1].removesuffix(".git") or whole[-1]])
    # The owner is part of what people call a repository.
    lengths = [
        2
        if len(part) > 1
        and ("name" not in row)
        and ((is_url(source) and len(part) > 2) or part[-1].lower() in _ANYTHING)
        else 1
        for (_, row), source, part in zip(rows, sources, parts, strict=True)
    ]
    while True:
        names = ["/".join(part[-length:]) for part, length in zip(parts, lengths, strict=True)]
        counts = Counter(names)
        more = [
            length + (counts[name] > 1 and length < len(part))
            for name, length, part in zip(names, lengths, parts, strict=True)
        ]
        if more == lengths:
            return names
        lengths = more


def _entry(row: Mapping[str, Any], source: str, name: str, folder: str, where: str) -> RepositoryEntry:
    if any(part in ("", ".", "..") for part in name.split("/")) or "\\" in name or "\0" in name:
        raise BadManifest(f"{where}: `{name}` can't be the name of a repository: it is also that of a folder")
    revision = row.get("revision", "")
    if revision.startswith("-"):
        raise BadManifest(f"{where}: `{revision}` is not a revision")
    configuration = None
    if "configuration" in row:
        try:
            configuration = read_configuration(os.path.join(folder, os.path.expanduser(row["configuration"])))
        except BadConfiguration as error:
            raise BadManifest(f"{where}: {error}") from None
    shards = row.get("shards", 1)
    if not isinstance(shards, int):
        for path in (path for part in shards for path in part):
            if os.path.isabs(path) or os.path.normpath(path).split(os.sep)[0] == os.pardir:
                raise BadManifest(f"{where}: `shards` has {path}, which leads out of the repository; name paths in it")
        shards = tuple(map(tuple, shards))
    return RepositoryEntry(
        name, source, revision, configuration, row.get("test", ""), row.get("test-build", ""), shards
    )
