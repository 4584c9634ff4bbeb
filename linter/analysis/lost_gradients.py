"""Whether the result of a `backward` is computed where autograd can't record it."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts import Facts, Function, GuardUse
from ..facts.bodies import Assign, Raise, ReturnStatement
from ..facts.expressions import (
    CallExpression,
    Expression,
    MemberAccess,
    NamePath,
    Operation,
    innermost_object,
    nodes_of,
    simple_name,
    words_of,
)
from ..facts.statement_walk import all_statements, expressions_of
from ..lazy_regex import lazy_regex
from .calls import names_op
from .covered_statements import covered_statements

_ARITHMETIC = frozenset({"+", "-", "*", "/"})
_METHODS = frozenset(
    """mul div add sub mm matmul bmm addmm sum mean pow neg exp log sqrt rsqrt sigmoid tanh softmax log_softmax clamp
    mul_ div_ add_ sub_ neg_ einsum dot conj""".split()
)
"""Ops by which gradients are computed, each of which autograd can differentiate."""
_SAVED = frozenset({"get_saved_variables", "saved_data"})
_MEANT = lazy_regex(r"(?i)once|twice|double|second|higher|first_?order")
"""In the name of a guard or a comment about it: its author knows what is lost."""
_MODE_CALLS = frozenset({"set_enabled", "is_enabled", "is_grad_enabled"})


def loses_gradients(use: GuardUse, backward: Function, facts: Facts) -> bool:
    """Whether PyTorch's ops compute the result of `backward` under the guard, from its gradients or saved tensors."""
    covered = covered_statements(use, facts)
    if covered is None or use.function is None or facts.functions[use.function] is not backward:
        return False
    if any(_MEANT.search(told) for told in (use.variable or "", *(comment.text for comment in use.comments))):
        return False
    if any(isinstance(statement, Raise) for statement in covered[0].statements):
        return False
    if any(_sets_mode(other, use, backward) for other in facts.guard_uses):
        return False
    body, statements = covered
    tensors = {parameter.name for parameter in body.parameters[1:]}
    computed: set[str] = set()
    for statement in all_statements(body.statements):
        if any(_sets_or_asks_mode(one) for one in expressions_of(statement)):
            return False
        if not isinstance(statement, (Assign, ReturnStatement)) or statement.value is None:
            continue
        if not words_of(statement.value) & (tensors | _SAVED):
            continue
        names = _targets(statement) if isinstance(statement, Assign) else set()
        tensors |= names
        under = any(one is statement for one in all_statements(statements))
        if (under and _computes(statement.value, tensors)) or words_of(statement.value) & computed:
            if isinstance(statement, ReturnStatement):
                return True
            computed |= names
    return False


def _targets(statement: Assign) -> set[str]:
    """The variables that a statement gives values; of `grads[0] = …` and `a.b = …` the one that is changed."""
    names = {simple_name(innermost_object(target)) for target in statement.targets}
    return names | {word for target in statement.targets for word in words_of(target)}


def _sets_mode(other: GuardUse, use: GuardUse, backward: Function) -> bool:
    """Whether another guard of the function decides as well what is recorded."""
    return other is not use and backward.body.holds(other.span) and other.guard in ("AutoGradMode", "InferenceMode")


def _sets_or_asks_mode(value: Expression) -> bool:
    """Whether grad mode is set by a call, or asked for: then those who differentiate again may be told in an error."""
    return not words_of(value).isdisjoint(_MODE_CALLS)


def _computes(value: Expression, tensors: set[str]) -> bool:
    """Whether an operator or an op of PyTorch is applied to one of the tensors."""
    return any(words_of(node) & (tensors | _SAVED) for node in _ops(value))


def _ops(value: Expression) -> Iterator[Expression]:
    for node in nodes_of(value):
        is_operator = isinstance(node, Operation) and node.operator in _ARITHMETIC
        if is_operator or (isinstance(node, CallExpression) and _is_op(node.callee)):
            yield node


def _is_op(callee: Expression) -> bool:
    if isinstance(callee, MemberAccess):
        return callee.name in _METHODS
    return isinstance(callee, NamePath) and names_op(callee.path) and callee.name.rstrip("_") in _METHODS
