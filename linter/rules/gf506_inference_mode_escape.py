"""GF506 inference-mode-escape: a tensor made under `InferenceMode` is modified after its scope.

What it flags: a tensor that is made under `InferenceMode` and is outside the mode modified in place (also by an `_out`
function, an index, through a view), given `requires_grad`, saved for backward, or given to a parameter by `set_data`.
guardfix runs the functions on abstract tensors and follows them through calls, lambdas, structs and members; the
finding lists the steps.

Why it is bad: the tensor stays an inference tensor for good. Outside the mode it has no version counter, and each
of these raises an error: "Inplace update to inference tensor outside InferenceMode is not allowed" (the data is
changed nevertheless), "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed",
"Inference tensors cannot be saved for backward".

Example:

    torch::Tensor output;
    {
      c10::InferenceMode guard;
      output = model->forward(input);
    }
    output.add_(1);

Use instead: a copy, which is an ordinary tensor, or `torch::NoGradGuard`, which makes ordinary tensors:

    output = output.clone();
    output.add_(1);

Fix: display only. You have to choose between making a copy and moving the work into the scope.

Not flagged: a variable that gets another value in between; code that can't be reached from the end of the scope:
the other branch, code after a `return`, and, if the scope is conditional, work under a different condition; results
of `clone()`, `detach()` or an op; lists, numbers and other libraries' types; code that asks `is_inference()`;
views and aliases of ordinary tensors; work under a second `InferenceMode`; `InferenceMode` with `false` or a
run-time flag; calls that a test expects to throw.

Limits: what comes from functions that aren't read is unknown, and nothing is said about it.

When not to use it: always use it: what is flagged raises an error whenever it is reached. If the scope is
conditional, the error is as well.

Seen in public code: the limitation is documented in the notes below, and the error messages are PyTorch's.

References: https://pytorch.org/cppdocs/notes/inference_mode.html ("Inference tensors"); c10/core/TensorImpl.h.
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
    "GF506",
    "inference-mode-escape",
    group=RuleGroup.RAISES,
    since="0.1.0",
    fix=RuleFix(Applicability.DISPLAY),
    guards=guards_with(Effect.INFERENCE),
)


@RULE.check_event(*ESCAPES)
def escapes(event: Event, facts: Facts, project: Project) -> Iterator[Finding]:
    yield RULE.at_event(event, facts, project, escape_message(event, facts))
