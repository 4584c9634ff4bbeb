"""GF304 guard-in-function-backward: a guard in `backward` blocks higher-order gradients.

What it flags: `AutoDispatchBelowADInplaceOrView` or `AutoDispatchBelowAutograd` in the `backward` of a
`torch::autograd::Function`. Also `NoGradGuard`, `AutoGradMode(false)` and `InferenceMode` there, if what `backward`
returns is computed under the guard, by operators or ops of PyTorch, from the incoming gradients or the saved tensors.

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
GF101 says `remove`; guards that switch grad mode off where `backward` only calls kernels of its own, which autograd
wouldn't record, turns grad mode on again, or raises an error for those who ask for more, or whose name or comment says
that it can be differentiated once; guards that are declared to be meant (`// guardfix: kernel`).

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
from ..analysis.grad_switches import switches_grad_off
from ..analysis.lost_gradients import loses_gradients
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
    guards=guards_with(Effect.BELOW_AUTOGRAD, Effect.BELOW_ADINPLACEORVIEW, Effect.GRAD_MODE, Effect.INFERENCE),
)


@RULE.check_use
def guards_in_backward(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    below = use.guard in (guards.BELOW_AUTOGRAD, guards.BELOW_ADINPLACEORVIEW)
    if not (below or switches_grad_off(use)) or use.macro is not None:
        return
    if is_declared_for_kernels(use, facts, project):
        return
    if use.form not in (Form.DECLARATION, Form.AUTO) or not is_gradient_guard(use, facts, project):
        return
    if is_in_parallel_region(use, facts):
        return
    for function in facts.enclosing(use.function):
        if project.autograd_method(facts, function) == "backward":
            if not below and not loses_gradients(use, function, facts):
                return
            message = f"{use.guard} in `backward` keeps autograd from recording, so there are no higher-order gradients"
            yield RULE.at(facts, use.type_span, message, use=use)
            return
