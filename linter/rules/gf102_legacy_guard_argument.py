"""GF102 legacy-guard-argument: `AutoNonVariableTypeMode` gets `false` or a run-time value.

What it flags: a use of the old guard whose constructor argument is `false` or not a constant. This includes
arguments that are not next to the type: in a constructor's member initializer (`: guard_(false)`), for a
`std::optional`, in `emplace`.

Why it is bad: the constructor asserts that its argument is true. With `false`, the program stops with an internal
assert; with a run-time value, it stops whenever the value is false. The guard never was a switch.

Example:

    void run(bool inference) {
      at::AutoNonVariableTypeMode guard(inference);

Use instead: a guard that can be off, such as `c10::InferenceMode guard(inference);`, or no guard at all.

Fix: none. The code doesn't say what the author meant by `false`.

Not flagged: no argument; `true`, including `(true)`, `!false`, `bool{true}` and a constexpr of the same file.

Limits: a constant that another file defines counts as a run-time value.

References: ATen/core/LegacyTypeDispatch.h of torch 2.13 (the constructor's TORCH_INTERNAL_ASSERT).
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..analysis.project import Project
from ..analysis.version_gates import has_new_counterpart
from ..facts import Argument, Facts, Form, GuardUse
from ..findings import Finding, Severity
from ..guards import deprecated_guards
from ..rule import Rule
from ..rule_names import RuleGroup

RULE = Rule(
    "GF102",
    "legacy-guard-argument",
    group=RuleGroup.RAISES,
    since="0.1.0",
    severity=Severity.ERROR,
    guards=deprecated_guards,
    keeps_results=True,
)

_CONSTRUCTED = (Form.DECLARATION, Form.AUTO, Form.MEMBER, Form.TEMPORARY, Form.HEAP, Form.STATIC, Form.GLOBAL)


@RULE.check_use
def arguments(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    if use.guard != guards.LEGACY:
        return
    bad = [argument for argument in _given(use) if not argument.empty and argument.value is not True]
    if not bad or has_new_counterpart(use, facts, project):
        return
    for argument in bad:
        if argument.value is False:
            message = (
                f"{guards.LEGACY} cannot be constructed with false: its constructor asserts that the argument is true"
            )
        else:
            shown = ", ".join(map(str, argument.items))
            message = f"{guards.LEGACY} is not a switch: its constructor asserts that `{shown}` is true"
        yield RULE.at(facts, argument.span, message, use=use)


def _given(use: GuardUse) -> Iterator[Argument]:
    """Every argument that the guard's constructor is given."""
    # A base is built by a constructor's initialiser; of other references one with a name declares a function.
    is_base = use.form is Form.REFERENCE and use.variable is None
    if use.argument is not None and (use.form in (*_CONSTRUCTED, Form.OPTIONAL) or is_base):
        yield use.argument
    yield from use.built
