"""GF302 redundant-guard-in-function-forward: `forward` of an autograd Function doesn't need a dispatch guard here.

What it flags: `AutoDispatchBelowADInplaceOrView` or `AutoDispatchBelowAutograd` in the `forward` of a
`torch::autograd::Function`, if everything called below the guard is defined in the same file and calls no op by its
schema.

Why it is bad: `Function<T>::apply` turns off grad mode around `forward`, so the guard only hides keys from ops that
wouldn't record anything.

Example:

    at::Tensor scale_cpu(const at::Tensor& input) { return at::empty_like(input); }

    static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input) {
      at::AutoDispatchBelowADInplaceOrView guard;
      return scale_cpu(input);
    }

Use instead:

    at::Tensor scale_cpu(const at::Tensor& input) { return at::empty_like(input); }

    static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input) {
      return scale_cpu(input);
    }

Fix: unsafe. The guard is removed. If the op were called through the dispatcher after all, it would recurse
infinitely.

Not flagged: a `forward` that calls the dispatcher, an op of `at::` or `torch::`, a method, or any function whose
body isn't in the file; guards that are declared to be meant (`// guardfix: kernel`).

Limits: functions that a header or another file defines aren't looked into, so nothing is said about a `forward` that
calls them.

Off by default: within one file, guardfix can't be sure that nothing below the guard calls the dispatcher.

When not to use it: where the called functions may be registered as ops one day.

Seen in public code: https://github.com/pytorch/audio/pull/1583 dropped the guard from `forward` after review.

References: torch/csrc/autograd/custom_function.h of torch 2.13 (`AutoGradMode grad_mode(false)` around `forward`).
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..analysis.declared_purposes import is_declared_for_kernels
from ..analysis.dispatcher_bypass import bypasses_dispatcher
from ..analysis.ownership import is_gradient_guard
from ..analysis.project import Project
from ..facts import Facts, Form, GuardUse
from ..findings import Applicability, Finding
from ..guards import Effect, guards_with
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF302",
    "redundant-guard-in-function-forward",
    group=RuleGroup.REDUNDANT,
    since="0.1.0",
    fix=RuleFix(Applicability.UNSAFE),
    guards=guards_with(Effect.BELOW_AUTOGRAD, Effect.BELOW_ADINPLACEORVIEW),
    default=False,
    keeps_results=True,
)


@RULE.check_use
def redundant_guards(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    if is_declared_for_kernels(use, facts, project):
        return
    if not _is_candidate(use, facts, project) or not bypasses_dispatcher(use, facts, project):
        return
    message = (
        f"{use.guard} has no effect here: autograd is off in `forward`, and the called functions bypass the dispatcher"
    )
    yield RULE.at(facts, use.type_span, message, use=use)


def _is_candidate(use: GuardUse, facts: Facts, project: Project) -> bool:
    return (
        use.guard in (guards.BELOW_AUTOGRAD, guards.BELOW_ADINPLACEORVIEW)
        and use.macro is None
        and use.form in (Form.DECLARATION, Form.AUTO)
        and not use.under_error
        and is_gradient_guard(use, facts, project)
        and any(project.autograd_method(facts, function) == "forward" for function in facts.enclosing(use.function))
    )
