"""GF206 guard-member: a guard that is a data member lives as long as its object.

What it flags: a guard that is a data member of a class with other members, or with work of its own.

Why it is bad: the mode is on from the construction of the object to its destruction, in the thread that constructs
it: around code that has nothing to do with the class, but not in other threads that call its methods. Two such
objects that aren't destroyed in reverse order leave the thread in the wrong mode.

Example:

    class Detector {
      torch::jit::Module module_;
      torch::NoGradGuard no_grad_;
    };

Use instead: a local guard in each method that runs the model.

Fix: none.

Not flagged: a class that is itself a guard (all its members are guards, or its name ends in `Guard`, `Scope`,
`Mode` or `Lock`), test and benchmark fixtures, static members (GF204).

Limits: it identifies classes by name and members, and doesn't consider where their objects live.

Level: info. The class doesn't tell whether its objects are local variables with a scope of their own.

When not to use it: classes that are only used for local variables, although their names don't say so.

Seen in public code: 2 of 11 guards that were data members were in a class that runs models; the others were in
classes that are guards themselves, and in test fixtures.

References: c10/core/GradMode.h, c10/core/InferenceMode.h of torch 2.13.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..analysis.ownership import is_gradient_guard
from ..analysis.project import Project
from ..answered_once import answered_once
from ..facts import Class, Facts, Form, GuardUse
from ..facts.expressions import words_of
from ..findings import Finding, Severity
from ..lazy_regex import lazy_regex
from ..rule import Rule
from ..rule_names import RuleGroup

RULE = Rule("GF206", "guard-member", group=RuleGroup.LEAKS, since="0.1.0", severity=Severity.INFO)

_SCOPED = lazy_regex(
    r"(?:Guards?|Scoped?|Mode|Lock|RAII|Raii|State|Disabler|Enabler)_?$|^(?:Scoped|Auto|With|Without|No|Disable|Enable)[A-Z]"
)
_FIXTURE = lazy_regex(r"Test|Fixture|Benchmark|^testing$")


@RULE.check_use
def members(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    if use.form is not Form.MEMBER or use.class_ is None or use.macro is not None or use.under_error:
        return
    class_ = facts.classes[use.class_]
    is_guard = class_.name in guards.CPP or _SCOPED.search(class_.name) or is_struct_of_guards(facts, use.class_)
    if is_guard or _is_fixture(class_) or not is_gradient_guard(use, facts, project):
        return
    name = f"`{class_.name}`" if class_.name else "the class"
    yield RULE.at(
        facts,
        use.type_span,
        f"{use.guard} is on for as long as the {name} object lives, in the thread that created it; "
        "declare it in the methods that run the model",
        use=use,
    )


@answered_once
def is_struct_of_guards(facts: Facts, index: int) -> bool:
    """Whether the class holds guards alone and has no methods: its objects are used like one."""
    class_ = facts.classes[index]
    return not class_.has_methods and all(
        member.type.last in guards.CPP or any("Guard" in word or "Mode" in word for word in words_of(member.type))
        for member in class_.members
    )


def _is_fixture(class_: Class) -> bool:
    return any(map(_FIXTURE.search, {class_.name}.union(*map(words_of, class_.bases))))
