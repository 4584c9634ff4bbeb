"""GF304 guard-in-function-backward: a dispatch guard in `backward` blocks higher-order gradients.

What it flags: `AutoDispatchBelowADInplaceOrView` or `AutoDispatchBelowAutograd` in the `backward` of a
`torch::autograd::Function`.

Why it is bad: with `create_graph=True`, autograd records what `backward` does so that it can be differentiated
again. Under the guard nothing is recorded: the second derivative is missing or wrong, without an error. Without
`create_graph`, grad mode is off in `backward` anyway, and the guard has no effect.

Example:

    static variable_list backward(AutogradContext* ctx, variable_list grads) {
      at::AutoDispatchBelowADInplaceOrView guard;
      return {grads[0] * ctx->saved_data["factor"].toDouble()};
    }

Use instead: no guard. If the gradient can't be differentiated, raise an error that says so, as the
`torch::autograd::Function`s of torchvision do.

Fix: unsafe. The guard is removed, so that autograd records what `backward` calls.

Not flagged: `forward`; functions that are only called from `backward`; `at::AutoNonVariableTypeMode`, for which
GF101 says `remove`; `NoGradGuard`, which makes the intention clear; guards that are declared to be meant
(`// guardfix: kernel`).

When not to use it: a `backward` that is deliberately not differentiable and says so.

Seen in public code: torchaudio's lfilter had such a guard; kernels of Intel's extension for PyTorch have one in the
`backward` of cumsum and of EmbeddingBag.

References: torch/csrc/autograd/custom_function.h of torch 2.13; the double backward tutorial,
https://pytorch.org/tutorials/intermediate/custom_function_double_backward_tutorial.html.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..analysis.declared_purposes import is_declared_for_kernels
from ..analysis.ownership import is_gradient_guard
from ..analysis.parallel_regions import is_in_parallel_region
from ..analysis.project import Project
from ..facts import Facts, Form, GuardUse
from ..findings import Finding
from ..guards import Effect, guards_with
from ..rule import Rule

RULE = Rule(
    "GF304",
    "guard-in-function-backward",
    guards=guards_with(Effect.BELOW_AUTOGRAD, Effect.BELOW_ADINPLACEORVIEW),
)


@RULE.check_use
def guards_in_backward(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    if use.guard not in (guards.BELOW_AUTOGRAD, guards.BELOW_ADINPLACEORVIEW) or use.macro is not None:
        return
    if is_declared_for_kernels(use, facts, project):
        return
    if use.form not in (Form.DECLARATION, Form.AUTO) or not is_gradient_guard(use, facts, project):
        return
    if is_in_parallel_region(use, facts):
        return
    for function in facts.enclosing(use.function):
        if project.autograd_method(facts, function) == "backward":
            message = f"{use.guard} in `backward` keeps autograd from recording, so there are no higher-order gradients"
            yield RULE.at(facts, use.type_span, message, use=use)
            return
