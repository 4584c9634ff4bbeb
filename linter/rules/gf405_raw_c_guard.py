"""GF405 raw-c-guard: a guard object of torch._C is kept in a variable and never entered.

What it flags: `torch._C._InferenceMode(True)`, `torch._C._AutoDispatchBelowAutograd()` or
`torch._C._AutoDispatchBelowADInplaceOrView()` as a statement, or assigned to a name or attribute that is never
entered.

Why it is bad: the first two are in effect from their construction until Python happens to free the object, which a
traceback or a reference cycle can delay for a long time. Guards that are freed out of order restore the wrong mode.
As a statement, they are gone at once. `_AutoDispatchBelowADInplaceOrView` takes effect only when entered: without
`with` it silently does nothing.

Example:

    def predict(batch):
        guard = torch._C._InferenceMode(True)
        return model(batch)

Use instead: `with torch.inference_mode():`, or `with torch._C._AutoDispatchBelowAutograd():`.

Fix: unsafe: the rest of the block moves into a `with`. In the common case the guard ends at the same point, which
is no longer up to the garbage collector. A guard that had no effect takes effect.

Not flagged: `with torch._C.…`, `enter_context(…)`; variables and attributes that are passed on, returned or entered
by a `with`, or whose `__enter__` or `__exit__` is called; the two guards that take effect on construction, if a
`finally` deletes the variable or the file deletes the attribute, because then the code says when they end, or if the
variable is at the top of a script, which thus sets the mode for the whole process.

Limits: whether the object is entered is decided in its own file. In which order several objects are freed isn't worked
out.

References: torch/csrc/autograd/init.cpp of torch 2.13 (py_context_manager_DEPRECATED and py_context_manager).
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..analysis.project import Project
from ..facts import Facts, Form
from ..facts.python_uses import C_GUARDS, uses_of
from ..findings import Applicability, Finding
from ..guards import torch_c_guards
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF405",
    "raw-c-guard",
    group=RuleGroup.LEAKS,
    since="0.1.0",
    fix=RuleFix(Applicability.UNSAFE),
    languages=("python",),
    odd_uses_only=True,
    guards=torch_c_guards,
)


@RULE.check_file
def raw_guards(facts: Facts, project: Project) -> Iterator[Finding]:
    is_script = facts.python is not None and facts.python.is_script
    for found in uses_of(facts, C_GUARDS, Form.AUTO, Form.MEMBER, Form.TEMPORARY):
        use = found.use
        inert = use.guard == guards.C_BELOW_ADINPLACEORVIEW
        if found.entered or (found.released and not inert):
            continue
        if use.form is Form.AUTO and not found.local and not inert and is_script:
            continue  # meant for the whole process
        if inert:
            message = f"`{use.written}` takes effect only when entered: without `with` it does nothing"
        elif use.form is Form.TEMPORARY:
            message = f"`{use.written}` as a statement is freed at once; use `with`"
        else:
            message = f"`{use.written}` is in effect until `{use.variable}` is freed, whenever that happens; use `with`"
        yield RULE.at(facts, use.span, message, use=use)
