"""GF202 guard-covers-nothing: there is nothing left to cover between the guard and the end of its scope.

What it flags: a named guard after which its block does nothing: it is the last statement, or is followed only by
`return true;`, a flag, constant log text, or `model.eval()`; or nothing with tensors: all that follows reads plain data
(numbers, strings, files) whose types and functions are in sight, or only works on the sizes and pointers of tensors, in
a loop or a kernel. Also a `NoGradGuard` below which a model is only loaded, in a file that runs it outside every guard;
a guard below which a function is only made (a lambda, `std::bind`) and stored or returned; and a guard that is alone in
a branch: in an optional or a smart pointer that is declared there, or without braces (`if (inference) at::NoGradGuard
guard;`). In Python, a `with` of `no_grad` or `inference_mode` below which hooks are only registered, or functions
defined.

Why it is bad: a guard is in effect from its declaration to the end of its block. In a constructor, a load function
or a `setEvaluationMode()`, it ends with that function. The author took it for a global switch, and the code that
runs the model later records gradients.

Example:

    Detector::Detector(const std::string& path) {
      module_ = torch::jit::load(path);
      module_.eval();
      torch::NoGradGuard no_grad;
    }

Use instead: a guard at the top of every function that runs the model:

    torch::Tensor Detector::detect(const torch::Tensor& image) {
      c10::InferenceMode guard;
      return module_.forward({image}).toTensor();
    }

Fix: unsafe. A guard that is alone in a branch becomes one that the condition switches, for the rest of the scope
(`torch::AutoGradMode no_grad(!inference);`, `c10::InferenceMode guard(inference);`). Elsewhere there is none: the guard
belongs in another function.

Python files are read for this that register a hook right below a `with`.

Not flagged: a scope with any other statement below the guard, such as an object whose destructor does the work; an
optional that is declared outside of the branch; a lambda that is called, given to a function, or has a guard of its
own; macro bodies; members; tests and benchmarks, which check what a guard leaves behind or what it costs;
`at::AutoNonVariableTypeMode` in a block, for which GF101 says `remove`.

Limits: what guardfix can't see into counts as work, such as a function of another file or an object with a destructor.

When not to use it: tests in functions that no test framework names; a block in which the work is done by a macro
that looks like a constant log line.

Seen in public code: 8 of 10 guards that were the last statement of a constructor, load function or setup function
were meant for later calls.

References: https://pytorch.org/cppdocs/notes/inference_mode.html; c10/core/InferenceMode.h, c10/core/GradMode.h.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..analysis.coverage import is_first_in_statement, is_in_test
from ..analysis.idle_code import (
    fills_the_guard_alone,
    handles_raw_memory_alone,
    loads_a_model_alone,
    makes_callables_alone,
)
from ..analysis.ownership import is_gradient_guard
from ..analysis.plain_data import handles_plain_data_alone
from ..analysis.project import Project
from ..analysis.project_summary import is_test_path
from ..facts import Facts, Form, GuardUse
from ..facts.bodies import AnyStatement, Assign, Block, Define, Evaluate, If, Loop, ReturnStatement
from ..facts.expressions import CallExpression, LambdaExpression, MemberAccess, NamePath, last_name
from ..facts.python_uses import uses_of
from ..facts.statement_walk import all_statements, bodies_of
from ..findings import Applicability, Finding
from ..lazy_regex import lazy_regex
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF202",
    "guard-covers-nothing",
    group=RuleGroup.NO_EFFECT,
    since="0.1.0",
    fix=RuleFix(Applicability.UNSAFE),
    languages=("cpp", "python"),
    odd_uses_only=True,
    needles_in={"python": (b"_hook(",)},
    shape=rb"(?m)^[ \t]*with [^\n]*(?:no_grad|inference_mode)[^\n]*:[ \t]*(?:#[^\n]*)?\n\s+(?:[^\n]*_hook\(|def |for )",
)


@RULE.check_use
def guards_at_the_end(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    if not _ends_with_its_block(use) or use.function is None or not is_first_in_statement(use, facts):
        return
    if use.macro is not None or (not use.is_branch and (use.under_error or use.guard == guards.LEGACY)):
        return
    between, run = _what_is_covered(use, facts), loads_a_model_alone(use, facts)
    if run is not None:
        between = f"a model is only loaded (line {facts.row(run.span.start)} runs it)"
    if not between or not is_gradient_guard(use, facts, project) or is_in_test(use.function, facts):
        return
    function = facts.functions[use.function]
    if use.is_branch:
        where = "this branch"
    else:
        where = "this block" if use.scope != function.body else f"`{function.name}`" if function.name else "the lambda"
    advice = "declare it where the model is run"
    is_conditional = where in ("this branch", "this block") and run is None
    if is_conditional and use.form is Form.DECLARATION and _switches_by(use.guard):
        advice += f", as `{_switches_by(use.guard)}` if a condition decides"
    yield RULE.at(
        facts,
        use.type_span,
        f"{use.guard} covers nothing: it ends with {where}, and {between} between; {advice}",
        use=use,
    )


def _switches_by(guard: str) -> str:
    """How a guard is written that a condition switches; empty for one that has no such form."""
    if guard == guards.INFERENCE_MODE:
        return "InferenceMode guard(condition)"
    return "AutoGradMode guard(!condition)" if guard in ("NoGradGuard", "AutoGradMode") else ""


def _ends_with_its_block(use: GuardUse) -> bool:
    """Whether the guard lives to the end of its block: a variable, or what a smart pointer that is one holds."""
    if use.form in (Form.HEAP, Form.OPTIONAL):
        return use.holder is not None and use.holder.declared and not use.holder.raw
    return use.form in (Form.DECLARATION, Form.AUTO)


def _what_is_covered(use: GuardUse, facts: Facts) -> str:
    """What happens between the guard and its end, if no tensor is computed there; empty if one may be."""
    if use.first_work is None or fills_the_guard_alone(use, facts):
        return "nothing runs"
    if makes_callables_alone(use, facts):
        return "a function that is called later is only made"
    if handles_plain_data_alone(use.live, use.function, facts):
        return "only plain data is handled"
    return "only raw memory is handled" if handles_raw_memory_alone(use, facts) else ""


@RULE.check_file
def hooks_alone(facts: Facts, project: Project) -> Iterator[Finding]:
    if facts.python is None or not facts.bodies or is_test_path(facts.path):
        return
    uses = [use for use in uses_of(facts, (guards.NO_GRAD, guards.PYTHON_INFERENCE_MODE), Form.WITH) if use.mode]
    statements = (one for body in bodies_of(facts) for one in all_statements(body.statements))
    for statement in (one for one in statements if isinstance(one, Block)) if uses else ():
        use = next((use for use in uses if statement.span.holds(use.call_span)), None)
        if use is not None and len(statement.items) == 1 and all(map(_makes_callables, statement.block)):
            registers = any(map(_registers, statement.block))
            done = "hooks are only registered" if registers else "functions are only defined"
            message = (
                f"{use.use.guard} covers nothing: {done} in this block, and run later, when it has ended; "
                f"open it in what they run"
            )
            yield RULE.at(facts, use.call_span, message, use=use.use)


_REGISTERS = lazy_regex(r"register_\w*hook$")


def _makes_callables(statement: AnyStatement) -> bool:
    """Whether a statement of Python only defines functions or registers hooks."""
    if isinstance(statement, Define):
        return True
    if isinstance(statement, (Loop, If)):
        block = statement.block if isinstance(statement, Loop) else statement.then
        return all(map(_makes_callables, (*block, *statement.otherwise)))
    return (isinstance(statement, Assign) and isinstance(statement.value, LambdaExpression)) or _registers(statement)


def _registers(statement: AnyStatement) -> bool:
    value = statement.value if isinstance(statement, (Assign, Evaluate, ReturnStatement)) else None
    if isinstance(value, CallExpression) and last_name(value.callee) == "append" and len(value.arguments) == 1:
        value = value.arguments[0]  # `handles.append(layer.register_forward_hook(f))`
    return (
        isinstance(value, CallExpression)
        and _REGISTERS.match(last_name(value.callee)) is not None
        and all(isinstance(one, (NamePath, MemberAccess, LambdaExpression)) for one in value.arguments)
    )
