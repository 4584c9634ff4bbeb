"""The library: what the command line does, on files and on texts. All of it is at hand as `guardfix.NAME`.

Nothing here writes a file. The values that a run returns are those of `linter` and `codemods`; each function lists the
errors that it raises.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from typing import AnyStr, Generic

from msgspec.structs import replace

from guardfix.codemods.apply.settling import settle
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fix import Edit, Fix
from guardfix.codemods.fixable import FixableFinding, FixableReport, fixes_for
from guardfix.linter import engine
from guardfix.linter.engine import Options
from guardfix.linter.files.discovery import BadPattern, NoSuchPath
from guardfix.linter.files.sources import Position
from guardfix.linter.files.workspace import DISK, Workspace
from guardfix.linter.findings import Applicability, Confidence, Context, Decision, Evidence, Severity, StepTaken
from guardfix.linter.rule import UnknownRule

from .configuration import BadConfiguration, Configuration, configuration_for, nearest_options

__all__ = [
    "Applicability",
    "BadConfiguration",
    "BadPattern",
    "Confidence",
    "Context",
    "Decision",
    "Edit",
    "Evidence",
    "Fix",
    "FixChoice",
    "FixableFinding",
    "FixableReport",
    "FixedText",
    "NoSuchPath",
    "Options",
    "Position",
    "Severity",
    "StepTaken",
    "UnknownRule",
    "Workspace",
    "check",
    "check_text",
    "fix_text",
    "options_for",
]

PathName = str | PathLike[str]


def check(
    paths: PathName | Iterable[PathName],
    *,
    options: Options | None = None,
    choice: FixChoice | None = None,
    workspace: Workspace = DISK,
) -> FixableReport:
    """What `guardfix check` finds in the C++ and Python files at and below `paths`.

    `report.findings` are sorted by file and place; `report.start(finding)` and `report.end(finding)` give rows and
    columns. `finding.fix` is made when it is first asked for. `choice` says what the fixes may do.

    Without `options` the configuration counts that is nearest to each file, except in a workspace that has no disk.

    Raises `NoSuchPath`, `UnknownRule`, `BadPattern`, `BadConfiguration`.
    """
    names = _names(paths)
    if options is None:
        options = _nearest_options_for(names) if workspace.has_disk else Options()
    return fixes_for(engine.check(names, options, workspace=workspace), choice)


def check_text(
    text: str | bytes, path: PathName, *, options: Options | None = None, choice: FixChoice | None = None
) -> FixableReport:
    """What `check([path])` would find if the file held this text; the file need not exist.

    The path says which language it is, which configuration counts, and where headers and imports are looked for. Bytes
    are decoded as a file's are, and a text that can't be read as such is a finding (GF001).

    Raises `UnknownRule`, `BadPattern`, `BadConfiguration`, and `UnicodeEncodeError` for a str with surrogates that
    stand for no byte.
    """
    name = os.fspath(path)
    return check([name], options=options, choice=choice, workspace=Workspace.over_disk({name: text}))


@dataclass(frozen=True)
class FixedText(Generic[AnyStr]):
    """What became of a text."""

    text: AnyStr
    """The new text, str or bytes as the old one was; the old one where nothing is fixed."""
    applied: tuple[tuple[FixableFinding, Fix], ...]
    """Findings with the fixes that are in the new text, in the order in which they were applied. A fix can make room
    for another: the places are those in the text that the fix was applied to, for the first ones the old text."""
    left: tuple[FixableFinding, ...]
    """What is found in the new text, with places there: without a fix, or with one that was not chosen."""
    report: FixableReport
    """What was found in the old text."""
    refused: str = ""
    """Why fixes that were chosen are not in the new text; empty where all are."""

    @property
    def changed(self) -> bool:
        """Whether a fix was applied."""
        return bool(self.applied)


def fix_text(
    text: AnyStr, path: PathName, *, options: Options | None = None, choice: FixChoice | None = None
) -> FixedText[AnyStr]:
    """A text with the chosen fixes applied, as `guardfix migrate --apply` would write it; no file is written.

    `choice` takes the safe fixes alone when it is left out. Line ends, encoding and byte order mark stay. The arguments
    are otherwise those of `check_text`, and so are the errors.
    """
    report = check_text(text, path, options=options, choice=choice)
    settled = settle(report)
    left = tuple(settled.last.findings)
    for rewritten in settled.rewrites:
        data = rewritten.source.encode(rewritten.text)
        new = _like(text, data) if rewritten.changed else text
        return FixedText(new, tuple(rewritten.applied), left, report, rewritten.refused)
    return FixedText(text, (), left, report)


def options_for(paths: PathName | Iterable[PathName]) -> Options:
    """What the configuration says that is nearest to the paths: that of the folder that holds them all, or above it.

    Plugins are loaded only where it is also that of the working folder. `Options.changed` changes single settings.
    Raises `BadConfiguration`.
    """
    found = [os.path.abspath(path) for path in _names(paths)]
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in found]
    try:
        start = os.path.commonpath(folders) if folders else os.curdir
    except ValueError:  # on different drives
        return Options()
    nearest = configuration_for(start)
    return (nearest if nearest.path and _is_ours(nearest.path) else nearest.without_plugins()).options()


def _is_ours(configuration: str) -> bool:
    """Whether a configuration is that of the working folder, which alone may name code to run."""
    own = configuration_for().path
    return bool(own) and os.path.realpath(own) == os.path.realpath(configuration)


def _nearest_options_for(paths: list[str]) -> Options:
    """`options_for`, which for each file give way to the configuration that is nearest to it."""
    options = options_for(paths)
    return replace(options, nearest=nearest_options(Configuration.options, {}, options))


def _names(paths: PathName | Iterable[PathName]) -> list[str]:
    if isinstance(paths, (str, PathLike)):
        return [os.fspath(paths)]
    return [os.fspath(path) for path in paths]


def _like(text: AnyStr, data: bytes) -> AnyStr:
    """The bytes as the text was given; `Workspace` encoded it so."""
    return data.decode("utf-8", "surrogateescape") if isinstance(text, str) else data
