"""GF103 stale-version-gate: a version `#if` sends torch 2 to the branch with the old guard.

What it flags: an `#if` on TORCH_VERSION_MAJOR, _MINOR or _PATCH with the old guard in one branch and a new
guard in another, where torch 2 takes the branch with the old one.

Why it is bad: the gate was written for 1.x. `TORCH_VERSION_MAJOR == 1 && TORCH_VERSION_MINOR >= 10` is false
for every 2.x, so the code that was migrated once is back on the deprecated guard, and nobody is told.

Example:

    #if TORCH_VERSION_MAJOR == 1 && TORCH_VERSION_MINOR >= 10
      c10::InferenceMode guard;
    #else
      at::AutoNonVariableTypeMode guard(true);
    #endif

Use instead:

    #if TORCH_VERSION_MAJOR > 1 || (TORCH_VERSION_MAJOR == 1 && TORCH_VERSION_MINOR >= 10)

Fix: unsafe for a condition of the form `MAJOR == 1 && MINOR >= n` (it changes which code torch 2 runs, which is
the point); none for others.

Not flagged: gates that torch 2 passes rightly, gates on other macros, gates with an unknown value in them.

References: torch/headeronly/version.h of torch 2.13.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import guards
from ..analysis.project import Project
from ..analysis.version_gates import NEW_GUARDS, uses_in
from ..facts import Branch, Facts, Span
from ..facts.version_conditions import TORCH_2, mentions_torch_version, taken_branch
from ..findings import Applicability, Edit, Finding
from ..guards import deprecated_guards
from ..rule import Rule

RULE = Rule("GF103", "stale-version-gate", fix=Applicability.UNSAFE, guards=deprecated_guards)

_ONE_POINT_X = re.compile(
    r"\(?\s*TORCH_VERSION_MAJOR\s*==\s*1\s*\)?\s*&&\s*\(?\s*TORCH_VERSION_MINOR\s*(>=?)\s*(\d+)\s*\)?"
)


@RULE.check_file
def stale_gates(facts: Facts, project: Project) -> Iterator[Finding]:
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
        gate = migrated[0]
        shown = gate.condition or conditional.branches[0].condition
        message = f"torch 2 takes the branch with {guards.LEGACY}: `{shown}` is false for it"
        if not gate.condition:
            message = f"torch 2 takes the branch with {guards.LEGACY}: `{shown}` is true for it"
        yield RULE.at(
            facts,
            gate.directive if gate.condition else conditional.branches[0].directive,
            message,
            edits=_widened(gate),
            fix_message="let torch 2 take the branch with the new guard",
        )


def _widened(gate: Branch) -> list[Edit]:
    """`MAJOR == 1 && MINOR >= n` -> `MAJOR > 1 || (MAJOR == 1 && MINOR >= n)`, where that is the whole condition."""
    match = _ONE_POINT_X.fullmatch(gate.condition.strip())
    if match is None:
        return []
    # The condition stays as it is written, comments and continued lines included.
    start, end = gate.condition_start, gate.directive.end
    return [Edit(Span(start, start), "TORCH_VERSION_MAJOR > 1 || ("), Edit(Span(end, end), ")")]
