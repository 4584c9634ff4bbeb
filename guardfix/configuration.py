"""Configuration: `[tool.guardfix]` in pyproject.toml, or guardfix.toml, of the working folder or one above it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from guardfix.linter.files.project_root import find_configuration
from guardfix.linter.files.sources import DEFAULT_MEGABYTES, Unreadable, read_regular

if TYPE_CHECKING:
    from guardfix.linter.engine import Options

_LISTS = ("select", "ignore", "exclude")
_SWITCHES = ("respect-gitignore", "force-exclude", "include-docs")
KEYS = (*_LISTS, *_SWITCHES, "max-file-size", "minimum-torch", "per-file-ignores")
_LARGEST = 8 << 20
"""Bytes of the largest configuration that is read."""


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
    max_file_size: float = DEFAULT_MEGABYTES
    minimum_torch: str = ""
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def options(self) -> Options:
        """What a run makes of it when nothing else is said."""
        from guardfix.linter.engine import Options

        return Options(
            select=self.select,
            ignore=self.ignore,
            per_file_ignores=self.per_file_ignores,
            root=self.folder,
            root_exclude=self.exclude,
            respect_gitignore=self.respect_gitignore,
            force_exclude=self.force_exclude,
            include_docs=self.include_docs,
            max_file_size=self.max_file_size,
            minimum_torch=self.minimum_torch,
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
        table: Mapping[str, Any] = tomllib.loads(read_regular(path, _LARGEST).decode("utf-8"))
    except OSError as error:
        raise BadConfiguration(f"{path}: {error.strerror}") from None
    except Unreadable as error:
        raise BadConfiguration(f"{path}: {error}") from None
    except RecursionError:
        raise BadConfiguration(f"{path}: not valid TOML: it nests too deep") from None
    except UnicodeDecodeError as error:
        raise BadConfiguration(f"{path}: not valid UTF-8 at byte {error.start}, which TOML requires") from None
    except tomllib.TOMLDecodeError as error:
        raise BadConfiguration(f"{path}: not valid TOML: {error}") from None
    except ValueError as error:  # a number of too many digits, a date that does not exist
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
    largest = table.get("max-file-size", DEFAULT_MEGABYTES)
    if not isinstance(largest, (int, float)) or isinstance(largest, bool) or not 0 < largest < 1 << 20:
        raise BadConfiguration(f"{path}: `max-file-size` must be a number of megabytes, such as {DEFAULT_MEGABYTES:g}")
    ignores = table.get("per-file-ignores", {})
    if not isinstance(ignores, dict) or not all(_is_strings(codes) for codes in ignores.values()):
        raise BadConfiguration(f"{path}: `per-file-ignores` must map patterns to lists of rules")
    return Configuration(
        path=path,
        select=tuple(table.get("select", ())),
        ignore=tuple(table.get("ignore", ())),
        exclude=tuple(table.get("exclude", ())),
        respect_gitignore=table.get("respect-gitignore", True),
        force_exclude=table.get("force-exclude", False),
        include_docs=table.get("include-docs", False),
        max_file_size=largest,
        minimum_torch=table.get("minimum-torch", ""),
        per_file_ignores=tuple((pattern, tuple(codes)) for pattern, codes in ignores.items()),
    )


def is_version(text: str) -> bool:
    """Whether a text is a version number: `2`, `1.13`, `2.1.0`."""
    return re.fullmatch(r"[0-9]{1,6}(?:\.[0-9]{1,6}){0,5}", text) is not None
