"""The shim behind a C++ program that is recorded."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import guardfix.runtime_shim as shim

from ..cpp.op_spellings import AnyTensor
from ..cpp.shim_backend import ShimBackend
from .call_sites import CallSites
from .guard_table import GuardTable
from .recorder import Recorder, watching
from .trace_events import Writer


class RecordingBackend(ShimBackend):
    """Everything that a C++ program asks for goes through the shim's public names, which are watched."""

    def __init__(
        self, *, legacy_since19: bool = False, guard_table: GuardTable | None = None, detailed: bool = False
    ) -> None:
        super().__init__(shim, legacy_since19=legacy_since19)
        self.detailed = detailed
        self.guard_table = guard_table
        self.recorder: Recorder | None = None

    @contextlib.contextmanager
    def recording(self, writer: Writer, program: Path) -> Iterator[None]:
        """Inside, what the compiled program does is written to `writer`."""
        self.recorder = Recorder(writer, table=self.guard_table, detailed=self.detailed)
        self.recorder.call_sites = CallSites(program)
        with watching(self.recorder):
            yield

    def values(self, t: AnyTensor) -> list[float]:
        # Printing is not a step of the program: its output is compared anyway.
        with self.recorder.unseen() if self.recorder is not None else contextlib.nullcontext():
            return super().values(t)

    def bump_version(self, t: AnyTensor) -> None:
        shim._C._bump_version(t)

    def scalar_op(self, name: str) -> Any:
        call = super().scalar_op(name)
        recorder = self.recorder
        return call if recorder is None else recorder.watched(name, call)
