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

from .. import guards
from ..analysis.project import Project
from ..facts import Facts
from ..findings import Finding, Severity
from ..guards import Effect, guards_with
from ..rule import Rule

RULE = Rule(
    "GF502",
    "inference-backward",
    severity=Severity.ERROR,
    languages=("python",),
    odd_uses_only=True,
    guards=guards_with(Effect.INFERENCE),
)


@RULE.check_file
def gradients(facts: Facts, project: Project) -> Iterator[Finding]:
    python = facts.python
    if python is None:
        return
    for call in python.gradient_calls:
        use = python.uses[call.use].use
        if use.guard in guards.UNDER_INFERENCE or use.guard == guards.C_INFERENCE_MODE:
            row = facts.row(use.span.start)
            message = f"`{call.what}` under `{use.written}` of line {row}: no gradients are recorded here"
            yield RULE.at(facts, call.span, message, use=use)
