"""GF502 inference-backward: gradients are computed, or an optimizer steps, under inference mode.

What it flags: `.backward()`, `torch.autograd.grad`, `torch.autograd.backward` or an optimizer's `.step()` inside a
`with torch.inference_mode():` block or a function decorated with it.

Why it is bad: nothing computed under inference mode records a gradient, so `backward` raises `element 0 of tensors
does not require grad and does not have a grad_fn`. A graph built earlier can be differentiated, but the new `.grad`
is an inference tensor, and so is the state that an optimizer creates: the next step outside raises.

Example:

    @torch.inference_mode()
    def train_step(batch):
        loss = model(batch).sum()
        loss.backward()
        optimizer.step()

Use instead: no guard around training code.

Fix: none.

Not flagged: code inside `torch.inference_mode(False)` or `inference_mode(flag)`; functions that are defined but not
run inside the block; schedulers; tests that expect the error (`with pytest.raises(…):`).

References: https://docs.pytorch.org/docs/stable/notes/autograd.html (inference mode).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.project import Project
from ..decision.event_words import GRADIENTS, gradient_message
from ..facts import Facts
from ..findings import Finding, Severity
from ..flow.events import Event
from ..guards import Effect, guards_with
from ..rule import Rule

RULE = Rule(
    "GF502",
    "inference-backward",
    severity=Severity.ERROR,
    languages=("python",),
    odd_uses_only=True,
    guards=guards_with(Effect.INFERENCE, Effect.GRAD_MODE),
)


@RULE.check_event(*GRADIENTS)
def gradients(event: Event, facts: Facts, project: Project) -> Iterator[Finding]:
    yield RULE.at_event(event, facts, project, gradient_message(event, facts))
