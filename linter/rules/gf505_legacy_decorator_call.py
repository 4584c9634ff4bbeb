"""GF505 legacy-decorator-call: `@torch.no_grad` without parentheses needs torch 2.1.

What it flags: a guard used as a decorator without parentheses, if the configured `minimum-torch` is older than 2.1.

Why it is bad: before torch 2.1, this called the class itself with the function. `no_grad` raised a TypeError when
the module was imported; `inference_mode` took the function for its argument and replaced it with an object that
can't be called.

Example:

    @torch.no_grad
    def evaluate(model, loader): ...

Use instead: `@torch.no_grad()`, which works with every version.

Fix: safe: the parentheses are added.

Not flagged: anything, unless `minimum-torch` is configured and older than 2.1.

Limits: `minimum-torch` is all that is compared: what requirements or lock files say isn't read.

References: torch/utils/_contextlib.py of torch 2.1 (`_NoParamDecoratorContextManager`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import guards
from ..analysis.project import Project
from ..facts import Facts, Form
from ..facts.python_model import Kind
from ..facts.python_uses import uses_of
from ..findings import Applicability, Finding
from ..guards import public_guards
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF505",
    "legacy-decorator-call",
    group=RuleGroup.RAISES,
    since="0.1.0",
    fix=RuleFix(Applicability.SAFE, always=True),
    languages=("python",),
    odd_uses_only=True,
    guards=public_guards,
    keeps_results=True,
)

_SINCE = (2, 1)
_PLAIN = (guards.NO_GRAD, guards.ENABLE_GRAD, guards.PYTHON_INFERENCE_MODE)


@RULE.check_file
def uncalled_decorators(facts: Facts, project: Project) -> Iterator[Finding]:
    minimum = project.minimum_torch_of(facts)
    version = tuple(int(part) for part in re.findall(r"\d+", minimum)[:2])
    if not version or version >= _SINCE:
        return
    for found in uses_of(facts, _PLAIN, Form.DECORATOR):
        if found.called or found.decorated is None or found.decorated.kind is Kind.CLASS:
            continue
        use = found.use
        message = f"`@{use.written}` without parentheses needs torch 2.1, but torch {minimum} is supported"
        yield RULE.at(facts, use.span, message, use=use)
