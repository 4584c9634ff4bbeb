"""Nodes that Python makes, and anomaly mode, which says where in the forward pass a failing node came from.

Source of the behaviour: torch/csrc/autograd/functions/basic_ops.cpp.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor, requires_grad
from ..core.thread_state import tls
from ..tape import nodes
from ..tape.history import gradient_edge, set_history
from ..tape.nodes import AccumulateGrad, Edge, Error, Grads, Node


class DelayedError(Node):
    """Passes tensors on; a backward that comes by raises RuntimeError with this message."""

    def __init__(self, message: str, num_inputs: int) -> None:
        super().__init__([])
        self.message = message
        self.num_inputs = num_inputs

    def __call__(self, *inputs: Any) -> Any:
        return _passed_on(inputs, [t.data for t in inputs], lambda edges: Error(edges, self.message))


class UndefinedGrad(Node):
    """Passes tensors on; what is before it gets no gradient (None) in backward."""

    def __init__(self) -> None:
        super().__init__([])

    def __call__(self, *inputs: Any) -> Any:
        return _passed_on(inputs, [t.detach().clone() for t in inputs], UndefinedGradBackward)


class UndefinedGradBackward(Node):
    """Turns every gradient into none."""

    def apply(self, grads: Grads) -> Grads:
        return [None] * len(self.next_edges)


def _passed_on(inputs: tuple[Tensor, ...], outputs: list[Tensor], node: Callable[[list[Edge | None]], Node]) -> Any:
    """The outputs, with a node of that kind as their history where an input requires grad."""
    if tls.state.grad_mode and any(map(requires_grad, inputs)):
        made = node([gradient_edge(t) for t in inputs])
        for nr, t in enumerate(outputs):
            set_history(t, made, nr)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


class set_detect_anomaly:
    """Inside, nodes remember where forward made them; backward says it of the one that raises or gives NaN."""

    def __init__(self, mode: bool = True, check_nan: bool = True) -> None:
        state = tls.state
        self.previous = state.anomaly, state.anomaly_checks_nan
        state.anomaly, state.anomaly_checks_nan = mode, check_nan
        nodes.Node.remembers_forward += mode - self.previous[0]

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        state = tls.state
        nodes.Node.remembers_forward += self.previous[0] - state.anomaly
        state.anomaly, state.anomaly_checks_nan = self.previous


class detect_anomaly(set_detect_anomaly):
    def __init__(self, check_nan: bool = True) -> None:
        import warnings

        super().__init__(True, check_nan)
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )


def is_anomaly_enabled() -> bool:
    return tls.state.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    return tls.state.anomaly_checks_nan


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Turn anomaly mode on or off for the thread."""
    set_detect_anomaly(enabled, check_nan)


class set_multithreading_enabled:
    """Kept and changing nothing: backward runs on the thread that calls it."""

    _enabled = True

    def __init__(self, mode: bool) -> None:
        self.previous = set_multithreading_enabled._enabled
        self.mode = mode
        set_multithreading_enabled._enabled = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        set_multithreading_enabled._enabled = self.previous


def is_multithreading_enabled() -> bool:
    return set_multithreading_enabled._enabled


__all__ = ["AccumulateGrad", "DelayedError", "UndefinedGrad"]
