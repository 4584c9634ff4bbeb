"""What the machine has shown of a project, kept between guardfix's runs under all that it depends on.

That is the facts of the files that have bodies, in their order, the rows of the guard table, what guards are run as,
and guardfix's code. A project in which any of these differs is run again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType

from msgspec import Struct

from ..analysis.project import Project
from ..facts import Span
from ..facts.packing import NotPacked, pack, unpack
from ..files.code_digest import code_digest
from ..files.digests import blake2b
from ..files.entry_store import NO_STAMP, Entry, EntryStore
from ..guards import CPP, PYTHON, Effect
from .events import Event

WORTH_KEEPING = 256 << 10
"""Bytes of packed facts. Fewer are run again in less time than it takes to open the store."""


class Shown(Struct, frozen=True, array_like=True):
    """What one run has shown."""

    events: tuple[Event, ...]
    unfinished: tuple[tuple[str, Span], ...]
    """The functions and modules that were too long to be followed to the end."""


class KeptRuns:
    """Where the runs of a project are kept (`Project.lasting_memory`)."""

    def __init__(self) -> None:
        self.store: EntryStore | None = None
        """None for nowhere."""


def shown_by(project: Project, instead: Mapping[str, Effect] = MappingProxyType({})) -> Shown:
    """What running the project shows, where guards of these names have other effects."""
    store = project.lasting_memory(KeptRuns).store
    key = _key(project, instead) if store is not None else None
    if store is None or key is None:
        return _run(project, instead)
    known = store.get([key]).get(key)
    if known is not None:
        with suppress(NotPacked):
            return unpack(Shown, known.data)
    shown = _run(project, instead)
    store.put({key: Entry(NO_STAMP, b"", pack(shown))})
    return shown


def _run(project: Project, instead: Mapping[str, Effect]) -> Shown:
    from .running import run_flow  # of no use to what is kept already

    machine = run_flow(project, instead)
    return Shown(tuple(machine.events.values()), tuple(machine.exhausted))


def _key(project: Project, instead: Mapping[str, Effect]) -> bytes | None:
    """What the run follows from; None for so little that it isn't worth keeping."""
    files, size = blake2b(digest_size=32), 0
    for facts in project:
        if facts.bodies:
            packed = pack(facts)
            files.update(b"%d\0" % len(packed))
            files.update(packed)
            size += len(packed)
    if size < WORTH_KEEPING:
        return None  # before the code is read, which takes longer than such a run
    import guardfix.torch_ops  # a check without events needs no table of ops

    about = repr((sorted(instead.items()), list(CPP.items()), list(PYTHON.items()), files.hexdigest()))
    return blake2b(
        about.encode(), key=code_digest("", os.path.dirname(guardfix.torch_ops.__file__)), digest_size=16
    ).digest()
