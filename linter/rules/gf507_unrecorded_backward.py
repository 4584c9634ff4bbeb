"""GF507 unrecorded-backward: gradients are asked for of what was computed where nothing is recorded.

What it flags: `backward()` and `torch::autograd::grad` of what was computed under an `InferenceMode` that is always
on, a `NoGradGuard`, an `AutoGradMode(false)` or a guard that hides the Autograd keys, in the function or in one that
calls it; `register_hook` and `retain_grad` on it; a member that is given what is made of its own gradient, and so is
no leaf any more; and under `InferenceMode` the gradients of a graph from outside. The finding lists the steps.

Why it is bad: nothing computed under InferenceMode is recorded, so calling `backward()` on it raises "element 0 of
tensors does not require grad and does not have a grad_fn". A graph recorded outside can be differentiated, but a
`.grad` created there is an inference tensor: the next `backward()` outside raises when it accumulates into it.

Example:

    c10::InferenceMode guard;
    auto loss = model->forward(input).sum();
    loss.backward();

Use instead: no `InferenceMode` around what is differentiated. If the mode comes from outside, put
`c10::InferenceMode normal(false);` around it.

Fix: none.

Not flagged: `InferenceMode` with `false` or a run-time flag; code under an inner `InferenceMode(false)`; lambdas
that run elsewhere; `backward()` of an object that isn't declared as a tensor; calls that a test expects to throw.

Limits: what comes from functions that aren't read is unknown, and nothing is said about it.

Level: warning if the differentiated tensor is made in the scope, info if it may come from outside.

When not to use it: where the error is intended, in a form that guardfix doesn't recognize as a test.

Seen in public code: the limitation is documented in the notes below.

References: https://pytorch.org/cppdocs/notes/inference_mode.html; torch/csrc/autograd/engine.cpp.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.cpp_mode_switches import cpp_mode_switches
from ..analysis.project import Project
from ..decision.event_words import GRADIENTS, gradient_message
from ..facts import Facts
from ..findings import Finding
from ..flow.events import Event
from ..guards import ASKS_FOR_GRADIENTS, GRAD_MODE_SETTER, Effect, guards_with
from ..rule import Rule
from ..rule_names import RuleGroup

RULE = Rule(
    "GF507",
    "unrecorded-backward",
    group=RuleGroup.RAISES,
    since="0.1.0",
    guards=guards_with(Effect.INFERENCE, Effect.GRAD_MODE, Effect.BELOW_AUTOGRAD, Effect.BELOW_ADINPLACEORVIEW),
    needles=(ASKS_FOR_GRADIENTS, GRAD_MODE_SETTER.encode()),
)


@RULE.check_event(*GRADIENTS)
def gradients(event: Event, facts: Facts, project: Project) -> Iterator[Finding]:
    if not _is_left_on(event, project):
        yield RULE.at_event(event, facts, project, gradient_message(event, facts))


def _is_left_on(event: Event, project: Project) -> bool:
    """Whether GF408 says where the mode stays off that this comes of."""
    guard = event.guard
    return (
        guard is not None
        and guard.name == GRAD_MODE_SETTER
        and any(
            (guard.span.holds(switch.span) or switch.span.holds(guard.span))
            for switch in cpp_mode_switches(project.files[guard.path])
        )
    )
