"""GF304 guard-in-function-backward: a guard in `backward` blocks higher-order gradients.

What it flags: `AutoDispatchBelowADInplaceOrView` or `AutoDispatchBelowAutograd` in the `backward` of a
`torch::autograd::Function`. Also `NoGradGuard`, `AutoGradMode(false)` and `InferenceMode` there, if what `backward`
returns is computed under the guard, by operators or ops of PyTorch, from the incoming gradients or the saved tensors.
In Python `with torch.no_grad():` and `inference_mode()`, and the decorators, in the `backward` of a
`torch.autograd.Function`.

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

Not flagged: `forward`; functions that are only called from `backward`; `at::AutoNonVariableTypeMode`, for which GF101
says `remove`; guards that switch grad mode off where `backward` only calls kernels of its own, which autograd wouldn't
record, turns grad mode on again, or raises an error for those who ask for more, or whose name or comment says that it
can be differentiated once (`@once_differentiable`); guards that are declared to be meant (`// guardfix: kernel`).

Limits: only local guards in `backward` itself are looked at, not those of functions that it calls, and none that a
macro makes.

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
from ..analysis.ownership import is_gradient_guard
from ..analysis.project import Project
from ..analysis.thread_starters import is_in_parallel_region
from ..facts import Facts, Form, GuardUse
from ..findings import Applicability, Finding
from ..flow.events import Event, EventKind
from ..flow.project_events import use_of
from ..guards import Effect, guards_with
from ..lazy_regex import lazy_regex
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF304",
    "guard-in-function-backward",
    group=RuleGroup.SILENTLY_WRONG,
    since="0.1.0",
    fix=RuleFix(Applicability.UNSAFE),
    languages=("cpp", "python"),
    guards=guards_with(Effect.BELOW_AUTOGRAD, Effect.BELOW_ADINPLACEORVIEW, Effect.GRAD_MODE, Effect.INFERENCE),
    odd_uses_only=True,
    needles_in={"python": (b"def backward(ctx",)},
    shape=rb"def backward\(ctx(?:[^\n]*\n){1,80}?[^\n]*(?:no_grad|inference_mode|set_grad_enabled)\(",
)


_MEANT = lazy_regex(r"(?i)once|twice|double|second|higher|first_?order")
"""In the name of a guard or a comment about it: its author knows what is lost."""


@RULE.check_use
def kernel_guards(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    if use.guard in (guards.BELOW_AUTOGRAD, guards.BELOW_ADINPLACEORVIEW) and _counts(use, facts, project):
        yield RULE.at(facts, use.type_span, _message(use), use=use)


@RULE.check_event(EventKind.HIGHER_ORDER_LOST)
def lost(event: Event, facts: Facts, project: Project) -> Iterator[Finding]:
    use = use_of(event, facts)
    if use is None or not switches_grad_off(use):
        return
    is_python = facts.language == "python"  # where PyTorch's classes are known by their imports
    if is_declared_for_kernels(use, facts, project) if is_python else not _counts(use, facts, project):
        return
    if not any(_MEANT.search(told) for told in (use.variable or "", *(comment.text for comment in use.comments))):
        yield RULE.at_event(event, facts, project, _message(use), span=use.type_span)


def _counts(use: GuardUse, facts: Facts, project: Project) -> bool:
    """Whether a guard is in a function's `backward` and is on there."""
    return (
        use.macro is None
        and use.form in (Form.DECLARATION, Form.AUTO)
        and any(project.autograd_method(facts, one) == "backward" for one in facts.enclosing(use.function))
        and not is_declared_for_kernels(use, facts, project)
        and is_gradient_guard(use, facts, project)
        and not is_in_parallel_region(use, facts)
    )


def _message(use: GuardUse) -> str:
    return f"{use.guard} in `backward` keeps autograd from recording, so there are no higher-order gradients"
