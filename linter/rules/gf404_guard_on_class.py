"""GF404 guard-on-class: a guard that decorates a class covers only its construction.

What it flags: a guard used as a class decorator.

Why it is bad: the decorator replaces the class with a function that creates objects under the guard. The methods
run without it, `isinstance` and inheritance break, and PyTorch has deprecated it.

Example:

    @torch.no_grad()
    class Evaluator:
        def run(self, batch):
            return self.model(batch)

Use instead: the decorator on each method that needs it, including `__init__` if you want that.

Fix: none. The code doesn't say which methods were meant.

Not flagged: guards on methods and functions; other decorators on classes; tests that expect the warning
(`with pytest.warns(…):`).

Limits: only guards that are named are looked at: a decorator of the project's own that applies one isn't looked into.

References: torch/utils/_contextlib.py of torch 2.13 (`Decorating classes is deprecated`, a FutureWarning).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.project import Project
from ..facts import Facts, Form
from ..facts.python_model import Kind
from ..facts.python_uses import MODES, uses_of
from ..findings import Finding
from ..guards import public_guards
from ..rule import Rule
from ..rule_names import RuleGroup

RULE = Rule(
    "GF404",
    "guard-on-class",
    group=RuleGroup.NO_EFFECT,
    since="0.1.0",
    languages=("python",),
    odd_uses_only=True,
    guards=public_guards,
)


@RULE.check_file
def on_class(facts: Facts, project: Project) -> Iterator[Finding]:
    for found in uses_of(facts, MODES, Form.DECORATOR):
        if found.decorated is not None and found.decorated.kind is Kind.CLASS and not found.expected:
            message = (
                f"`@{found.use.written}` on class `{found.decorated.name}` covers only its construction, "
                "and makes a function of the class; decorate its methods"
            )
            yield RULE.at(facts, found.use.span, message, use=found.use)
