"""GF409 override-loses-guard: a method overrides one that the base class guards, and has no guard itself.

What it flags: a method without a guard, if a base class in the project decorates the method that it overrides with
`torch.no_grad()` or `torch.inference_mode()`.

Why it is bad: a decorator belongs to the function below it, and isn't inherited. Who calls the method on an object of
the derived class gets tensors with a graph: memory grows, and in-place changes of what comes back fail.

Example:

    class Model(torch.nn.Module):
        @torch.no_grad()
        def generate(self, x):
            return self.net(x)


    class Chatty(Model):
        def generate(self, x):
            return self.net(x + 1)

Use instead: the decorator above the override as well.

    class Model(torch.nn.Module):
        @torch.no_grad()
        def generate(self, x):
            return self.net(x)


    class Chatty(Model):
        @torch.no_grad()
        def generate(self, x):
            return self.net(x + 1)

Fix: unsafe. The base's decorator is written above the override. If gradients are meant to flow through it, they no
longer do.

Not flagged: overrides that have a guard anywhere, that enter a context manager of the project's own, that call the
method of the base or another guarded method, that compute gradients, or that call nothing; overrides below decorators
that may be guards; generators and coroutines.

Limits: files that name no guard are not read, so an override in such a file isn't seen.

Off by default: an override may be meant to record gradients.

References: https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..analysis.guarded_methods import OverriddenMethod, overridden_methods
from ..analysis.project import Project
from ..facts import Facts
from ..findings import Applicability, Finding, Severity
from ..guards import Guard
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup


def _switches_off(guard: Guard) -> bool:
    return guards.public_guards(guard) and guard.name in (guards.NO_GRAD, guards.PYTHON_INFERENCE_MODE)


RULE = Rule(
    "GF409",
    "override-loses-guard",
    group=RuleGroup.NO_EFFECT,
    since="0.1.0",
    fix=RuleFix(Applicability.UNSAFE),
    severity=Severity.INFO,
    languages=("python",),
    guards=_switches_off,
    default=False,
)


@RULE.check_file
def overrides(facts: Facts, project: Project) -> Iterator[Finding]:
    for found in overridden_methods(facts, project):
        yield RULE.at(facts, found.name_place, _message(found, facts))


def _message(found: OverriddenMethod, facts: Facts) -> str:
    where = "" if found.path == facts.path else f" ({found.path})"
    return (
        f"`{found.method.name}` overrides `{found.base}.{found.method.name}`{where}, which is under `{found.guard}`; "
        "this one isn't"
    )
