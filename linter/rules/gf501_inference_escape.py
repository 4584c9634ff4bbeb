"""GF501 inference-escape: a tensor made under inference mode is later used in a way that inference tensors don't allow.

What it flags: in one function, a tensor that is made inside `with torch.inference_mode():` and, after the block,
modified in place, made to require gradients, or used in a loss that is differentiated. The block may also be that of an
`ExitStack` behind `enter_context(torch.inference_mode())`, or of a context manager of the project's own, in any file,
that enters inference mode; what such a one makes and hands out (`as features`) counts as well.

Why it is bad: such a tensor stays an inference tensor for good. Outside inference mode PyTorch raises `Inplace
update to inference tensor outside InferenceMode is not allowed` (after it has changed the data), `Setting
requires_grad=True on inference tensor outside InferenceMode is not allowed`, or `Inference tensors cannot be saved
for backward`.

Example:

    with torch.inference_mode():
        targets = teacher(batch)
    loss = criterion(student(batch), targets)
    loss.backward()

Use instead: `torch.no_grad()` for tensors that are used in training later, or `targets.clone()` after the block.

Fix: display only. Both solutions have a cost, and which one is right depends on what else the block does.

Not flagged: tensors that are reassigned or cloned after the block, results of `.item()`, `.tolist()` and
`.numpy()`, views of tensors from outside the block, `inference_mode(flag)`; tests that expect the error (`with
pytest.raises(…):`); context managers that enter it under a condition.

References: https://docs.pytorch.org/docs/stable/notes/autograd.html (inference mode); RFC-0011.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.project import Project
from ..decision.event_words import ESCAPES, escape_message
from ..facts import Facts
from ..findings import Finding
from ..flow.events import Event
from ..guards import Effect, guards_with
from ..rule import Rule

RULE = Rule(
    "GF501",
    "inference-escape",
    languages=("python",),
    odd_uses_only=True,
    guards=guards_with(Effect.INFERENCE),
)


@RULE.check_event(*ESCAPES)
def escapes(event: Event, facts: Facts, project: Project) -> Iterator[Finding]:
    if event.cached is None:
        yield RULE.at_event(event, facts, project, escape_message(event, facts))
