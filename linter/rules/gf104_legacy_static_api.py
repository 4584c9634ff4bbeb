"""GF104 legacy-static-api: `at::NonVariableTypeMode::is_enabled` and `set_enabled` were removed long ago.

What it flags: calls to the static functions `is_enabled` and `set_enabled` of `at::NonVariableTypeMode`, the
thread-local switch behind `AutoNonVariableTypeMode`. Also calls through an alias, and taking their addresses.

Why it is bad: the struct was removed around PyTorch 1.8, and the code hasn't compiled with any release since. A
bare `set_enabled` was never exception-safe either: nothing switched it back.

Example:

    bool before = at::NonVariableTypeMode::is_enabled();
    at::NonVariableTypeMode::set_enabled(true);

Use instead: a guard with a scope, chosen as for GF101. To query the state, use `c10::InferenceMode::is_enabled()`,
or `c10::impl::tls_is_dispatch_keyset_excluded(c10::autograd_dispatch_keyset)` for exactly what the old call
returned.

Fix: display only. A switch that is set in one place and reset in another has no scope for a guard.

Not flagged: functions with these names in other classes, and in another library's class of that name.

Limits: where a function's address is taken, that place is found, and not the calls through the pointer.

References: ATen/core/LegacyTypeDispatch.h; c10/core/impl/LocalDispatchKeySet.h of torch 2.13.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..analysis.ownership import is_another_librarys, is_qualified
from ..analysis.project import Project
from ..facts import Facts, Form, GuardUse
from ..facts.expressions import last_name
from ..findings import Applicability, Finding
from ..guards import deprecated_guards
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF104",
    "legacy-static-api",
    group=RuleGroup.DEPRECATED,
    since="0.1.0",
    fix=RuleFix(Applicability.DISPLAY),
    guards=deprecated_guards,
    keeps_results=True,
)


@RULE.check_use
def static_calls(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    if use.guard != guards.LEGACY_API or use.form is not Form.STATIC_CALL:
        return
    if use.alias is None and not is_qualified(use) and is_another_librarys(use, facts, project):
        return
    method = last_name(use.named)
    if method == "is_enabled":
        message = (
            f"{use.written} was removed from PyTorch; query c10::InferenceMode::is_enabled() or "
            "the excluded key set instead"
        )
        yield RULE.at(facts, use.type_span, message, use=use)
    elif method == "set_enabled":
        message = f"{use.written} was removed from PyTorch; use a guard, whose scope restores the state"
        yield RULE.at(facts, use.type_span, message, use=use)
