"""GF301 kernel-guard-in-user-code: a guard made for kernels is used in a program that runs a model.

What it flags: `at::AutoDispatchBelowADInplaceOrView` and `at::AutoDispatchBelowAutograd` in `main` or in code that
loads or runs a model, if there is no evidence that the code runs as a kernel.

Why it is bad: these guards hide dispatch keys; they don't switch the grad mode. `AutoDispatchBelowADInplaceOrView`
also hides version counters and view tracking: a tensor saved for backward can be modified unnoticed, and the
gradient is silently wrong. This is the most common wrong migration of `AutoNonVariableTypeMode`, because the
deprecation message names this guard first.

Example:

    int main(int argc, char* argv[]) {
      at::AutoDispatchBelowADInplaceOrView guard;
      auto module = torch::jit::load(argv[1]);
      auto output = module.forward(inputs);

Use instead:

    int main(int argc, char* argv[]) {
      c10::InferenceMode guard;
      auto module = torch::jit::load(argv[1]);
      auto output = module.forward(inputs);

Fix: unsafe. `c10::InferenceMode` raises an error where the kernel guard computed something wrong. The message names
the places in sight where an inference tensor would raise.

Not flagged: kernels: code registered with the dispatcher in any file, methods of autograd Functions, code that
redispatches or builds the autograd graph; tests; anything with evidence for both sides; guards that a comment
(`// guardfix: kernel`, `preserve`) or the configuration declares to be meant.

Limits: only local guards are looked at, in `main` or in functions that load or run a model themselves. What their
callers do isn't enough.

When not to use it: a function that is a kernel but is registered in a way that guardfix can't see (a macro, another
library's registry). Suppress the line.

Seen in public code: a reviewer of https://github.com/pytorch/vision/pull/3897 asked for InferenceMode instead. The
note in PyTorch's header gives the silently wrong gradient as its example.

References: ATen/core/LegacyTypeDispatch.h of torch 2.13 (notes on the two guards);
https://pytorch.org/cppdocs/notes/inference_mode.html.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .. import guards
from ..analysis.coverage import is_in_test
from ..analysis.model_runs import runs_or_loads
from ..analysis.ownership import is_gradient_guard
from ..analysis.project import Project
from ..decision import decide, open_questions
from ..decision.signals.inference_signals import in_program
from ..facts import Facts, Form, Function, GuardUse
from ..facts.expressions import last_name
from ..facts.index import all_calls_where
from ..findings import Applicability, Confidence, Context, Decision, Evidence, Finding, Side
from ..guards import Effect, guards_with
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF301",
    "kernel-guard-in-user-code",
    group=RuleGroup.SILENTLY_WRONG,
    since="0.1.0",
    fix=RuleFix(Applicability.UNSAFE),
    guards=guards_with(Effect.BELOW_AUTOGRAD, Effect.BELOW_ADINPLACEORVIEW),
    keeps_results=True,
)

_GUARDS = (guards.BELOW_AUTOGRAD, guards.BELOW_ADINPLACEORVIEW)
_REGISTERS = frozenset({"impl", "def", "op", "kernel", "fallback", "TORCH_FN", "CppFunction", "catchAllKernel"})


@RULE.asks
def users(facts: Facts, project: Project) -> Iterable[str]:
    """A function that looks like a program may be registered as a kernel in another file."""
    for use in facts.guard_uses:
        if _is_candidate(use, facts, project) and _user_code(use, facts, project) is not None:
            yield from open_questions(use, facts, project)


@RULE.check_use
def kernel_guards(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    if not _is_candidate(use, facts, project):
        return
    decision = _user_code(use, facts, project)
    if decision is None:
        return
    harm = "autograd can miss changes to tensors, which gives silently wrong gradients"
    if use.guard == guards.BELOW_AUTOGRAD:
        harm = "it hides dispatch keys but doesn't turn off grad mode, so tensors keep autograd's bookkeeping"
    yield RULE.at(
        facts,
        use.type_span,
        f"{use.guard} is made for kernels, and this is {_what(decision)}: {harm}; use c10::InferenceMode",
        use=use,
        decision=decision,
    )


def _is_candidate(use: GuardUse, facts: Facts, project: Project) -> bool:
    return (
        use.guard in _GUARDS
        and use.form in (Form.DECLARATION, Form.AUTO)
        and use.function is not None
        and use.macro is None
        and is_gradient_guard(use, facts, project)
    )


def _user_code(use: GuardUse, facts: Facts, project: Project) -> Decision | None:
    """The decision for inference, when nothing at all speaks for a kernel."""
    if not looks_like_user_code(use, facts):
        return None
    program = _program(use, facts)
    decision = decide(use, facts, project)
    if any(reason.side in (Side.KERNEL, Side.BELOW_AUTOGRAD) for reason in decision.evidence):
        return None
    if (
        decision.context is Context.INFERENCE
        and decision.confidence is not Confidence.LOW
        and _works_with_a_model(use, facts)
    ):
        return decision
    if program is None or decision.context not in (Context.UNKNOWN, Context.INFERENCE):
        return None
    reason = Evidence(
        "is in `main`, which isn't a kernel",
        facts.path,
        program.span.start,
        facts.row(program.span.start),
        Side.INFERENCE,
        in_program.name,
    )
    others = tuple(other for other in decision.evidence if other.signal != in_program.name)
    return Decision(Context.INFERENCE, f"c10::{guards.INFERENCE_MODE}", Confidence.MEDIUM, (reason, *others))


def looks_like_user_code(use: GuardUse, facts: Facts) -> bool:
    """Whether the guard is in a program, or in code that works with a model, and not in a test."""
    if use.function is None or is_in_test(use.function, facts):
        return False
    return _program(use, facts) is not None or _works_with_a_model(use, facts)


def _works_with_a_model(use: GuardUse, facts: Facts) -> bool:
    """Whether the function itself loads or runs a model: what its callers do is not enough."""
    body = facts.enclosing(use.function)[-1].body
    return all_calls_where(facts, runs_or_loads).first(body) is not None


def _program(use: GuardUse, facts: Facts) -> Function | None:
    """`main`, if the guard is in it and not in a lambda that it registers as a kernel."""
    chain = facts.enclosing(use.function)
    if any(function.is_lambda and last_name(function.passed_to) in _REGISTERS for function in chain):
        return None
    return chain[-1] if chain and chain[-1].name == "main" and chain[-1].class_ is None else None


def _what(decision: Decision) -> str:
    first = next((reason for reason in decision.evidence if reason.side is Side.INFERENCE), None)
    return "a standalone program" if first is not None and first.signal == in_program.name else "an inference workload"
