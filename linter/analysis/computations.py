"""Whether something in a stretch of code may compute a tensor: a call, or an expression with an operator."""

from __future__ import annotations

from ..answered_once import answered_once
from ..facts import Assignment, Call, Facts, Span
from ..facts.expressions import (
    Bracketed,
    Construction,
    Expression,
    LiteralExpression,
    MemberAccess,
    NewExpression,
    Operation,
    Subscript,
    first_name,
    nodes_of,
)
from ..facts.index import all_calls_where
from ..facts.spans import Sorted
from .calls import builds_object, computes_nothing

_OF_TENSORS = frozenset("+ - * / % @ & | ^ ~ << >> == != < > <= >= // **".split())
_CHOICES = frozenset({"?:", "if else"})


def first_computation_in(span: Span, facts: Facts) -> Call | str | None:
    """The first call that may compute a tensor, or else the first expression with an operator; None without either."""
    if (call := all_calls_where(facts, _computes_something).first(span)) is not None:
        return call
    return next((text for _, text in _operations(facts).within(span)), None)


def _computes_something(call: Call) -> bool:
    return not computes_nothing(call)


@answered_once
def _operations(facts: Facts) -> Sorted[tuple[Span, str]]:
    """The assignments and returned values in which a tensor may be computed without a call.

    And what isn't understood: an included text, and a macro that has run on into a `return`.
    """
    found: list[tuple[Span, str]] = [(include.span, include.header) for include in facts.includes]
    found += [(returned.span, str(returned.value)) for returned in facts.returns if _has_operation(returned.value)]
    kept = (call for call in facts.calls if call.name in _KEEPS)
    found += [(call.span, str(call.called)) for call in kept if any(map(_has_operation, call.arguments))]
    for assignment in facts.assignments:
        if assignment.declares and assignment.variable in _RETURNS:
            found.append((assignment.span, assignment.variable))
        if isinstance(assignment.target, (MemberAccess, Subscript)) and first_name(assignment.target) == "ctx":
            continue
        if assignment.declares and assignment.type is not None and _builds(assignment):
            found.append((assignment.span, str(assignment.type)))
        if assignment.operator != "=" or isinstance(assignment.target, Subscript) or _has_operation(assignment.value):
            found.append((assignment.span, str(assignment.value or assignment.target)))
    return Sorted(found, lambda operation: operation[0])


_KEEPS = frozenset({"push_back", "emplace_back", "make_pair", "make_tuple", "forward_as_tuple", "IValue"})
"""Calls that compute nothing, but whose arguments may: `kept.push_back(x * 2)`."""
_RETURNS = frozenset({"return", "co_return", "throw"})


def _builds(assignment: Assignment) -> bool:
    """`Holder holder(config);`: the constructor of a class of the program's own can do anything."""
    given = assignment.value
    with_arguments = isinstance(given, Bracketed) and bool(given.items)
    made = [node.type for node in nodes_of(given) if isinstance(node, (NewExpression, Construction))]
    own = [assignment.type] if with_arguments and assignment.type is not None else []
    return any(map(builds_object, (*own, *made)))


def _has_operation(value: Expression | None) -> bool:
    """Whether an operator of tensors, an index or a choice between two values is in the expression."""
    return any(
        isinstance(node, Subscript) or (isinstance(node, Operation) and _may_compute(node)) for node in nodes_of(value)
    )


def _may_compute(operation: Operation) -> bool:
    """Not so `*x`, `&x` and `-1`."""
    if len(operation.operands) == 1 and (
        operation.operator in ("*", "&", "**") or isinstance(operation.operands[0], LiteralExpression)
    ):
        return False
    return operation.operator in _OF_TENSORS or operation.operator in _CHOICES
