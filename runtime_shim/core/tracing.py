"""Recording what ops did: which layers ran, under which guards, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from .tensor import Tensor, requires_grad
from .thread_state import ADINPLACEORVIEW, AUTOGRAD, tls


@dataclass(frozen=True)
class Flags:
    """A tensor's flags after a step. `version` is None without a counter; `writes` is the storage's true count."""

    inference: bool
    requires_grad: bool
    is_view: bool
    version: int | None
    writes: int
    shape: tuple[int, ...]
    dtype: str
    grad_fn: str | None


@dataclass(frozen=True)
class Step:
    """One op: the kernels that ran from the top down, the guards in force from the outside in, its results."""

    op: str
    kernels: tuple[str, ...]
    guards: tuple[str, ...]
    grad_mode: bool
    inference_mode: bool
    results: tuple[Flags, ...]


def flags_of(t: Tensor) -> Flags:
    grad_fn = None if t._meta is None else t._meta.grad_fn
    node = None if grad_fn is None else type(grad_fn).__name__
    return Flags(
        inference=t.is_inference(),
        requires_grad=requires_grad(t),
        is_view=t._is_view(),
        version=None if t._version_counter is None else t._version_counter[0],
        writes=t._storage[0],
        shape=t._array.shape,
        dtype=t.dtype.name,
        grad_fn=grad_fn.name() if grad_fn is not None and node == "CppFunction" else node,
    )


class Trace:
    """The steps recorded so far, in order."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def record(self, op: str, keys: int, result: Any) -> None:
        state = tls.state
        kernels = []
        if keys & AUTOGRAD:
            kernels.append("Autograd")
        if keys & ADINPLACEORVIEW:
            kernels.append("ADInplaceOrView")
        kernels.append("CPU")
        results = (result,) if isinstance(result, Tensor) else tuple(result)
        self.steps.append(
            Step(
                op,
                tuple(kernels),
                tuple(state.guards),
                state.grad_mode,
                state.inference_mode,
                tuple(flags_of(r) for r in results if isinstance(r, Tensor)),
            )
        )

    # What else the layers tell a tracer. A plain trace has no use for it; `guardfix.runtime_shim.recording` has.

    def saved(self, t: Tensor) -> Any:
        """`t` is saved for backward; what is returned comes back to `unpacked` unless it is None."""
        return None

    def unpacked(self, t: Tensor, seen: object, node: object) -> None:
        """Backward of `node` uses a saved tensor whose visible version is the one that it was saved with."""

    def reads(self, op: str, args: tuple[object, ...]) -> None:
        """An op that autograd records is about to read its arguments."""

    def apply(self, node: Any, grads: list[Any]) -> list[Any]:
        """Run one step of backward: returns `node.apply(grads)`."""
        return node.apply(grads)

    def accumulated(self, variable: Tensor, grad: object) -> None:
        """Backward has put `grad` into a leaf."""

    def repeating(self) -> AbstractContextManager[None]:
        """Inside, the program's steps are those that were seen already, with other numbers."""
        return nullcontext()


@contextmanager
def trace() -> Iterator[Trace]:
    """Record every op of this thread inside the block; nests (the inner one records alone)."""
    state = tls.state
    outer = state.tracer
    recorded = Trace()
    state.tracer = recorded
    try:
        yield recorded
    finally:
        state.tracer = outer
