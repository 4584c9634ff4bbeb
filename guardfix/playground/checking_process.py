"""A process that checks what is pasted, one text after the other, within limits of time."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

from guardfix.module_command import module_command

_LONGEST_ANSWER = 64 << 20
_MOST_WAITING = 8


class TooBusy(Exception):
    """More texts wait than anybody needs."""


class CheckingProcess:
    """Started at the first question, and again after it was stopped."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def ask(self, text: str, language: str, *, unsafe: bool) -> dict[str, Any]:
        """The answer, or `{"error": …}` in words. Raises `TooBusy`."""
        if self._waiting >= _MOST_WAITING:
            raise TooBusy
        self._waiting += 1
        try:
            async with self._turn:
                return await self._answer({"text": text, "language": language, "unsafe": unsafe})
        finally:
            self._waiting -= 1

    async def _answer(self, question: dict[str, Any]) -> dict[str, Any]:
        process = await self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(question).encode() + b"\n")
            await process.stdin.drain()
            line = await asyncio.wait_for(process.stdout.readline(), self.seconds)
        except (asyncio.TimeoutError, TimeoutError):
            await self.stop()
            return {"error": f"checking this takes longer than {self.seconds:g} seconds, so it was stopped"}
        except (OSError, ValueError):
            line = b""
        except BaseException:  # the client has gone: its answer would be taken for the next one's
            await self.stop()
            raise
        if not line:
            await self.stop()
            return {"error": "the process that checks ended; it may have run out of memory"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    async def _running(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                *module_command(__package__),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=_LONGEST_ANSWER,
            )
        return self._process

    async def stop(self) -> None:
        """End the process, if it runs, and wait for its end."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
