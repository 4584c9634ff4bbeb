"""GF502 inference-backward: gradients are asked for where none were recorded, or an optimizer steps in inference mode.

What it flags: `.backward()`, `torch.autograd.grad` or `torch.autograd.backward` of what was computed under
`torch.inference_mode()`, `no_grad()` or `set_grad_enabled(False)`, wherever that stands: around the code, above the
function, in a caller, in the generator that a loop steps. So do `torch.autograd.grad` and `backward` in an autograd
function's own `forward` or `backward`, which PyTorch runs without recording. `register_hook` and `retain_grad` on such
a tensor raise as well. So does a reentrant checkpoint that is given nothing that requires grad; `torch.func.grad` of a
function that is itself under a guard gives zeros. Also steps by hand that lose the parameter: `p = p - lr * p.grad` of
a loop's variable, or of an attribute. Under inference mode also the gradients of a graph from outside, and an
optimizer's `.step()`. The finding lists the steps.

Why it is bad: nothing computed under these guards is recorded, so `backward` raises `element 0 of tensors does not
require grad and does not have a grad_fn`. A graph built earlier can be differentiated, but under inference mode the new
`.grad` is an inference tensor, and so is the state that an optimizer creates: the next step outside raises.

Example:

    @torch.inference_mode()
    def train_step(batch):
        loss = model(batch).sum()
        loss.backward()
        optimizer.step()

Use instead: no guard around training code; inside an autograd function, `with torch.enable_grad():` around what is
recomputed.

Fix: none.

Not flagged: code inside `torch.enable_grad()`, `inference_mode(False)` or `inference_mode(flag)`; the `backward()` of
a graph from outside under `no_grad`, which is right; functions that are defined but not run inside the block;
schedulers; tests that expect the error (`with pytest.raises(…):`).

Limits: what comes from code that isn't read, such as another package or an extension module, is unknown, and nothing is
said about it.

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
from ..rule_names import RuleGroup

RULE = Rule(
    "GF502",
    "inference-backward",
    group=RuleGroup.RAISES,
    since="0.1.0",
    severity=Severity.ERROR,
    languages=("python",),
    odd_uses_only=True,
    guards=guards_with(Effect.INFERENCE, Effect.GRAD_MODE),
    needles=(b"autograd.grad(", b"autograd.backward(", b"use_reentrant=True"),
)


@RULE.check_event(*GRADIENTS)
def gradients(event: Event, facts: Facts, project: Project) -> Iterator[Finding]:
    yield RULE.at_event(event, facts, project, gradient_message(event, facts))
