"""Expressions: their values, on each path on which they have one."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts.expressions import (
    Bracketed,
    CallExpression,
    CastExpression,
    Comprehension,
    Construction,
    Expression,
    KeywordArgument,
    LambdaExpression,
    LiteralExpression,
    MemberAccess,
    NamePath,
    NewExpression,
    Operation,
    Subscript,
    TypeName,
)
from . import calling, cpp_values, elements, operators
from .paths import Interpreter, Place, Results
from .state import State
from .values import (
    Closure,
    Const,
    GuardValue,
    Items,
    Table,
    Truth,
    Value,
    literal_of,
)

_FLAG = "a condition decides which guard it is"
"""Why what happens under such a guard is possible at most: it's for the caller to say."""


def each(
    machine: Interpreter, expressions: Sequence[Expression], state: State, place: Place
) -> list[tuple[State, list[Value]]]:
    """The values of several expressions, evaluated from left to right."""
    found: list[tuple[State, list[Value]]] = [(state, [])]
    for expression in expressions:
        found = [
            (after, [*values, value])
            for one, values in found
            for after, value in machine.evaluate(expression, one, place)
        ]
    return found


def evaluate_expression(machine: Interpreter, expression: Expression, state: State, place: Place) -> Results:
    """The value of an expression, on each path on which it has one."""
    match expression:
        case NamePath():
            return [(state, calling.value_named(machine, expression, state, place))]
        case LiteralExpression():
            value = literal_of(expression)
            return [(state, value if value is not None else state.plain())]
        case MemberAccess():
            found: Results = []
            for after, holder in machine.evaluate(expression.object, state, place):
                found += elements.attribute(
                    machine, holder, expression.name, after, place, variable_name(expression.object)
                )
            return found
        case CallExpression():
            return calling.call(machine, expression, state, place)
        case Subscript():
            found = []
            for after, (holder, *indices) in machine.each((expression.object, *expression.indices), state, place):
                found += elements.subscript(machine, holder, tuple(indices), expression, after, place)
            return found
        case Operation():
            return _operation(machine, expression, state, place)
        case Bracketed():
            return _bracketed(machine, expression, state, place)
        case LambdaExpression():
            if expression.body is None or expression.body >= len(place.body.inner):
                return [(state, state.opaque("lambda"))]
            return [(state, Closure(place.body.inner[expression.body], place.file, place.frame))]
        case Comprehension():
            return elements.comprehension(machine, expression, state, place)
        case KeywordArgument():
            return machine.evaluate(expression.value, state, place)
        case CastExpression():
            return machine.evaluate(expression.value, state, place)
        case Construction() | NewExpression():
            return cpp_values.construct(machine, expression, state, place)
        case TypeName():
            return [(state, state.plain())]
    return [(state, state.opaque())]


def _bracketed(machine: Interpreter, expression: Bracketed, state: State, place: Place) -> Results:
    if len(expression.items) == 1 and expression.brackets == "()" and place.file.language != "python":
        return machine.evaluate(expression.items[0], state, place)
    pairs = [item for item in expression.items if isinstance(item, Operation) and item.operator == ":"]
    if expression.brackets == "{}" and len(pairs) == len(expression.items) and place.file.language == "python":
        parts = [part for pair in pairs for part in pair.operands]
        return [
            (after, after.add(Table(tuple(zip(values[::2], values[1::2], strict=False)))))
            for after, values in machine.each(parts, state, place)
        ]
    starred = [
        isinstance(item, Operation) and item.operator in ("*", "**") and len(item.operands) == 1
        for item in expression.items
    ]
    items = [
        item.operands[0] if star and isinstance(item, Operation) else item
        for item, star in zip(expression.items, starred, strict=True)
    ]
    found: Results = []
    bracketed_one = len(items) == 1 and expression.brackets == "()" and isinstance(items[0], (Operation, Bracketed))
    if bracketed_one and not starred[0]:
        return machine.evaluate(items[0], state, place)
    for after, values in machine.each(items, state, place):
        flat: list[Value] = []
        rest: Value | None = None
        for value, star in zip(values, starred, strict=True):
            thing = after.thing(value)
            if star and isinstance(thing, Items):
                flat += thing.values
                rest = rest or thing.rest
            elif star:
                rest = rest or elements.element_of(machine, value, after, None, "")
            else:
                flat.append(value)
        found.append((after, after.add(Items(expression.brackets, tuple(flat), rest))))
    return found


def _operation(machine: Interpreter, expression: Operation, state: State, place: Place) -> Results:
    operator, operands = expression.operator, expression.operands
    if operator in ("and", "or", "&&", "||", "not", "!"):
        return _condition_value(machine, expression, state, place)
    if operator in ("if else", "?:"):
        condition, then, otherwise = operands
        first, second = machine.branches(condition, state, place)
        results = [
            *(result for one in first for result in machine.evaluate(then, one, place)),
            *(result for one in second for result in machine.evaluate(otherwise, one, place)),
        ]
        if first and second and any(isinstance(value, GuardValue) for _, value in results):
            for after, _ in results:
                after.doubts |= {_FLAG}
        return results
    if operator in (":=", "=") and len(operands) == 2:
        return [
            (last, value)
            for after, value in machine.evaluate(operands[1], state, place)
            for last in machine.bind(operands[0], value, after, place)
        ]
    if operator in ("await", "co_await", "yield", "yield from") and len(operands) <= 1:
        if not operands:
            return [(state, state.opaque("sent"))]
        return machine.evaluate(operands[0], state, place)
    if operator == "slice" or operator == ":":
        return [(after, after.add(Items("slice", ()))) for after, _ in machine.each(operands, state, place)]
    if operator in ("&", "*") and len(operands) == 1 and not expression.postfix:
        return machine.evaluate(operands[0], state, place)  # C++'s address and what it points to
    if operator in ("++", "--"):
        return [(after, after.plain()) for after, _ in machine.each(operands, state, place)]
    if operator.endswith("=") and operator not in ("==", "!=", "<=", ">=") and len(operands) == 2:
        found: Results = []
        for after, (old, given) in machine.each(operands, state, place):
            found += operators.augmented(machine, operator, old, given, after, place, variable_name(operands[0]))
        return found
    found = []
    for after, values in machine.each(operands, state, place):
        found += operators.apply_operator(machine, expression, values, after, place)
    return found


def _condition_value(machine: Interpreter, expression: Operation, state: State, place: Place) -> Results:
    if expression.operator in ("or", "||", "and", "&&") and place.file.language == "python":
        # `x = given or torch.zeros(3)`: the value is that of the operand that decides.
        either = expression.operator == "or"
        going, found = [state], []
        for index, operand in enumerate(expression.operands):
            asked, going = going, []
            for one in asked:
                for after, value in machine.evaluate(operand, one, place):
                    known = machine.truth(after, value)
                    if index == len(expression.operands) - 1 or known is either:
                        found.append((after, value))
                    elif known is not None:
                        going.append(after)
                    else:
                        other = after.fork()
                        choice = value.key if isinstance(value, Truth) else (place.file.path, place.span, str(operand))
                        for side_state, side in ((after, either), (other, not either)):
                            assumed = machine.assume(side_state, value, side)
                            if assumed is None:
                                continue
                            assumed.choices |= {(choice, side)}
                            if side is either:
                                found.append((assumed, value))
                            else:
                                going.append(assumed)
        return found
    then, otherwise = machine.branches(expression, state, place)
    return [*((one, Const(True)) for one in then), *((one, Const(False)) for one in otherwise)]


def variable_name(expression: Expression | None) -> str:
    """How messages call what an expression gives: names and members as written, else nothing."""
    if isinstance(expression, (NamePath, MemberAccess)):
        return str(expression)
    if isinstance(expression, Subscript):
        return variable_name(expression.object)
    if isinstance(expression, Bracketed) and len(expression.items) == 1:
        return variable_name(expression.items[0])
    return ""
