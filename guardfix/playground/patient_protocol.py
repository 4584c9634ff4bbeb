"""Connections that say nothing, or never finish what they say, are closed, so that they take no place from others."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

LOOK_SECONDS = 3.0
"""Between two looks at a connection: what waits for the same at both is closed."""


class PatientProtocol(H11Protocol):
    """uvicorn's protocol, which waits forever for the rest of a request, and for the first one."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._seen: Any = self
        self._next_look: asyncio.TimerHandle | None = None
        self._look()

    def connection_lost(self, error: Exception | None) -> None:
        if self._next_look is not None:
            self._next_look.cancel()
        super().connection_lost(error)

    def _look(self) -> None:
        """A request that is answered may take its time; one that is still being said, or none, may not."""
        waits = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        if waits and self._seen is self.cycle:
            self.transport.abort()
            return
        self._seen = self.cycle if waits else self
        self._next_look = self.loop.call_later(LOOK_SECONDS, self._look)
