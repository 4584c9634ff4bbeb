"""Checks of open texts: each file's own facts again at every edit, the rest of its project from memory."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cached_property
from typing import NamedTuple

from lsprotocol.types import PositionEncodingKind
from msgspec import field
from msgspec.structs import replace

from guardfix.api import options_for
from guardfix.codemods.fixable import FixableFinding, FixableReport, fixes_for
from guardfix.linter.engine import Options, Report, check
from guardfix.linter.extraction_memo import ExtractionMemo
from guardfix.linter.facts import Facts, Span
from guardfix.linter.files.user_cache import own_folder
from guardfix.linter.files.workspace import Workspace
from guardfix.linter.flow.frame_runs import function_at
from guardfix.linter.flow.program import File
from guardfix.linter.flow.tensor_states import TensorStates, watch_around
from guardfix.linter.frontends.frontend import frontend_of
from guardfix.why.source_files import read_whole

from .editor_positions import EditorLines
from .open_documents import OpenDocument

_REUSED = 300
"""Checks that start from one reading of the project. What was asked for in between is remembered until then."""
_UNTOLD = 2.0
"""Seconds for which the disk counts as unchanged if the editor doesn't say when it changes."""
_SHARE = 20
"""It counts as unchanged for so many times as long as reading it took: the rest of the time is for typing."""


class EditorWorkspace(Workspace, frozen=True, eq=False):
    """The disk with the open texts over it. Where links lead is looked up once, not at every edit."""

    real_paths: dict[str, str] = field(default_factory=dict)

    def key(self, path: str) -> str:
        found = self.real_paths.get(path)
        if found is None:
            found = self.real_paths[path] = os.path.realpath(path)
        return found


class _Base(NamedTuple):
    """A check that others start from."""

    report: Report
    reuses: int
    """How many have."""
    until: float
    """When files on the disk are read again, unless the editor reports changes."""


class _Seen(NamedTuple):
    """What was seen in the files of projects by their bytes: the first checks of all texts start from it."""

    known: ExtractionMemo
    until: float
    """As of a base."""


@dataclass(frozen=True)
class CheckedText:
    """What was found in one version of an open text."""

    document: OpenDocument
    report: FixableReport
    _seen: dict[Span | None, TensorStates] = dataclass_field(default_factory=dict)
    """By function, for hovers."""

    @cached_property
    def findings(self) -> Sequence[FixableFinding]:
        """Those in this file."""
        return [finding for finding in self.report.findings if finding.path == self.document.path]

    @cached_property
    def facts(self) -> Facts | None:
        """What the file contributes; None where it holds no guard.

        A check passes files over in which every guard is as it should: those are read when they are asked about.
        """
        known = self.report.project.files.get(self.document.path)
        if known is not None:
            return known
        frontend = frontend_of(self.document.path)
        source = self.report.positions.source(self.document.path)
        if frontend is None or source is None:
            return None
        return frontend.extract(source, frozenset(frontend.guards), None)

    @cached_property
    def program(self) -> Mapping[str, Facts]:
        """The file, read whole, with what the check has read; empty where there is no guard."""
        path = self.document.path
        whole = read_whole(path, self.report.workspace)
        files = {**self.report.project.files, path: whole} if whole is not None else {}
        return files if any(facts.guard_uses for facts in files.values()) else {}

    def seen_around(self, offset: int) -> TensorStates | None:
        """What an abstract run of the function at a place, and of its callers, shows; None where nothing is run."""
        path, files = self.document.path, self.program
        if not files:
            return None
        row = files[path].row(offset)
        _, body = function_at(File(files[path], 0, {}), row)
        key = body.span if body is not None else None
        if key not in self._seen:
            self._seen[key] = watch_around(files.values(), path, row)
        return self._seen[key]

    def row(self, path: str, span: Span) -> int:
        """The row of a place of the program."""
        return self.program[path].row(span.start)

    def lines_of(self, path: str) -> EditorLines:
        """The lines of a file of the project, by the offsets that findings have."""
        return lines_in(self.report, path, self.document.encoding)


def lines_in(report: Report, path: str, encoding: PositionEncodingKind | str) -> EditorLines:
    """The lines of a file as it was checked."""
    source = report.positions.source(path)
    return EditorLines(source.text if source is not None else b"", encoding)


class DocumentChecks:
    """Checks texts, one after the other: the engine is not made for several threads."""

    def __init__(self) -> None:
        self.is_told_of_changes = False
        """Whether the editor says when files change on the disk."""
        self._bases: dict[str, _Base] = {}
        self._seen: dict[Options, _Seen] = {}
        self._real_paths: dict[str, str] = {}

    def forget(self) -> None:
        """Read everything again: a file or a configuration has changed on the disk."""
        self._bases.clear()
        self._seen.clear()
        self._real_paths.clear()

    def close(self, path: str) -> None:
        """Let go of what was read for a file."""
        self._bases.pop(path, None)

    def workspace(self, texts: Mapping[str, bytes]) -> EditorWorkspace:
        """The disk with these texts, by path, over it."""
        empty = EditorWorkspace(real_paths=self._real_paths)
        return replace(empty, buffers={empty.key(path): data for path, data in texts.items()})

    def check(self, document: OpenDocument, texts: Mapping[str, bytes]) -> CheckedText:
        """What is found in a document, with the texts of all open ones. Raises as `guardfix.check` does."""
        path, workspace = document.path, self.workspace(texts)
        base = self._bases.get(path)
        if base is not None and base.report.over is not None and self._holds(base):
            self._bases[path] = base._replace(reuses=base.reuses + 1)
            again = base.report.over(replace(workspace, largest=base.report.workspace.largest))
            return CheckedText(document, fixes_for(again))
        # A file that is open is checked only if a check of its folder would look at it.
        options = replace(options_for(path), force_exclude=True, workers=1)
        begun = time.monotonic()
        seen = self._seen.get(options)
        if seen is None or not self._is_current(seen.until):
            seen = None
        known = seen.known.beside() if seen is not None else ExtractionMemo()
        report = check([path], options, workspace=workspace, known=known)
        if seen is None:
            ended = time.monotonic()
            seen = self._seen[options] = _Seen(known.beside(), ended + max(_UNTOLD, _SHARE * (ended - begun)))
        self._bases[path] = _Base(report, 0, seen.until)
        return CheckedText(document, fixes_for(report))

    def _holds(self, base: _Base) -> bool:
        """Whether a check may still start from it."""
        return base.reuses < _REUSED and self._is_current(base.until)

    def _is_current(self, until: float) -> bool:
        """Whether what was read is still valid: the editor reports changes, or its time isn't up."""
        return self.is_told_of_changes or time.monotonic() < until

    def check_folders(
        self,
        folders: Sequence[str],
        texts: Mapping[str, bytes],
        *,
        paths: Sequence[str] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> FixableReport:
        """What is found below folders, or in the `paths` of them, each file by the configuration nearest to it."""
        options = replace(folder_options(folders), cache_folder=own_folder("facts"))
        workspace = self.workspace(texts)
        return fixes_for(check(paths or folders, options, workspace=workspace, progress=progress))


def folder_options(folders: Sequence[str]) -> Options:
    """What is in force in folders: for each file, the configuration that is nearest to it."""
    from guardfix.configuration import Configuration, nearest_options

    options = replace(options_for(folders), workers=1)
    return replace(
        options, nearest=nearest_options(lambda found: replace(Configuration.options(found), workers=1), {}, options)
    )
