"""GF410 training-under-guard: a function is decorated with a guard, turns gradients on again, and trains.

What it flags: a function below `torch.no_grad()` or `torch.inference_mode()` that enters `torch.enable_grad()`, or
`torch.set_grad_enabled(True)`, and calls `backward()`, `torch.autograd.grad(…)` or an optimizer's `step()` inside.

Why it is bad: the guard is on the wrong function. What stands outside of the inner block, or is moved there, isn't
recorded, and under `inference_mode` its tensors can't be saved for backward: `enable_grad` doesn't undo inference mode.

Example:

    @torch.no_grad()
    def fit(model, optimizer, batches):
        for batch in batches:
            with torch.enable_grad():
                loss = model(batch).sum()
                loss.backward()
            optimizer.step()

Use instead: the guard around what should not be recorded.

    def fit(model, optimizer, batches):
        for batch in batches:
            loss = model(batch).sum()
            loss.backward()
            optimizer.step()

Fix: none.

Not flagged: an optimizer's `step(closure)` that calls the closure under `enable_grad()`; functions that are defined
inside, and called by others; a guard with `False`, or with a flag.

Limits: only guards above functions are looked at, not a `with` around the body, and optimizers are known by their
names.

Off by default: it works, if all that has to be recorded stands inside.

Seen in public code: the pix2pix-zero and diffedit pipelines of diffusers, and `step` of Pyro's SVGD.

References: https://docs.pytorch.org/docs/stable/notes/autograd.html (locally disabling gradient computation).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import guards
from ..analysis.guarded_methods import guard_above
from ..analysis.project import Project
from ..analysis.written_guards import guard_called, mode_given
from ..facts import Facts, Span
from ..facts.bodies import AnyStatement, Block, BodyKind, Evaluate
from ..facts.expressions import CallExpression, Expression, last_name
from ..facts.statement_walk import blocks_of, bodies_of, calls_of
from ..findings import Finding, Severity
from ..guards import guards_with
from ..lazy_regex import lazy_regex
from ..rule import Rule
from ..rule_names import RuleGroup

RULE = Rule(
    "GF410",
    "training-under-guard",
    group=RuleGroup.SILENTLY_WRONG,
    since="0.1.0",
    severity=Severity.INFO,
    languages=("python",),
    odd_uses_only=True,
    guards=guards_with(guards.Effect.GRAD_MODE, guards.Effect.INFERENCE),
    default=False,
)

_OPTIMIZER = lazy_regex(r"(?i)opt(?:im(?:izer)?)?\d*s?$|scaler$|adam\w*$|sgd$")


@RULE.check_file
def trains(facts: Facts, project: Project) -> Iterator[Finding]:
    for body in bodies_of(facts):
        if body.kind is not BodyKind.FUNCTION:
            continue
        guard = guard_above(body)
        trained = _training_under_grad(body.statements, is_on=False) if guard else None
        if trained is not None:
            span, call = trained
            message = f"`{body.name}` is under `{guard}`, turns gradients on again, and calls `{call}`: move the guard"
            yield RULE.at(facts, span, message)


def _training_under_grad(block: Sequence[AnyStatement], *, is_on: bool) -> tuple[Span, str] | None:
    """The first statement that trains where gradients were turned on again."""
    for one in block:
        if isinstance(one, Evaluate) and _turns_on(one.value):
            is_on = True
        if is_on and (call := _trains(one)):
            return one.span, call
        entered = isinstance(one, Block) and any(_turns_on(item.context) for item in one.items)
        for inner in blocks_of(one):
            found = _training_under_grad(inner, is_on=is_on or entered)
            if found is not None:
                return found
    return None


def _turns_on(expression: Expression) -> bool:
    guard = guard_called(expression) if isinstance(expression, CallExpression) else None
    return guard == guards.ENABLE_GRAD or (guard == guards.SET_GRAD_ENABLED and mode_given(expression) is True)


def _trains(statement: AnyStatement) -> str:
    """The call of a statement that trains; empty for none."""
    for call in calls_of(statement):
        written = str(call.callee)
        name, owner = last_name(call.callee), written.rpartition(".")[0]
        if name == "backward" or written.endswith("autograd.grad") or (name == "step" and _OPTIMIZER.search(owner)):
            return written
    return ""
