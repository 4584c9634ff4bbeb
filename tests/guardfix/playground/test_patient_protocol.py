"""Connections that never ask anything take no place from those that do."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
import uvicorn

from guardfix.playground import patient_protocol


@contextlib.asynccontextmanager
async def _served(seconds: float = 0.0) -> AsyncIterator[int]:
    """The port of a server that answers after so many seconds."""

    async def answer(scope: dict[str, Any], receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await asyncio.sleep(seconds)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    http: Any = patient_protocol.PatientProtocol
    server = uvicorn.Server(uvicorn.Config(answer, port=0, log_level="error", http=http, lifespan="off"))
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await task


ASK = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\n", id="half a request"),
        pytest.param(POST, id="no body"),
        pytest.param(POST + b"half", id="half a body"),
        pytest.param(POST.replace(b"Content-Length: 9", b"Transfer-Encoding: chunked") + b"5\r\nha", id="half a chunk"),
        pytest.param(ASK, id="nothing more"),
        pytest.param(ASK + b"GET / HTTP/1.1\r\n", id="half of a second request"),
    ],
)
def test_a_connection_that_asks_nothing_is_closed(said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patient_protocol, "LOOK_SECONDS", 0.3)

    async def run() -> bytes:
        async with _served() as port:
            silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(80)]
            for _, writer in silent:
                writer.write(said)
            with contextlib.suppress(ConnectionError):
                await asyncio.wait_for(asyncio.gather(*(reader.read() for reader, _ in silent)), 10)
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(ASK.replace(b"a\r\n\r\n", b"a\r\nConnection: close\r\n\r\n"))
            return await asyncio.wait_for(reader.read(), 10)

    assert asyncio.run(run()).startswith(b"HTTP/1.1 204")


def test_an_answer_may_take_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patient_protocol, "LOOK_SECONDS", 0.1)

    async def run() -> bytes:
        async with _served(seconds=1.0) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(POST + b"123456789")
            return await asyncio.wait_for(reader.readline(), 10)

    assert asyncio.run(run()).startswith(b"HTTP/1.1 204")
