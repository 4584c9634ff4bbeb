"""Writing a trace as it happens: guard scopes as nested blocks, one line for each op."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TextIO

from ..core.tensor import Tensor
from ..core.thread_state import tls
from ..core.tracing import Flags, Step, Trace, flags_of


class TracePrinter(Trace):
    """A trace whose steps are written to a stream when they are recorded; nothing is kept.

    c10::InferenceMode(true) {
      mul_        ADInplaceOrView CPU            -> float32[2, 3] normal version 1
    }
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self.stream = stream
        self._shown: dict[int, list[str]] = {}  # by thread state: the scopes that are open on paper

    def __enter__(self) -> TracePrinter:
        self._attach()
        return self

    def __exit__(self, *_: object) -> None:
        state = tls.state
        state.tracer = None

    def traced(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, with its thread attached to this trace: a new thread starts without."""

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            self._attach()
            return function(*args, **kwargs)

        return call

    def _attach(self) -> None:
        state = tls.state
        if state.tracer is None:
            state.tracer = self

    def record(self, op: str, keys: int, result: Any) -> None:
        super().record(op, keys, result)
        self._write_step(self.steps.pop())

    def guards_changed(self) -> None:
        """Write the ends and the beginnings of scopes since the last line of this thread."""
        state = tls.state
        shown, now = self._shown.setdefault(id(state), []), state.guards
        common = 0
        while common < min(len(shown), len(now)) and shown[common] == now[common]:
            common += 1
        while len(shown) > common:
            shown.pop()
            self._write("}")
        for name in now[common:]:
            self._write(f"{name} {{")
            shown.append(name)

    def enter_op(self, name: str, key: str) -> None:
        """A kernel of an op of the program's own begins."""
        self._attach()
        tls.state.guards.append(f"{name} [{key}]")
        self.guards_changed()

    def leave_op(self, name: str, key: str, result: Tensor | None) -> None:
        guards = tls.state.guards
        while guards and guards.pop() != f"{name} [{key}]":
            pass
        self.guards_changed()
        if result is not None:
            self._write_line(name, (key,), (flags_of(result),))

    def _write_step(self, step: Step) -> None:
        self.guards_changed()
        self._write_line(step.op, step.kernels, step.results)

    def _write_line(self, op: str, kernels: tuple[str, ...], results: tuple[Flags, ...]) -> None:
        shown = "; ".join(_in_words(flags) for flags in results)
        self._write(f"{op:<12} {' '.join(kernels):<28} -> {shown}".rstrip())

    def _write(self, line: str) -> None:
        depth = len(self._shown.setdefault(id(tls.state), []))
        self.stream.write(f"{'  ' * depth}{line}\n")
        self.stream.flush()


def _in_words(flags: Flags) -> str:
    words = [f"{flags.dtype}{list(flags.shape)}", "inference" if flags.inference else "normal"]
    if flags.is_view:
        words.append("view")
    if flags.requires_grad:
        words.append("requires_grad")
    if flags.grad_fn is not None:
        words.append(flags.grad_fn)
    words.append("no version" if flags.version is None else f"version {flags.version}")
    return " ".join(words)
