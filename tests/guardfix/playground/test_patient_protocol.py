"""Connections that never ask anything take no place from those that do."""

from __future__ import annotations

import asyncio

import pytest
import uvicorn

from guardfix.playground import patient_protocol


async def _answer(scope: dict[str, object], receive: object, send: object) -> None:
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 204, "headers": []})  # type: ignore[operator]
        await send({"type": "http.response.body", "body": b""})  # type: ignore[operator]


@pytest.mark.parametrize(
    "said", [pytest.param(b"", id="nothing"), pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\n", id="half a request")]
)
def test_a_connection_that_asks_nothing_is_closed(said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patient_protocol, "HEAD_SECONDS", 0.3)

    async def run() -> tuple[bytes, bytes]:
        config = uvicorn.Config(
            _answer, port=0, log_level="error", http=patient_protocol.PatientProtocol, lifespan="off"
        )  # type: ignore[arg-type]
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(80)]
        for _, writer in silent:
            writer.write(said)
        ended = await asyncio.wait_for(silent[0][0].read(), 10)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        answer = await asyncio.wait_for(reader.read(), 10)
        server.should_exit = True
        await task
        return ended, answer

    ended, answer = asyncio.run(run())
    assert ended == b""
    assert answer.startswith(b"HTTP/1.1 204")
