"""A `switch` as a chain of branches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ...facts.bodies import AnyStatement, Block, If, Leave, Loop, Raise, ReturnStatement, Try
from ...facts.expressions import Expression, LiteralExpression, LiteralKind, Operation, OtherExpression
from ...facts.spans import Span
from ...named_tuples import NamedTuple

_MOST_LABELS = 8
"""Labels in front of the same statements that are each compared."""


class Case(NamedTuple):
    """What follows one label."""

    span: Span
    value: Expression | None
    """None for `default`."""
    statements: tuple[AnyStatement, ...]


class _Arm(NamedTuple):
    span: Span
    values: list[Expression]
    is_default: bool
    statements: tuple[AnyStatement, ...]


def chain_of_cases(
    header: Span, subject: Expression, cases: Sequence[Case], most: int
) -> tuple[AnyStatement, ...] | None:
    """The cases as `If`s, with what a case falls through to; None for what has no such form, or is too long."""
    arms: list[_Arm] = []
    values: list[Expression] = []
    is_default, left = False, most
    for index, case in enumerate(cases):
        if case.value is None:
            is_default = True
        else:
            values.append(case.value)
        if not case.statements and index + 1 < len(cases):
            continue
        run = _run_from(cases, index)
        left -= len(run)
        if left < 0:
            return None
        arms.append(_Arm(case.span, values, is_default, run))
        values, is_default = [], False
    otherwise = next((arm.statements for arm in arms if arm.is_default), ())
    for arm in reversed(arms):
        if not arm.is_default:
            otherwise = (If(arm.span, _is_one_of(subject, arm.values), arm.statements, otherwise),)
    if not _holds(otherwise, "break"):
        return otherwise
    if _holds(otherwise, "continue"):
        return None  # it would go on with the loop that stands for the switch
    never = LiteralExpression(LiteralKind.BOOL, "false")
    return (Loop(header, None, None, never, otherwise, runs_once=True),)


def _run_from(cases: Sequence[Case], index: int) -> tuple[AnyStatement, ...]:
    """What is run from one label up to the end of the switch."""
    found: list[AnyStatement] = []
    for case in cases[index:]:
        before, ended = _before_break(case.statements)
        found += before
        if ended:
            break
    return tuple(found)


def _before_break(statements: Sequence[AnyStatement]) -> tuple[tuple[AnyStatement, ...], bool]:
    """The statements up to one that surely leaves, and whether there is one. The switch's own `break` is taken off."""
    for index, one in enumerate(statements):
        if isinstance(one, Leave) and one.word == "break":
            return tuple(statements[:index]), True
        if isinstance(one, Block) and not one.is_parallel:
            inside, ended = _before_break(one.block)
            if ended:
                return (*statements[:index], Block(one.span, one.items, inside)), True
        elif _ends(one):
            return tuple(statements[: index + 1]), True
    return tuple(statements), False


def _ends(statement: AnyStatement) -> bool:
    return isinstance(statement, (ReturnStatement, Raise, Leave))


def _is_one_of(subject: Expression, values: Sequence[Expression]) -> Expression:
    if len(values) > _MOST_LABELS:
        return OtherExpression(f"{subject} is one of {len(values)} values")
    asked: list[Expression] = [Operation("==", (subject, value)) for value in values]
    return reduce(lambda left, right: Operation("||", (left, right)), asked)


def _holds(statements: Sequence[AnyStatement], word: str) -> bool:
    """Whether a `break` or `continue` is there that isn't that of a loop in between."""
    waiting = list(statements)
    while waiting:
        one = waiting.pop()
        if isinstance(one, Leave):
            if one.word == word:
                return True
        elif isinstance(one, If):
            waiting += (*one.then, *one.otherwise)
        elif isinstance(one, Block):
            waiting += one.block
        elif isinstance(one, Try):
            waiting += one.block
            for handler in one.handlers:
                waiting += handler.block
    return False
