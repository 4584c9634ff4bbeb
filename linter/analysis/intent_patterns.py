"""What the configuration declares guards to be for: `"src/kernels/**" = "kernel"` in `[tool.guardfix.intent]`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cached_property

from msgspec import Struct

from ..facts import Facts
from ..facts.intents import PURPOSES, Purpose
from ..files.discovery import path_matcher
from ..files.workspace import DISK, Workspace
from ..lazy_regex import lazy_regex


class ConfiguredIntent(Struct, frozen=True):
    """One pattern of the configuration, and where it is."""

    pattern: str
    purpose: Purpose
    where: Facts
    """The configuration file: where its lines begin."""
    offset: int


class IntentPatterns(Struct, frozen=True, dict=True):
    """The patterns of a configuration, in its order."""

    patterns: tuple[tuple[str, Purpose], ...] = ()
    root: str = ""
    configuration: str = ""
    workspace: Workspace = DISK

    @classmethod
    def of(
        cls, pairs: Iterable[tuple[str, str]], root: str, configuration: str, workspace: Workspace = DISK
    ) -> IntentPatterns:
        """From (pattern, word) pairs. Raises `ValueError` for a word that names no purpose."""
        try:
            patterns = tuple((pattern, PURPOSES[word]) for pattern, word in pairs)
        except KeyError as error:
            raise ValueError(f"{error} is not something that a guard can be for") from None
        return cls(patterns, root, configuration, workspace)

    def declared(self, path: str) -> ConfiguredIntent | None:
        """What guards in a file are for; the last pattern that matches says so. None where none does.

        Raises `BadPattern` for a pattern that is not in .gitignore's syntax.
        """
        if not self.patterns:
            return None
        above, name = os.path.split(path.partition("#")[0])
        full = os.path.join(os.path.realpath(above), name)
        return next((intent for matched, intent in reversed(self._table) if matched(full, False)), None)

    @cached_property
    def _table(self) -> list[tuple[Callable[[str, bool], bool], ConfiguredIntent]]:
        folder = os.path.realpath(self.root or os.curdir)
        # The settings came from the disk, also for a check of texts in memory alone.
        source = self.workspace.read_or_none(self.configuration) or DISK.read_or_none(self.configuration)
        text = b"" if source is None else source.text
        lines = (0,) if source is None else source.line_starts
        where = Facts(_shown(self.configuration) or "the options", "toml", line_starts=lines)
        places = _places(text)
        return [
            (
                path_matcher(folder, [pattern]),
                ConfiguredIntent(pattern, purpose, where, places.get(pattern.encode(), 0)),
            )
            for pattern, purpose in self.patterns
        ]


NO_PATTERNS = IntentPatterns()


def _places(text: bytes) -> dict[bytes, int]:
    """Where each quoted text of a configuration is first; TOML's parser keeps no places."""
    found: dict[bytes, int] = {}
    for match in _QUOTED.finditer(text):
        found.setdefault(match["double"] if match["single"] is None else match["single"], match.start())
    return found


_QUOTED = lazy_regex(rb"\"(?P<double>[^\"\n]*)\"|'(?P<single>[^'\n]*)'")


def _shown(path: str) -> str:
    """The configuration as messages name it: from the working folder where it is in it."""
    here = os.path.join(os.getcwd(), "")
    return path[len(here) :] if path.startswith(here) else path
