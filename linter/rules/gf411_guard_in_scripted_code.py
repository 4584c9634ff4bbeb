"""GF411 guard-in-scripted-code: TorchScript drops the guard above a function, or refuses the one inside.

What it flags: `torch.jit.script` of a function that is decorated with a guard, as a decorator above the guard or as a
call; of a module whose `forward`, or a method or function that this calls, is decorated with one. Also
`with torch.inference_mode():`, `with torch.enable_grad():` and `with torch.set_grad_enabled(…):` in what is compiled.

Why it is bad: TorchScript compiles the source of the function below the decorators. The guard is silently dropped, and
the compiled function records gradients. Names are looked up where the decorator's wrapper was defined, in torch's
own module, so that any helper which the function calls is an "undefined value". Of the guards inside TorchScript knows
`no_grad` alone; the others raise `Unknown builtin op: aten::inference_mode` or `With item expression must return an
object`.

Example:

    @torch.jit.script
    @torch.no_grad()
    def scale(x):
        return x * 2

Use instead: `with torch.no_grad():` inside, which is compiled, or the guard above `@torch.jit.script`, where Python
enters it.

    @torch.jit.script
    def scale(x):
        with torch.no_grad():
            y = x * 2
        return y

Fix: unsafe. The guard goes above `@torch.jit.script`, where it stands directly below. What is called is then a function
of Python that calls the compiled one: it has no `save`.

Not flagged: `@torch.no_grad()` above `@torch.jit.script`; `with torch.no_grad():`; methods that `@torch.jit.ignore` or
`@torch.jit.unused` leaves out; what depends on `torch.jit.is_scripting()`; calls where a failure is expected, in `try`
or `pytest.raises`; `torch.jit.trace`, which records what the guarded function does.

Limits: functions and classes of other files are not looked into. Files are read for it if they name a guard.

References: torch/jit/_script.py and torch/jit/frontend.py of torch 2.13.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.project import Project
from ..analysis.scripted_code import DroppedGuard, RefusedGuard, scripted_guards
from ..facts import Facts, Form, GuardUse
from ..facts.python_uses import MODES, uses_of
from ..findings import Applicability, Finding, Severity
from ..guards import public_guards
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF411",
    "guard-in-scripted-code",
    group=RuleGroup.NO_EFFECT,
    since="0.1.0",
    fix=RuleFix(Applicability.UNSAFE),
    severity=Severity.ERROR,
    languages=("python",),
    odd_uses_only=True,
    guards=public_guards,
)


@RULE.check_file
def scripted(facts: Facts, project: Project) -> Iterator[Finding]:
    for found in dict.fromkeys(scripted_guards(facts)):
        use = _use_of(found, facts)
        if isinstance(found, RefusedGuard):
            message = f"`{found.guard}` raises in `{found.function}`: TorchScript compiles it and knows `no_grad` alone"
        else:
            message = f"`{found.function}` is compiled without its `{found.guard}`: TorchScript drops decorators"
        if use is not None:
            yield RULE.at(facts, use.type_span, message, use=use)
        elif isinstance(found, DroppedGuard) and not found.at_decorator:
            yield RULE.at(facts, found.span, message)


def _use_of(found: DroppedGuard | RefusedGuard, facts: Facts) -> GuardUse | None:
    """The guard itself, where that is what is to be said something about."""
    form = Form.WITH if isinstance(found, RefusedGuard) else Form.DECORATOR
    if isinstance(found, DroppedGuard) and not found.at_decorator:
        return None
    for one in uses_of(facts, MODES, form):
        if one.use.guard == found.guard:
            place = one.decorated.span if one.decorated is not None else one.use.span
            if place == found.span or (form is Form.WITH and found.span.holds(one.use.type_span)):
                return one.use
    return None
