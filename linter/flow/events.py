"""What an abstract run shows to happen at a place."""

from __future__ import annotations

from ..facts import Span
from ..named_tuples import NamedTuple
from ..str_enum import StrEnum
from .values import Cached, GuardValue, Step


class EventKind(StrEnum):
    """What happens; where PyTorch raises, `pytorch_says` has its words."""

    INFERENCE_WRITTEN = "an inference tensor is written outside the mode"
    INFERENCE_SAVED = "an inference tensor is saved for backward"
    INFERENCE_REQUIRES_GRAD = "an inference tensor is given requires_grad outside the mode"
    INFERENCE_VERSION = "an inference tensor is asked for its version"
    INFERENCE_DATA = "a tensor is given the data of an inference tensor"
    INFERENCE_RESULT = "what a function's forward gives back was made in inference mode"
    NOT_RECORDED = "a gradient is asked for where nothing was recorded"
    GRADIENT_EXPECTED = "a gradient is to be seen or kept of what was not recorded"
    GRADIENT_OF_ZEROS = "`torch.func` differentiates what the function itself keeps from being recorded"
    PARAMETER_LOST = "a parameter's name is given a tensor without a graph, made of its own gradient"
    BACKWARD_IN_INFERENCE = "a graph is differentiated in inference mode"
    CACHE_READ = "an attribute that inference mode fills is read where autograd records"
    THREAD = "work goes to a thread that the mode doesn't follow"
    UNCOUNTED_WRITE = "a tensor from outside is written where its counter doesn't move"
    UNTRACKED_VIEW = "a view of a tensor from outside is given back where views aren't tracked"
    HIGHER_ORDER_LOST = "what a function's backward gives back is computed where nothing is recorded"
    MODEL_SHARED = "a model that is trained is run in inference mode as well"
    LEAF_WRITTEN = "a leaf that requires grad is written where writes are recorded"
    VIEW_WRITTEN = "a view that was made unrecorded is written where writes are recorded"


MESSAGES = {
    EventKind.INFERENCE_WRITTEN: "inference-tensor-written",
    EventKind.INFERENCE_SAVED: "inference-tensor-saved",
    EventKind.INFERENCE_REQUIRES_GRAD: "inference-tensor-requires-grad",
    EventKind.INFERENCE_VERSION: "inference-tensor-version",
    EventKind.NOT_RECORDED: "nothing-recorded",
    EventKind.LEAF_WRITTEN: "leaf-written",
    EventKind.VIEW_WRITTEN: "view-written",
}
"""The rows of `pytorch_messages.message_table` with what PyTorch says where it raises."""


def pytorch_says(kind: EventKind) -> str | None:
    """What PyTorch says, in brief; None where it says nothing."""
    from guardfix.pytorch_messages.message_table import brief_wording  # a check without events needs no messages

    return brief_wording(MESSAGES[kind]) if kind in MESSAGES else None


class Event(NamedTuple):
    kind: EventKind
    certain: bool
    path: str
    span: Span
    variable: str
    """The tensor, as the program names it; empty where it has no name."""
    what: str
    """What is done with it, in words: "`mul` saves it for the gradient of `w`"."""
    steps: tuple[Step, ...]
    guard: GuardValue | None
    """The guard that brings it about."""
    cached: Cached | None = None
    """Of a tensor that an attribute holds since a condition filled it: where."""
    presumed: str = ""
    doubt: str = ""
    """Why it is only possible."""
    brought_by: Step | None = None
    """What brings it about, where the code in which it happens is right by itself: a call below the guard, or what has
    made a parameter under it."""
