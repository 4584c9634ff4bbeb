"""The frames in which an editor's messages come, and what of them is a message, as JSON-RPC and the protocol say."""

from __future__ import annotations

import json
import re
from typing import Any, BinaryIO

from lsprotocol.types import ErrorCodes

LARGEST_FRAME = 1 << 28
"""Bytes of a message; a greater length is taken for garbage."""
_LONGEST_HEADER = 1 << 12
_MOST_HEADERS = 32
_UTF8 = re.compile(rb"[^;]*(?:;\s*charset\s*=\s*\"?utf-?8\"?\s*)?", re.IGNORECASE)


class FrameLost(Exception):
    """The beginning of the next message can't be found any more."""


class BadMessage(Exception):
    """What can't be handled: the code of the answer, whose it is, and why."""

    def __init__(self, code: ErrorCodes, why: str, number: int | str | None = None) -> None:
        super().__init__(why)
        self.code, self.number = code, number


def next_frame(stream: BinaryIO) -> tuple[bytes, bytes] | None:
    """(content type, content) of the next frame; None at the end. Raises `FrameLost`."""
    headers: dict[bytes, bytes] = {}
    while True:
        line = stream.readline(_LONGEST_HEADER)
        if not line.endswith(b"\n") and len(line) < _LONGEST_HEADER:
            return None
        if line in (b"\r\n", b"\n"):
            if headers:
                break
            continue  # an empty line between two frames does no harm
        name, colon, value = line.partition(b":")
        name = name.strip().lower()
        if not colon or not line.endswith(b"\n") or name in headers or len(headers) == _MOST_HEADERS:
            raise FrameLost(f"no header: {line[:40]!r}")
        headers[name] = value.strip()
    length = headers.get(b"content-length", b"")
    if not re.fullmatch(rb"[0-9]{1,10}", length) or int(length) > LARGEST_FRAME:
        raise FrameLost(f"no length: {length[:40]!r}")
    content = stream.read(int(length))
    return (headers.get(b"content-type", b""), content) if len(content) == int(length) else None


def frame_message(kind: bytes, content: bytes) -> dict[str, Any]:
    """The message of a frame. Raises `BadMessage`."""
    if not _UTF8.fullmatch(kind):
        raise BadMessage(ErrorCodes.ParseError, "messages are read as UTF-8")
    try:
        found = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadMessage(ErrorCodes.ParseError, f"not JSON: {error}") from None
    number = found.get("id") if isinstance(found, dict) else None
    if not isinstance(number, (int, str)) or isinstance(number, bool):
        number = None
    if not isinstance(found, dict) or found.get("jsonrpc") != "2.0":
        raise BadMessage(ErrorCodes.InvalidRequest, "no message of JSON-RPC 2.0", number)
    if "method" not in found and "id" in found and ("result" in found or "error" in found):
        return {**found, "id": number}
    if not isinstance(found.get("method"), str) or ("id" in found and number is None):
        raise BadMessage(ErrorCodes.InvalidRequest, "neither a request nor a notification nor an answer", number)
    return {"params": None, **found}
