"""What was read of functions, kept while files join a project: most files say nothing new of most functions."""

from __future__ import annotations

from collections.abc import Iterable, Set
from itertools import chain

from msgspec import Struct, field

from ..facts import Facts, Span
from .call_names import FunctionNode, names_defined_in
from .function_outlines import Act, CallEffect
from .held_functions import names_given
from .project import Project
from .project_summary import ProjectSummary


class CallGroup(Struct):
    """The functions that one call can mean."""

    nodes: tuple[FunctionNode, ...]
    sure: bool
    """The class is known, or the function is named with its scope."""
    written: str
    span: Span


class FunctionBody(Struct):
    """What is in a function, or in a part of one."""

    acts: dict[CallEffect, Act] = field(default_factory=dict)
    groups: list[CallGroup] = field(default_factory=list)


class FunctionReading(Struct):
    """What was read of a function, and what it depended on."""

    body: FunctionBody = field(default_factory=FunctionBody)
    state: int = 0
    """Of the project, when it was last known to hold."""
    summary: ProjectSummary | None = None
    """Of the project at that time."""
    names: frozenset[str] = frozenset()
    """Those that were looked up."""
    wanted: set[str] = field(default_factory=set)
    wanted_classes: set[str] = field(default_factory=set)
    """All that could be the names of classes among them."""
    unqualified: set[str] = field(default_factory=set)
    """Types that it writes without a namespace."""
    asked_unqualified: dict[str, bool] = field(default_factory=dict)
    """Types that it asked about, and whether they were known to be written so."""


class FunctionReadings:
    """The functions of a project that were read, in all its states."""

    def __init__(self) -> None:
        self.state = 0
        self._files: dict[str, Facts] = {}
        self._summary: ProjectSummary | None = None
        self._changed: dict[str, int] = {}
        """The state in which a name came to mean something else, by the name."""
        self._known: dict[tuple[Facts, Span, int | None], FunctionReading] = {}

    def attach(self, project: Project) -> int:
        """Note what has changed since the last time; the number of the state of the project."""
        self.state += 1
        self._summary = project.summary
        gone = set()
        for path in self._files.keys() | project.files.keys():
            old, new = self._files.get(path), project.files.get(path)
            if old is not new:
                for facts in (one for one in (old, new) if one is not None):
                    names = chain(names_defined_in(facts), names_given(facts))
                    self._changed.update(dict.fromkeys(names, self.state))
                gone.add(old)
        self._known = {key: reading for key, reading in self._known.items() if key[0] not in gone}
        self._files = dict(project.files)
        return self.state

    def keep(self, key: tuple[Facts, Span, int | None], reading: FunctionReading, names: Iterable[str]) -> None:
        """Remember what was just read."""
        reading.state, reading.summary, reading.names = self.state, self._summary, frozenset(names)
        self._known[key] = reading

    def find(self, key: tuple[Facts, Span, int | None], unqualified: Set[str]) -> FunctionReading | None:
        """What was read of a function before, if it would be the same again."""
        reading = self._known.get(key)
        if reading is None:
            return None
        if reading.state != self.state:
            if any(self._changed.get(name, 0) > reading.state for name in reading.names):
                return None
            if reading.summary is not self._summary and not self._is_same_summarized(reading):
                return None
            reading.state, reading.summary = self.state, self._summary
        same = all((name in unqualified) == known for name, known in reading.asked_unqualified.items())
        return reading if same else None

    def _is_same_summarized(self, reading: FunctionReading) -> bool:
        """Whether a project summary that was made since then says nothing of the classes that were asked for."""
        summary = self._summary
        return (
            reading.summary is None
            and summary is not None
            and not any(map(summary.defining_class, reading.wanted_classes))
        )
