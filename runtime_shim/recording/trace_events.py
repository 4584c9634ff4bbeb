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
import itertools
import json
import os
import threading
import weakref
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from ..core.tensor import Tensor
from ..tape.nodes import AccumulateGrad, Node

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


def plain(value: object) -> Any:
    """A value without tensors, as text that is the same whenever the value is."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return repr(value)[:200]
    if isinstance(value, list | tuple):
        shown = ", ".join(str(plain(item)) for item in value[:100])
        return f"[{shown}]" if isinstance(value, list) else f"({shown})"
    return type(value).__name__


class _Numbers:
    """Numbers things from 1 in the order in which they are met. Keeps nothing alive."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, weakref.ref[Any]]] = {}
        self._next = itertools.count(1)

    def of(self, thing: object) -> tuple[int, bool]:
        """The number, and whether it is a new one."""
        found = self._known.get(id(thing))
        if found is not None and found[1]() is thing:  # else another thing has got its address since
            return found[0], False
        number = next(self._next)
        self._known[id(thing)] = number, weakref.ref(thing)
        return number, True


class TensorIdentities:
    """What the tensors of one program are to each other. Looks only: no history of a view is made again for it."""

    def __init__(self) -> None:
        self._tensors, self._memory, self._nodes = _Numbers(), _Numbers(), _Numbers()
        self._new_nodes: list[dict[str, Any]] = []

    def of(self, t: Tensor) -> dict[str, Any]:
        """Fields for the result of a step: its number, its memory's, its base's, and its node in the graph."""
        meta = t._meta
        base = None if meta is None else meta.base
        node = None if meta is None else meta.grad_fn
        if node is None and meta is not None and meta.accumulator is not None:
            node = meta.accumulator()
        return {
            "tensor": self._tensors.of(t)[0],
            "memory": self._memory.of(t._storage[1])[0],
            "base": None if base is None else self._tensors.of(base)[0],
            "node": None if node is None else self._node(node),
        }

    def take_new_nodes(self) -> list[dict[str, object]]:
        """The nodes met since the last call: `{"node": 3, "name": "MulBackward0", "next": [1, 2]}`."""
        found, self._new_nodes = self._new_nodes, []
        return found

    def _node(self, node: Node) -> int:
        number, is_new = self._nodes.of(node)
        left = [(number, node)] if is_new else []
        while left:
            own, one = left.pop()
            following = []
            for following_node in _next_nodes(one):
                its_number, is_new = self._nodes.of(following_node)
                following.append(its_number)
                if is_new:
                    left.append((its_number, following_node))
            fields: dict[str, object] = {"node": own, "name": one.name().rpartition("::")[2], "next": following}
            if isinstance(one, AccumulateGrad):
                fields["leaf"] = self._tensors.of(one.variable)[0]
                fields["shape"] = one.variable._array.shape
            self._new_nodes.append(fields)
        return number


def _next_nodes(node: Node) -> Iterator[Node]:
    for edge in node.next_edges:
        if edge is not None:
            yield edge[0]
