"""The lines of a recording.

A recording is a file of JSON objects, one a line, in the order in which things happened:

    {"event": "compiled", "files": […]}            what went into the program: sources and headers, or modules
    {"event": "ready"}                             the program is compiled and about to run
    {"event": "step", "thread": 0, "op": "mul", "kernels": […], "guards": […], "results": [{…}, …]}
    {"event": "graph", "thread": 0, "nodes": [{…}]}            new nodes of the autograd graph, in a detailed recording
    {"event": "raised", "thread": 0, "op": "backward", "error": "RuntimeError", "message": "…"}
    {"event": "gradient", "thread": 0, "results": [{…}]}       backward put a gradient into a leaf
    {"event": "silent", "thread": 0, "kind": "saved", …}       the program is about to be wrong, and nothing says so
    {"event": "failed", "kind": "compile", "message": "…", "missing": "at::Tensor::foo"}   it could not be run
    {"event": "ended", "status": 0, "error": null, "message": ""}
    {"event": "cut", "steps": 200000, "digest": "…"}           the rest of a very long recording, as one digest

A result is what a step returned: a tensor with its flags, the digest of its data and its first elements, or a plain
value. Only calls that the program itself makes are steps; what an op is made of inside is not.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from typing import Any, TextIO

STEP_LIMIT = 200_000
"""Steps written out one by one; what comes after goes into one digest, so that a recording has an end."""

SHOWN_ELEMENTS = 8


class Writer:
    """Writes events; safe to call from any thread."""

    def __init__(self, stream: TextIO, limit: int = STEP_LIMIT, ready: int | None = None) -> None:
        self.stream = stream
        self.ready = ready
        """A file descriptor whose closing tells that the program is about to run."""
        self.limit = limit
        self.written = 0
        self.rest: Any = None
        self.lock = threading.Lock()

    def write(self, event: str, **fields: Any) -> None:
        line = json.dumps({"event": event, **fields}, separators=(",", ":"), default=str)
        with self.lock:
            self.written += 1
            if self.written > self.limit and event in ("step", "gradient"):
                if self.rest is None:
                    self.rest = hashlib.blake2b(digest_size=16)
                self.rest.update(line.encode())
                return
            self.stream.write(line + "\n")
            # An abort or a signal ends the process without closing any file.
            self.stream.flush()

    def is_ready(self) -> None:
        self.write("ready")
        ready, self.ready = self.ready, None
        if ready is not None:
            os.close(ready)

    def close(self) -> None:
        rest, self.rest = self.rest, None
        if rest is not None:
            self.write("cut", steps=self.written, digest=rest.hexdigest())


def data_digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def plain(value: Any) -> Any:
    """A value without tensors, as text that is the same whenever the value is."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return repr(value)[:200]
    if isinstance(value, list | tuple):
        shown = ", ".join(str(plain(item)) for item in value[:100])
        return f"[{shown}]" if isinstance(value, list) else f"({shown})"
    return type(value).__name__
