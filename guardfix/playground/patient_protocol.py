"""Connections that say nothing, or never finish what they say, are closed, so that they take no place from others."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 5.0
"""In which the head of a first request must have come."""


class PatientProtocol(H11Protocol):
    """uvicorn's protocol, which otherwise waits forever for the first request."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._waiting: asyncio.TimerHandle | None = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def connection_lost(self, error: Exception | None) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        super().connection_lost(error)

    def _give_up(self) -> None:
        self._waiting = None
        began: Any = self.cycle
        if began is None:
            self.transport.close()
