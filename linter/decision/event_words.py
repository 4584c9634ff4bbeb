"""What rules say of the events of abstract runs."""

from __future__ import annotations

from ..facts import Facts
from ..flow.events import Event, EventKind, pytorch_says
from ..flow.function_transforms import CHECKPOINT

ESCAPES = (
    EventKind.INFERENCE_WRITTEN,
    EventKind.INFERENCE_SAVED,
    EventKind.INFERENCE_REQUIRES_GRAD,
    EventKind.INFERENCE_VERSION,
    EventKind.INFERENCE_DATA,
    EventKind.INFERENCE_RESULT,
)
"""What goes wrong with inference tensors outside of the mode."""
GRADIENTS = (
    EventKind.NOT_RECORDED,
    EventKind.GRADIENT_EXPECTED,
    EventKind.GRADIENT_OF_ZEROS,
    EventKind.PARAMETER_LOST,
    EventKind.BACKWARD_IN_INFERENCE,
)
"""What goes wrong with gradients under a guard."""


def escape_message(event: Event, facts: Facts) -> str:
    """What an inference tensor is, where it was made, what is done with it, and what PyTorch says to that."""
    subject = f"`{event.variable}`" if event.variable else "this"
    made = f", made under the guard of {_where(event, facts)}" if event.guard is not None else ""
    message = f"{subject} is an inference tensor{made}: {event.what}"
    return message + _raises(event) + presumption(event)


def gradient_message(event: Event, facts: Facts) -> str:
    """Under which guard gradients are asked for, and what comes of it."""
    guard = f" under the guard of {_where(event, facts)}" if event.guard is not None else ""
    if event.guard is not None and event.guard.name == CHECKPOINT:
        guard = " in a reentrant checkpoint that is given nothing that requires grad"
    elif event.guard is not None and event.guard.is_engine:
        recording = "torch.enable_grad()" if facts.language == "python" else "torch::AutoGradMode(true)"
        guard = f" in `{event.guard.name}` outside `{recording}`"
    if event.kind is not EventKind.BACKWARD_IN_INFERENCE:
        subject = f"`{event.variable}`" if event.variable else "what is differentiated"
        computed = f"{subject} was computed{guard}, where nothing is recorded"
        return f"{computed}: {event.what}{_raises(event)}{presumption(event)}"
    subject = f"`{event.variable}`" if event.variable else "gradients"
    return f"{subject}{guard}: {event.what}{presumption(event)}"


def recorded_write_message(event: Event, facts: Facts) -> str:
    """What is written where autograd records, and what PyTorch says to that."""
    if event.kind is EventKind.LEAF_WRITTEN:
        what = "a leaf that requires grad"
    else:
        what = f"a view, made under the guard of {_where(event, facts)}" if event.guard is not None else "a view"
    subject = f"`{event.variable}`" if event.variable else "this"
    return f"{subject} is {what}: {event.what}, where autograd records{_raises(event)}{presumption(event)}"


def _where(event: Event, facts: Facts) -> str:
    assert event.guard is not None
    if event.guard.path != facts.path:
        return event.guard.path
    return f"line {facts.row(event.guard.span.start)}"


def _raises(event: Event) -> str:
    said = pytorch_says(event.kind)
    return f'; PyTorch raises "{said}"' if said is not None else ""


def presumption(event: Event) -> str:
    """What was presumed, in brackets; empty where nothing was."""
    return f" ({event.presumed})" if event.presumed else ""
