"""GF506 inference-escape: a tensor made under `InferenceMode` is changed behind its scope.

What it flags: a variable that is declared above an `InferenceMode` scope, given a new tensor inside it, and, below the
scope in the same function, changed in place, given `requires_grad`, or saved for backward.

Why it is bad: the tensor is an inference tensor for ever. Outside the mode it has no version counter, and each of these
raises: "Inplace update to inference tensor outside InferenceMode is not allowed" (the data is changed all the same),
"Setting requires_grad=True on inference tensor outside InferenceMode is not allowed", "Inference tensors cannot be
saved for backward".

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

Fix: display only. Whether the copy is wanted, or the work belongs into the scope, is a choice.

Not flagged: a variable that is given another value in between; what the end of the scope surely does not lead to: the
other branch, code behind a `return`, and, where the scope depends on a condition, work that depends on another one;
what `clone()`, `detach()` or an op gives; lists, numbers and other libraries' types; functions that ask
`is_inference()`; views and aliases of ordinary tensors; work under a second `InferenceMode`; `InferenceMode` with
`false` or a run-time flag; results that leave through a return value (the fix of GF101 looks at those); calls that a
test expects to throw.

When not to use it: there is no such place: what is flagged raises whenever it is reached. Where the scope is reached
under a condition only, the error comes under that condition only.

Seen in public code: the limitation is documented in the notes below; the errors' texts are PyTorch's.

References: https://pytorch.org/cppdocs/notes/inference_mode.html ("Inference tensors"); c10/core/TensorImpl.h.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.coverage import is_inference_scope
from ..analysis.inference_escapes import escapes_in_function
from ..analysis.ownership import is_gradient_guard
from ..analysis.project import Project
from ..facts import Facts, GuardUse
from ..findings import Finding
from ..guards import Effect, guards_with
from ..rule import Rule

RULE = Rule("GF506", "inference-escape", guards=guards_with(Effect.INFERENCE))


@RULE.check_use
def escapes(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    if not is_inference_scope(use) or not is_gradient_guard(use, facts, project):
        return
    for hazard in escapes_in_function(use, facts):
        row = facts.row(use.span.start)
        message = (
            f"`{hazard.variable}` is an inference tensor, made under the InferenceMode of line {row}; "
            f"here it is {hazard.what}, which raises; clone it first, or make it under NoGradGuard"
        )
        yield RULE.at(facts, hazard.span, message, use=use, variable=hazard.variable)
