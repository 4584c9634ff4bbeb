"""GF501 inference-escape: a tensor made under inference mode is later used in a way that inference tensors don't allow.

What it flags: a tensor that is made under `torch.inference_mode()` and is outside the mode modified in place (also by
`out=`, an index, through a view), made to require gradients (also by `nn.Parameter`), saved for backward, or given to a
parameter as its data; also one that is asked for its `_version`, in the mode or outside. guardfix runs the program's
functions on abstract tensors and follows them through calls, decorators, context managers, `ExitStack`, attributes,
lists, dicts, hooks and closures, also from one method to another where every write of an attribute that is in sight
makes such a tensor; the finding lists the steps. What is differentiated is what `backward` is called on, and the loss
that a `training_step` or `compute_loss` returns. One thing is presumed and said: that a model which runs under the mode
returns new tensors.

Why it is bad: such a tensor stays an inference tensor for good. Outside inference mode PyTorch raises `Inplace
update to inference tensor outside InferenceMode is not allowed` (after it has changed the data), `Setting
requires_grad=True on inference tensor outside InferenceMode is not allowed`, `Inference tensors cannot be saved for
backward`, or `Inference tensors do not track version counter`.

Example:

    with torch.inference_mode():
        targets = teacher(batch)
    loss = criterion(student(batch), targets)
    loss.backward()

Use instead: `torch.no_grad()` for tensors that are used in training later, or `targets.clone()` after the block.

Fix: display only. Both solutions have a cost, and which one is right depends on what else the block does.

Not flagged: tensors that are reassigned or cloned after the block, or made under an inner `inference_mode(False)`;
results of `.item()`, `.tolist()` and `.numpy()`; views of tensors from outside the block; code that asks
`is_inference()`; modes that a flag or a condition decides, and what happens only if several conditions come together;
`try` blocks that catch RuntimeError, and tests that expect the error (`with pytest.raises(…):`).

Limits: what comes from code that isn't read, such as another package or an extension module, is unknown, and nothing is
said about it, apart from what models return.

References: https://docs.pytorch.org/docs/stable/notes/autograd.html (inference mode); RFC-0011.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.project import Project
from ..decision.event_words import ESCAPES, escape_message
from ..facts import Facts
from ..findings import Applicability, Finding
from ..flow.events import Event
from ..guards import Effect, guards_with
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF501",
    "inference-escape",
    group=RuleGroup.RAISES,
    since="0.1.0",
    fix=RuleFix(Applicability.DISPLAY),
    languages=("python",),
    odd_uses_only=True,
    guards=guards_with(Effect.INFERENCE),
)


@RULE.check_event(*ESCAPES)
def escapes(event: Event, facts: Facts, project: Project) -> Iterator[Finding]:
    if event.cached is None:
        yield RULE.at_event(event, facts, project, escape_message(event, facts))
