"""GF103 stale-version-gate: a version `#if` makes torch 2 use the branch with the old guard.

What it flags: an `#if` on TORCH_VERSION_MAJOR, _MINOR or _PATCH with the old guard in one branch and a new guard in
another, where torch 2 takes the branch with the old one.

Why it is bad: the condition was written for 1.x. `TORCH_VERSION_MAJOR == 1 && TORCH_VERSION_MINOR >= 10` is false
for every 2.x release, so code that was already migrated silently goes back to the deprecated guard.

Example:

    #if TORCH_VERSION_MAJOR == 1 && TORCH_VERSION_MINOR >= 10
      c10::InferenceMode guard;
    #else
      at::AutoNonVariableTypeMode guard(true);
    #endif

Use instead:

    #if TORCH_VERSION_MAJOR > 1 || (TORCH_VERSION_MAJOR == 1 && TORCH_VERSION_MINOR >= 10)

Fix: unsafe for a condition of the form `MAJOR == 1 && MINOR >= n`: it changes which code torch 2 compiles, which is
the point. None for other conditions.

Not flagged: conditions that are right for torch 2, conditions on other macros, conditions that involve an unknown
value.

Limits: each `#if` is judged by itself, for torch 2.13; whether one around it can be true isn't looked at.

References: torch/headeronly/version.h of torch 2.13.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..analysis.project import Project
from ..analysis.version_gates import NEW_GUARDS, uses_in
from ..facts import Branch, Facts, Span
from ..facts.version_conditions import TORCH_2, mentions_torch_version, taken_branch
from ..findings import Applicability, Finding
from ..guards import deprecated_guards
from ..named_tuples import NamedTuple
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF103",
    "stale-version-gate",
    group=RuleGroup.DEPRECATED,
    since="0.1.0",
    fix=RuleFix(Applicability.UNSAFE),
    guards=deprecated_guards,
    keeps_results=True,
)


@RULE.check_file
def stale(facts: Facts, project: Project) -> Iterator[Finding]:
    for gate in stale_gates(facts):
        words = "false" if gate.branch.condition else "true"
        message = f"torch 2 takes the branch with {guards.LEGACY}: `{gate.shown}` is {words} for it"
        yield RULE.at(facts, gate.directive, message)


class StaleGate(NamedTuple):
    """A version gate that keeps torch 2 from its branch with the new guard."""

    branch: Branch
    """The branch with the new guard."""
    directive: Span
    """The place of the condition that decides."""
    shown: str


def stale_gates(facts: Facts) -> Iterator[StaleGate]:
    for conditional in facts.conditionals:
        if not any(mentions_torch_version(branch.condition) for branch in conditional.branches):
            continue
        taken = taken_branch(conditional, TORCH_2)
        if taken is None or not any(use.guard == guards.LEGACY for use in uses_in(taken, facts)):
            continue
        migrated = [
            branch
            for branch in conditional.branches
            if branch is not taken and any(use.guard in NEW_GUARDS for use in uses_in(branch, facts))
        ]
        if not migrated:
            continue
        # If the new guard is in the `#else`, the first condition decides.
        deciding = migrated[0] if migrated[0].condition else conditional.branches[0]
        yield StaleGate(migrated[0], deciding.directive, deciding.condition)
