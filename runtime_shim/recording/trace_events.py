"""The lines of a recording.

A recording is a file of JSON objects, one a line, in the order in which things happened:

    {"event": "compiled", "files": […]}            what went into the program: sources and headers, or modules; of a C++
                                                   program also "program", the library that it is, in which the "at" of
                                                   a step are addresses (`call_sites` makes lines of them)
    {"event": "ready"}                             the program is compiled and about to run
    {"event": "step", "thread": 0, "op": "mul", "kernels": […], "guards": […], "results": [{…}, …]}
    {"event": "graph", "thread": 0, "nodes": [{…}]}            new nodes of the autograd graph, in a detailed recording
    {"event": "raised", "thread": 0, "op": "backward", "error": "RuntimeError", "message": "…"}
    {"event": "gradient", "thread": 0, "results": [{…}]}       backward put a gradient into a leaf
    {"event": "silent", "thread": 0, "kind": "saved", …}       the program is about to be wrong, and nothing says so
    {"event": "failed", "kind": "compile", "message": "…", "missing": "at::Tensor::foo"}   it could not be run
    {"event": "ended", "status": 0, "error": null, "message": ""}
    {"event": "cut", "thread": 0, "steps": 9, "digest": "…"}   the rest of what a thread did, which is very long

A result is what a step returned: a tensor with its flags, the digest of its data and its first elements, or a plain
value. Only calls that the program itself makes are steps; what an op is made of inside is not.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any, TextIO

STEP_LIMIT = 200_000
"""Steps of a thread that are written out one by one; a digest of the rest follows, so that a recording has an end."""

ANSWERED_ANEW = frozenset({"is_inference", "_is_view", "_version", "is_leaf", "_base", "is_inference_mode_enabled"})
"""Questions whose answer a migration is meant to change: what a program does with the answer is compared."""

SHOWN_ELEMENTS = 8


class _Rest:
    """What a thread does past the limit, as one digest."""

    def __init__(self) -> None:
        self.steps = 0
        self.digest = hashlib.blake2b(digest_size=16)

    def add(self, event: str, fields: Mapping[str, Any]) -> None:
        self.steps += 1
        self.digest.update(repr(_digested(event, fields)).encode())


def _digested(event: str, fields: Mapping[str, Any]) -> tuple[Any, ...]:
    """What of a step must be the same before and after a migration.

    Guards, kernels, versions and inference tensors change with it. So may `requires_grad`, of a view that is tracked
    now: a step by itself can be compared with that in mind, a digest can't.
    """
    op = fields.get("op", "gradient")
    if op in ANSWERED_ANEW:
        return event, op
    return (
        event,
        op,
        *(
            (*result["shape"], result["dtype"], result["grad_fn"] is not None, result["data"])
            if isinstance(result, dict)
            else result
            for result in fields["results"]
        ),
    )


class Writer:
    """Writes events; safe to call from any thread."""

    def __init__(self, stream: TextIO, limit: int = STEP_LIMIT, ready: int | None = None) -> None:
        self.stream = stream
        self.ready = ready
        """A file descriptor whose closing tells that the program is about to run."""
        self.limit = limit
        self._steps: Counter[int] = Counter()
        """How many steps each thread has written."""
        self._rest: dict[int, _Rest] = {}
        self.lock = threading.Lock()

    def write(self, event: str, **fields: Any) -> None:
        thread = fields.get("thread", 0)
        if event in ("step", "gradient"):
            with self.lock:
                self._steps[thread] += 1
                if self._steps[thread] > self.limit:
                    self._rest.setdefault(thread, _Rest()).add(event, fields)
                    return
        line = json.dumps({"event": event, **fields}, separators=(",", ":"), default=str)
        with self.lock:
            self.stream.write(line + "\n")
            # An abort or a signal ends the process without closing any file.
            self.stream.flush()

    def is_long(self, thread: int) -> bool:
        """Whether a thread's further steps are only digested."""
        return self._steps[thread] >= self.limit

    def is_ready(self) -> None:
        self.write("ready")
        ready, self.ready = self.ready, None
        if ready is not None:
            os.close(ready)

    def start_over(self) -> None:
        """Forget what was only digested. What follows may be as long again."""
        self._rest = {}
        self._steps.clear()

    def close(self) -> None:
        """Write the digests. What follows may be as long again."""
        rest = self._rest
        self.start_over()
        for thread in sorted(rest):
            self.write("cut", thread=thread, steps=rest[thread].steps, digest=rest[thread].digest.hexdigest())


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
