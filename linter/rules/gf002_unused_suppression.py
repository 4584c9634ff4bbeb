"""GF002 unused-suppression: a comment silences a rule that has nothing to say there, or that doesn't exist.

What it flags: a `NOLINT` or `noqa` comment that names a guardfix rule, by code, name or group, if no finding of that
rule is in its range, and a comment that names a code such as `GF999` that no rule has.

Why it is bad: the comment says that something is wrong where nothing is. It also hides the next finding there, and a
mistyped code hides nothing at all.

Example:

    at::AutoDispatchBelowADInplaceOrView guard;  // NOLINT(GF101)

Use instead:

    at::AutoDispatchBelowADInplaceOrView guard;

Fix: safe. The code is removed from the comment; a comment that contains nothing else is removed.

Not flagged: comments that name no guardfix rule; comments without codes; codes of rules that are not run, as with
`--select`. Without this rule, unknown codes are still noted on standard error.

Limits: a group, or a code with a `*` that means several rules, is judged only if all of them are run. Comments in
documents aren't looked at.

References: https://docs.astral.sh/ruff/rules/unused-noqa/
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..facts import Facts
from ..findings import Applicability, Finding, Severity
from ..rule import Rule, RuleFix, StaleCodes
from ..rule_names import RuleGroup

RULE = Rule(
    "GF002",
    "unused-suppression",
    group=RuleGroup.GUARDFIX,
    since="0.1.0",
    fix=RuleFix(Applicability.SAFE),
    severity=Severity.INFO,
    languages=("cpp", "python"),
    odd_uses_only=True,
    default=False,
    keeps_results=True,
)


@RULE.check_comments
def stale_comments(facts: Facts, stale: Sequence[StaleCodes]) -> Iterator[Finding]:
    for comment, unused, unknown in stale:
        parts = []
        if unused:
            parts.append(f"nothing to suppress here for {', '.join(unused)}")
        if unknown:
            parts.append(f"no rule is called {' or '.join(unknown)}")
        yield RULE.at(facts, comment.places[0], "; ".join(parts), variable=",".join((*unused, *unknown)))
