"""What a thread carries: dispatch keys included and excluded, grad mode, inference mode.

An op reads its thread's `ThreadState` once. Guards change nothing else, and ops know nothing of guards.
Source: c10/core/InferenceMode.h, c10/core/impl/LocalDispatchKeySet.h, c10/core/GradMode.h.
"""

from __future__ import annotations

import threading
from typing import Any

# Dispatch keys, as bits of a key set. PyTorch has one Autograd key per backend; with one backend, one is enough.
BACKEND = 1
AUTOGRAD = 2
ADINPLACEORVIEW = 4

#: Key set of a tensor made outside inference mode.
NORMAL_KEYS = BACKEND | AUTOGRAD | ADINPLACEORVIEW
#: Key set of a tensor made inside inference mode: neither autograd nor in-place and view tracking apply to
# it.
INFERENCE_KEYS = BACKEND

Snapshot = tuple[bool, bool, int, int]


class ThreadState:
    """The dispatch state of a thread."""

    __slots__ = (
        "anomaly",
        "anomaly_checks_nan",
        "backward_callbacks",
        "backward_depth",
        "backward_id",
        "backward_inputs",
        "backward_nodes",
        "backward_start",
        "before_write",
        "excluded",
        "forward_level",
        "function_modes",
        "function_off",
        "grad_mode",
        "guards",
        "included",
        "inference_mode",
        "no_saved_tensor_hooks",
        "running_node",
        "saved_tensor_hooks",
        "sequence",
        "tracer",
        "transforms",
        "wrap_scalars",
    )

    def __init__(self) -> None:
        self.grad_mode = True
        self.inference_mode = False
        self.included = ADINPLACEORVIEW
        self.excluded = 0
        self.guards: list[str] = []
        self.function_modes: list[Any] = []  # of `__torch_function__`, the innermost last
        self.function_off = 0  # 1: subclasses are not asked, 2: modes neither
        self.tracer: Any = None
        self.sequence = 0
        self.wrap_scalars = True
        self.saved_tensor_hooks: list[tuple[Any, Any]] = []
        self.running_node: Any = None  # of backward, in anomaly mode
        self.backward_depth = 0  # how many backwards of this thread run within each other
        self.backward_id = 0  # of the backward that runs in this thread, 0 for none
        self.backward_nodes: Any = frozenset()  # what that backward comes by
        self.backward_start: Any = None  # the node that it begins at, if that is one alone
        self.backward_callbacks: list[Any] = []  # called when it has ended
        self.before_write: Any = None  # called with every tensor that an op is about to write to
        self.no_saved_tensor_hooks: str | None = None  # why there may be none
        self.backward_inputs = ""  # "accumulated" or "returned", if that backward has inputs to which it is confined
        self.forward_level: Any = None  # of forward-mode differentiation, with its tangents
        self.transforms = 0  # how many of torch.func's transforms run within each other
        self.anomaly = False
        self.anomaly_checks_nan = True

    def snapshot(self) -> Snapshot:
        return self.grad_mode, self.inference_mode, self.included, self.excluded

    def restore(self, saved: Snapshot) -> None:
        self.grad_mode, self.inference_mode, self.included, self.excluded = saved

    def set_inference_mode(self, enabled: bool) -> None:
        """What constructing c10::InferenceMode does. `False` also turns grad mode on, even inside no_grad."""
        self.inference_mode = enabled
        self.grad_mode = not enabled
        if enabled:
            self.included &= ~ADINPLACEORVIEW
            self.excluded |= AUTOGRAD
        else:
            self.included |= ADINPLACEORVIEW
            self.excluded &= ~AUTOGRAD


class _Local(threading.local):
    """A new thread starts in normal mode, whatever its parent's state."""

    def __init__(self) -> None:
        self.state = ThreadState()


#: `tls.state` is the calling thread's state.
tls = _Local()
