"""Configuration: `[tool.guardfix]` in pyproject.toml, or guardfix.toml, of the working folder or one above it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from guardfix.linter.facts.intents import PURPOSES, Purpose
from guardfix.linter.files.project_root import find_configuration

if TYPE_CHECKING:
    from guardfix.linter.engine import Options

_LISTS = ("select", "ignore", "exclude")
_SWITCHES = ("respect-gitignore", "force-exclude", "include-docs")
KEYS = (*_LISTS, *_SWITCHES, "intent", "minimum-torch", "per-file-ignores", "reindent-limit")


class BadConfiguration(Exception):
    """A configuration that cannot be used; the message says where and why."""


@dataclass(frozen=True)
class Configuration:
    """What the configuration file says."""

    path: str = ""
    folder: str = ""
    """Where its patterns start from; the working folder when empty."""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    force_exclude: bool = False
    include_docs: bool = False
    minimum_torch: str = ""
    intents: tuple[tuple[str, str], ...] = ()
    reindent_limit: int | None = None
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def options(self) -> Options:
        """What a run makes of it when nothing else is said."""
        from guardfix.linter.engine import Options

        limit = {} if self.reindent_limit is None else {"reindent_limit": self.reindent_limit}
        return Options(
            **limit,
            select=self.select,
            ignore=self.ignore,
            per_file_ignores=self.per_file_ignores,
            root=self.folder,
            root_exclude=self.exclude,
            respect_gitignore=self.respect_gitignore,
            force_exclude=self.force_exclude,
            include_docs=self.include_docs,
            minimum_torch=self.minimum_torch,
            intents=self.intents,
            intents_from=os.path.relpath(self.path) if self.path else "",
        )


def configuration_for(folder: str = os.curdir) -> Configuration:
    """The configuration that is in force in a folder; its patterns start from where it stands.

    Raises `BadConfiguration`.
    """
    found = find_configuration(folder)
    return replace(read_configuration(found), folder=os.path.dirname(found)) if found else Configuration()


def _is_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def read_configuration(path: str) -> Configuration:
    """The settings of one file. Raises `BadConfiguration`."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        with open(path, "rb") as file:
            table: Mapping[str, Any] = tomllib.load(file)
    except OSError as error:
        raise BadConfiguration(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadConfiguration(f"{path}: not valid UTF-8 at byte {error.start}, which TOML requires") from None
    except tomllib.TOMLDecodeError as error:
        raise BadConfiguration(f"{path}: not valid TOML: {error}") from None
    if os.path.basename(path) == "pyproject.toml":
        for name in ("tool", "guardfix"):
            table = table.get(name, {})
            if not isinstance(table, dict):
                raise BadConfiguration(f"{path}: `{name}` must be a table: settings go under `[tool.guardfix]`")
    unknown = sorted(set(table) - set(KEYS))
    if unknown:
        raise BadConfiguration(f"{path}: unknown setting `{unknown[0]}`; the settings are {', '.join(sorted(KEYS))}")
    for key in _LISTS:
        if not _is_strings(table.get(key, [])):
            raise BadConfiguration(f"{path}: `{key}` must be a list of strings")
    if table.get("select") == []:
        raise BadConfiguration(f"{path}: `select` is empty; leave it out to run the default rules")
    for key in _SWITCHES:
        if not isinstance(table.get(key, True), bool):
            raise BadConfiguration(f"{path}: `{key}` must be true or false")
    minimum = table.get("minimum-torch", "")
    if not isinstance(minimum, str) or (minimum and not is_version(minimum)):
        raise BadConfiguration(f'{path}: `minimum-torch` must be a version, such as "1.13"')
    ignores = table.get("per-file-ignores", {})
    if not isinstance(ignores, dict) or not all(_is_strings(codes) for codes in ignores.values()):
        raise BadConfiguration(f"{path}: `per-file-ignores` must map patterns to lists of rules")
    limit = table.get("reindent-limit")
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 0):
        raise BadConfiguration(f"{path}: `reindent-limit` must be a number of lines, 0 or more")
    intents = table.get("intent", {})
    if not isinstance(intents, dict):
        raise BadConfiguration(f'{path}: `intent` must be a table of patterns, such as "src/kernels/**" = "kernel"')
    for pattern, word in intents.items():
        if not isinstance(word, str) or word not in PURPOSES:
            known = ", ".join(purpose.value for purpose in Purpose)
            raise BadConfiguration(f"{path}: `intent`: `{word}` for `{pattern}` is none of {known}")
    return Configuration(
        path=path,
        select=tuple(table.get("select", ())),
        ignore=tuple(table.get("ignore", ())),
        exclude=tuple(table.get("exclude", ())),
        respect_gitignore=table.get("respect-gitignore", True),
        force_exclude=table.get("force-exclude", False),
        include_docs=table.get("include-docs", False),
        minimum_torch=table.get("minimum-torch", ""),
        intents=tuple(intents.items()),
        reindent_limit=limit,
        per_file_ignores=tuple((pattern, tuple(codes)) for pattern, codes in ignores.items()),
    )


def is_version(text: str) -> bool:
    """Whether a text is a version number: `2`, `1.13`, `2.1.0`."""
    parts = text.split(".")
    return all(part.isdigit() for part in parts)
