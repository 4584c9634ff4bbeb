"""GF101 legacy-guard: `AutoNonVariableTypeMode` is deprecated; its replacement depends on the context.

What it flags: every use of the guard class `at::AutoNonVariableTypeMode`, in any form: a local variable, a member,
a base class, a temporary, on the heap, in an alias, in a macro. Also uses of the same class where a Python module
binds it: as a context manager, as a decorator, or as an object that is kept.

Why it is bad: the class has been deprecated since PyTorch 1.9. It warns once at run time, but never at compile
time. Around an inference workload it can cause silently wrong gradients: before 1.9 it hid version counter bumps,
so a tensor saved for backward could be modified unnoticed. Since 1.9 it hides only the Autograd keys, so code that
relied on the old meaning now behaves differently.

Example:

    torch::jit::Module module = torch::jit::load(path);
    at::AutoNonVariableTypeMode guard(true);
    auto output = module.forward(inputs);

Use instead: depending on the context,

    inference        c10::InferenceMode                    a model is loaded and run
    kernel           at::AutoDispatchBelowADInplaceOrView  the code runs as an autograd kernel and redispatches
    below_autograd   at::AutoDispatchBelowAutograd         the autograd kernel of an in-place or view op
    remove           nothing                               the guard covers nothing, or is in `backward`
    unknown          nothing                               the evidence is missing or contradictory: decide yourself

In Python the first three are `torch.inference_mode()`, `torch._C._AutoDispatchBelowADInplaceOrView()` and
`torch._C._AutoDispatchBelowAutograd()`.

Fix: safe if the confidence is high and the meaning is kept. Otherwise unsafe, and the message names the hazard and
how to avoid it. There is no fix for an unknown context, unless you say what the guard is for: in a comment
(`// guardfix: kernel`), in the configuration (`[tool.guardfix.intent]`), or with `migrate --interactive` or
`--preserve`.

Not flagged: comments, strings, the definition of the class itself, another library's class of the same name, a
guard in one branch of an `#if` whose other branch already has a new guard in its place (the `#if` is a version
condition, or the guards are in the same function or have the same name), and code under `#if 0`.

Limits: a name that a macro pastes together isn't seen. The context is decided from the files that are read: callers and
registrations elsewhere don't count.

References: https://pytorch.org/cppdocs/notes/inference_mode.html (migration guide);
ATen/core/LegacyTypeDispatch.h and c10/core/InferenceMode.h of torch 2.13.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .. import guards
from ..analysis.ownership import is_another_librarys
from ..analysis.project import Project
from ..analysis.version_gates import has_new_counterpart
from ..decision import decide, is_hardly_decided, open_questions
from ..facts import Facts, Form, GuardUse
from ..facts.expressions import first_name, is_unqualified
from ..facts.python_uses import use_behind
from ..findings import Applicability, Context, Decision, Finding
from ..frontends.frontend import frontend_named
from ..guards import deprecated_guards
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF101",
    "legacy-guard",
    group=RuleGroup.DEPRECATED,
    since="0.1.0",
    fix=RuleFix(Applicability.SAFE),
    languages=("cpp", "python"),
    guards=deprecated_guards,
    keeps_results=True,
)

_WHY = {
    Context.INFERENCE: "an inference workload",
    Context.KERNEL: "code that runs as a kernel below autograd",
    Context.BELOW_AUTOGRAD: "an in-place, view or factory kernel that must keep version counting and view tracking",
}


@RULE.asks
def users(facts: Facts, project: Project) -> Iterable[str]:
    """What registers, calls or holds the code around a use may be in another file."""
    for use in facts.guard_uses:
        if use.guard == guards.LEGACY:
            yield from open_questions(use, facts, project)


@RULE.leaves_open
def undecided(facts: Facts, project: Project) -> Iterator[GuardUse]:
    """What the functions do that are called below a use, and what the project is about, can settle what is unclear."""
    for use in facts.guard_uses:
        if use.guard == guards.LEGACY and is_hardly_decided(use, facts, project):
            yield use


@RULE.check_use
def legacy_guards(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    if use.guard != guards.LEGACY or has_new_counterpart(use, facts, project):
        return
    if frontend_named(facts.language).resolves_imports:
        if (use.form is Form.IMPORT and is_used(use, facts)) or _is_a_python_class(use, facts, project):
            return
    elif use.alias is None and is_unqualified(use.named) and is_another_librarys(use, facts, project):
        return
    decision = decide(use, facts, project)
    yield RULE.at(facts, use.type_span, message_for(decision), use=use, decision=decision)


def message_for(decision: Decision) -> str:
    """What the finding says: the replacement and for what."""
    if decision.context is Context.UNKNOWN:
        return f"{guards.LEGACY} is deprecated; the code doesn't show what should replace it here"
    if decision.context is Context.REMOVE:
        return f"{guards.LEGACY} is deprecated and does nothing useful here; remove it"
    return f"{guards.LEGACY} is deprecated; use {decision.replacement} for {_WHY[decision.context]}"


def is_used(use: GuardUse, facts: Facts) -> bool:
    """Whether a name that an import brings is used in the file: then the uses are reported."""
    return any(
        other.form is not Form.IMPORT and first_name(other.named) == use.variable
        for other in facts.guard_uses
        if other.guard == guards.LEGACY
    )


def _is_a_python_class(use: GuardUse, facts: Facts, project: Project) -> bool:
    """Whether the name means a class that the project itself writes in Python."""
    if any(class_.name == guards.LEGACY for class_ in facts.classes):
        return True
    found = use_behind(facts, use)
    module = found.origin.rpartition(".")[0].rpartition(".")[2] if found is not None else ""
    stems = {
        where.path.replace("\\", "/").removesuffix("/__init__.py").removesuffix(".py").rpartition("/")[2]
        for where, _ in project.defined_elsewhere(guards.LEGACY, facts.language)
    }
    return module in stems
