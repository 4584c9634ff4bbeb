"""The report of a folder, made again when something in it has changed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from guardfix.module_command import module_command

_SECONDS = 600.0
"""What a report of a large tree may take."""


class ReportFailed(Exception):
    """The report could not be made; the message is what the command said."""


class LiveReport:
    """The page that `guardfix report` makes with the given arguments, and when it is out of date.

    `matters` says of a changed file whether it can change the report.
    """

    def __init__(self, arguments: Sequence[str], paths: Sequence[str], matters: Callable[[Any, str], bool]) -> None:
        self.arguments = tuple(arguments)
        self.folders = sorted({path if os.path.isdir(path) else os.path.dirname(path) or os.curdir for path in paths})
        self.roots = [os.path.realpath(path) for path in paths]
        self.matters = matters
        self._page: bytes | None = None
        self._sources: frozenset[str] = frozenset()
        """The real paths of the files that findings are about: no other file below the folders is shown."""
        self._turn = asyncio.Lock()
        self._changed = asyncio.Condition()
        self.version = 0

    async def page(self) -> bytes:
        """The page as of the last change. Raises `ReportFailed`."""
        async with self._turn:
            while self._page is None:
                version = self.version
                sources, _, page = (await self._make()).partition(b"\n")
                if version == self.version:
                    self._page = page
                    self._sources = frozenset(json.loads(sources))
        return self._page

    async def _make(self) -> bytes:
        process = await asyncio.create_subprocess_exec(
            *module_command("guardfix"), "report", "--live", "-o", "-", *self.arguments,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            output, errors = await asyncio.wait_for(process.communicate(), _SECONDS)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            raise
        if process.returncode:
            raise ReportFailed(errors.decode("utf-8", "replace").strip() or f"exit status {process.returncode}")
        return output

    async def watch(self) -> None:
        """Follow the folders until the task is ended."""
        from watchfiles import awatch

        async for _ in awatch(*self.folders, watch_filter=self.matters, debounce=400, step=50):
            async with self._changed:
                self._page = None
                self.version += 1
                self._changed.notify_all()

    async def changes(self) -> AsyncIterator[int]:
        """The number of each change from now on."""
        seen = self.version
        while True:
            async with self._changed:
                await self._changed.wait_for(lambda: self.version != seen)  # noqa: B023 - the wait ends before the loop
                seen = self.version
            yield seen

    async def source(self, name: str) -> str | None:
        """The real path of a file that the report is about; None for any other file. Raises `ReportFailed`."""
        if "\0" in name:
            return None
        await self.page()
        path = os.path.realpath(name)
        return path if path in self._sources else None
