"""What an abstract run shows to happen at a place."""

from __future__ import annotations

from ..facts import Span
from ..named_tuples import NamedTuple
from ..str_enum import StrEnum
from .values import Cached, GuardValue, Step


class EventKind(StrEnum):
    """What happens; where PyTorch raises, its words are in `PYTORCH_SAYS`."""

    INFERENCE_WRITTEN = "an inference tensor is written outside the mode"
    INFERENCE_SAVED = "an inference tensor is saved for backward"
    INFERENCE_REQUIRES_GRAD = "an inference tensor is given requires_grad outside the mode"
    INFERENCE_DATA = "a tensor is given the data of an inference tensor"
    INFERENCE_RESULT = "what a function's forward gives back was made in inference mode"
    NOT_RECORDED = "a gradient is asked for where nothing was recorded"
    BACKWARD_IN_INFERENCE = "a graph is differentiated in inference mode"
    CACHE_READ = "an attribute that inference mode fills is read where autograd records"
    THREAD = "work goes to a thread that the mode doesn't follow"
    LEAF_WRITTEN = "a leaf that requires grad is written where writes are recorded"
    VIEW_WRITTEN = "a view that was made unrecorded is written where writes are recorded"


PYTORCH_SAYS = {
    EventKind.INFERENCE_WRITTEN: "Inplace update to inference tensor outside InferenceMode is not allowed",
    EventKind.INFERENCE_SAVED: "Inference tensors cannot be saved for backward",
    EventKind.INFERENCE_REQUIRES_GRAD: (
        "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed"
    ),
    EventKind.NOT_RECORDED: "element 0 of tensors does not require grad and does not have a grad_fn",
    EventKind.LEAF_WRITTEN: "a leaf Variable that requires grad is being used in an in-place operation",
    EventKind.VIEW_WRITTEN: "A view was created in no_grad mode and is being modified inplace with grad mode enabled",
}


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
