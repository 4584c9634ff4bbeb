"""Guards of Python in expressions: what a decorator, the head of a `with` or a call names, and what it is given."""

from __future__ import annotations

from ..facts.expressions import CallExpression, Expression, KeywordArgument, NamePath, truth_of
from ..guards import canonical_name, python_guard


def called_name(expression: Expression) -> str:
    """The dotted name that an expression is, or calls, in torch's own spelling; empty where it is something else."""
    named = expression.callee if isinstance(expression, CallExpression) else expression
    return canonical_name(".".join(named.path)) if isinstance(named, NamePath) else ""


def guard_called(expression: Expression) -> str | None:
    """The row of the guard table that an expression names or calls."""
    return python_guard(called_name(expression))


def mode_given(expression: Expression) -> bool | None:
    """The literal that a guard is given: `set_grad_enabled(mode=False)`; None where it isn't one."""
    given = next(iter(expression.arguments), None) if isinstance(expression, CallExpression) else None
    return truth_of(given.value if isinstance(given, KeywordArgument) else given)
