"""GF508 inference-tensors-in-training: what a trainer makes under inference mode goes on into its training step.

What it flags: in a class that trains (it defines `training_step` or `compute_loss`, or derives from a `…Trainer` or
`LightningModule`; so do functions inside one called `…trainer…`), a block under `torch.inference_mode()`, or under a
helper named for it, whose tensors are used behind the block or returned. Also calls under inference mode that give a
model new parameters: `resize_token_embeddings`, `set_input_embeddings`, `get_peft_model` and the like.

Why it is bad: inference tensors can't be saved for backward. Whether the loss needs them saved often depends on the
model, an option or another file, so the error comes in one configuration only: "Inference tensors cannot be saved for
backward". Parameters that are inference tensors can't be trained at all.

Example:

    class Ranker(Trainer):
        def compute_loss(self, model, inputs):
            with torch.inference_mode():
                baseline = self.reference(inputs)
            return self.distance(model(inputs), baseline)

Use instead: `torch.no_grad()`, whose tensors autograd may save.

    class Ranker(Trainer):
        def compute_loss(self, model, inputs):
            with torch.no_grad():
                baseline = self.reference(inputs)
            return self.distance(model(inputs), baseline)

Fix: unsafe. `inference_mode()` becomes `no_grad()`, a little slower.

Not flagged: what is only logged, printed, counted or turned into numbers (`.item()`, `.tolist()`, `len`); tensors that
are cloned before they are used; methods that evaluate, predict, generate or log, by their names; blocks whose mode is
off or chosen at run time; test files. What certainly raises is GF501's.

Limits: trainers are known by names and base classes. Only variables are followed, and only to an assignment or `return`
of the same function: attributes aren't.

Seen in public code: in trainers of huggingface/trl, reference log-probabilities and advantages entered the loss; "use
no_grad, not inference_mode" repaired it (commit ca4847c), as did pull request 2987 for GRPO.

References: https://docs.pytorch.org/docs/stable/notes/autograd.html (inference mode).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .. import guards
from ..analysis.project import Project
from ..analysis.project_summary import is_test_path
from ..facts import Facts, Form
from ..facts.bodies import AnyStatement, Assign, Block, Body, BodyKind, ReturnStatement
from ..facts.expressions import (
    Bracketed,
    CallExpression,
    Expression,
    MemberAccess,
    NamePath,
    last_name,
    nodes_of,
    simple_name,
)
from ..facts.python_model import PythonUse
from ..facts.python_uses import uses_of
from ..facts.statement_walk import all_statements, calls_of, expressions_of
from ..findings import Applicability, Finding, Severity
from ..flow.library import LOSS_METHODS
from ..guards import Effect, guards_with
from ..lazy_regex import lazy_regex
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF508",
    "inference-tensors-in-training",
    group=RuleGroup.RAISES,
    since="0.1.0",
    fix=RuleFix(Applicability.UNSAFE),
    severity=Severity.INFO,
    languages=("python",),
    guards=guards_with(Effect.INFERENCE),
    default=False,
)

_TRAINER = lazy_regex(r"(?i)trainer")
_BASE = lazy_regex(r"Trainer(?:Base)?$|^LightningModule$")
_EVALUATES = lazy_regex(
    r"(?i)(?:^|_)(?:eval\w*|predict\w*|valid\w*|test\w*|log|infer\w*|metrics?|visuali\w*|plot|save|export|profile)(?:_|$)"
)
_NUMBERS = frozenset(
    "item tolist numpy clone deepcopy size dim numel shape dtype device ndim nelement detach_clone".split()
)
"""What is read of a tensor so that no inference tensor is left: numbers, other libraries' arrays, and copies."""
_TELLS = lazy_regex(
    r"(?i)(?:^|_)(?:log|logger|logging|print|metrics?|write|record|report|debug|info|warn(?:ing)?|track)(?:_|$)|assert|^len$"
)
_NEW_PARAMETERS = frozenset(
    """resize_token_embeddings set_input_embeddings set_output_embeddings get_peft_model prepare_model_for_kbit_training
    add_adapter inject_adapter""".split()
)
"""Functions of Transformers and PEFT that give a model new parameters."""


@RULE.check_file
def in_training(facts: Facts, project: Project) -> Iterator[Finding]:
    if facts.python is None or not facts.bodies or is_test_path(facts.path):
        return
    uses = [use for use in uses_of(facts, (guards.PYTHON_INFERENCE_MODE,), Form.WITH, Form.DECORATOR) if _is_on(use)]
    for function, trains in _functions(facts.bodies[0], False):
        statements = list(all_statements(function.statements))
        for index, statement in enumerate(statements):
            if not isinstance(statement, Block):
                continue
            use = next((use for use in uses if statement.span.holds(use.call_span)), None)
            if use is None and not any(_helps(item.context) for item in statement.items):
                continue
            inside = list(all_statements(statement.block))
            yield from _parameters(inside, use, facts)
            if trains and not _EVALUATES.search(function.name):
                used = _first_use(_made(inside), statements[index + 1 + len(inside) :])
                if used is not None:
                    name, where = used
                    written = use.use.written if use is not None else str(statement.items[0].context)
                    message = (
                        f"`{name}` is made under `{written}` and used in line {facts.row(where.span.start)} of a "
                        f"class that trains: if autograd must save it, PyTorch raises; use no_grad"
                    )
                    span = use.call_span if use is not None else statement.span
                    yield RULE.at(facts, span, message, use=use.use if use is not None else None, variable=name)
        above = next((use for use in uses if use.decorated is not None and use.decorated.span == function.span), None)
        if above is not None:
            yield from _parameters(statements, above, facts)


def _is_on(use: PythonUse) -> bool:
    return not use.expected and (not use.called or use.mode is True)


def _helps(context: Expression) -> bool:
    """Whether a context manager is a helper's that is named for inference mode."""
    return (
        isinstance(context, CallExpression)
        and "inference_mode" in last_name(context.callee)
        and (last_name(context.callee) != "inference_mode")
    )


def _functions(body: Body, trains: bool) -> Iterator[tuple[Body, bool]]:
    """The functions of a module that were read, each with whether what is around it trains."""
    for inner in body.inner:
        here = trains or bool(_TRAINER.search(inner.name))
        if inner.kind is BodyKind.CLASS:
            here = any(_BASE.search(last_name(base)) for base in inner.bases) or any(
                method.name in LOSS_METHODS for method in inner.inner
            )
        elif inner.kind is BodyKind.FUNCTION and inner.is_read:
            yield inner, here
        yield from _functions(inner, here)


def _parameters(statements: Iterable[AnyStatement], use: PythonUse | None, facts: Facts) -> Iterator[Finding]:
    for statement in statements:
        for call in calls_of(statement):
            if last_name(call.callee) in _NEW_PARAMETERS:
                message = (
                    f"`{last_name(call.callee)}` makes parameters under inference mode, inference tensors: "
                    f"training them raises; use no_grad"
                )
                yield RULE.at(facts, statement.span, message, use=use.use if use is not None else None)
                return


def _made(statements: Iterable[AnyStatement]) -> set[str]:
    """The variables that calls give their values there."""
    found: set[str] = set()
    for statement in statements:
        if isinstance(statement, Assign) and statement.operator == "=" and _may_be_tensors(statement.value):
            for target in statement.targets:
                found |= {simple_name(one) for one in (target.items if isinstance(target, Bracketed) else (target,))}
    return found - {"", "_"}


def _may_be_tensors(value: Expression | None) -> bool:
    if isinstance(value, CallExpression) and last_name(value.callee) in _NUMBERS:
        return False
    called = (last_name(node.callee) for node in nodes_of(value) if isinstance(node, CallExpression))
    return any(name not in _NUMBERS and not _TELLS.search(name) for name in called)


def _first_use(names: set[str], after: Iterable[AnyStatement]) -> tuple[str, AnyStatement] | None:
    """Where one of these variables is first computed with, or returned."""
    names = set(names)
    for statement in after:
        for expression in expressions_of(statement):
            if (
                isinstance(statement, Assign)
                and expression in statement.targets
                and isinstance(expression, (NamePath, Bracketed))
            ):
                continue
            used = sorted(names & _words_computed_with(expression))
            if used and isinstance(statement, (Assign, ReturnStatement)):
                return used[0], statement
        if isinstance(statement, Assign):
            names -= {simple_name(target) for target in statement.targets}
    return None


def _words_computed_with(expression: Expression) -> set[str]:
    """The variables of an expression that are more than looked at."""
    if isinstance(expression, CallExpression):
        called = last_name(expression.callee)
        if called in _NUMBERS or _TELLS.search(called):
            return set()
    if isinstance(expression, MemberAccess) and expression.name in _NUMBERS:
        return set()
    if isinstance(expression, NamePath):
        return {expression.path[0]}
    found: set[str] = set()
    for child in expression.children:
        found |= _words_computed_with(child)
    return found
