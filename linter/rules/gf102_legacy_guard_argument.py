"""GF102 legacy-guard-argument: `AutoNonVariableTypeMode` is given `false` or a run-time value.

What it flags: a use of the old guard whose constructor argument is `false`, or is not a constant.

Why it is bad: the constructor asserts that its argument is true. With `false` the program stops with an
internal assert; with a run-time value it stops when the value is false. The guard was never a switch.

Example:

    void run(bool inference) {
      at::AutoNonVariableTypeMode guard(inference);

Use instead: a switch that can be off, such as `c10::InferenceMode guard(inference);`, or no guard at all.

Fix: none. What the author meant by `false` is not in the code.

Not flagged: no argument; `true`, also as `(true)`, `!false`, `bool{true}` or a constexpr of the same file.

References: ATen/core/LegacyTypeDispatch.h of torch 2.13 (the constructor's TORCH_INTERNAL_ASSERT).
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..facts import Facts, Form, GuardUse
from ..findings import Finding, Severity
from ..gates import has_new_counterpart
from ..prefilter import LEGACY_NEEDLES
from ..project import Project
from ..rule import Rule

RULE = Rule("GF102", "legacy-guard-argument", severity=Severity.ERROR, needles=LEGACY_NEEDLES)

_CONSTRUCTED = (Form.DECLARATION, Form.AUTO, Form.MEMBER, Form.TEMPORARY, Form.HEAP, Form.STATIC, Form.GLOBAL)


@RULE.check_use
def arguments(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    argument = use.argument
    if use.guard != guards.LEGACY or use.form not in _CONSTRUCTED or argument is None or argument.empty:
        return
    if argument.value is True or has_new_counterpart(use, facts, project):
        return
    if argument.value is False:
        message = f"{guards.LEGACY} cannot be constructed with false: its constructor asserts that the argument is true"
    else:
        message = f"{guards.LEGACY} is no switch: its constructor asserts that `{argument.text.strip('(){} ')}` is true"
    yield RULE.at(facts, argument.span, message, use=use)
