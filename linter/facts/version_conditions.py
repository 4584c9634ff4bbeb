"""What a version condition of the preprocessor says to torch 2."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from . import Branch, Conditional

TORCH_2 = {"TORCH_VERSION_MAJOR": 2, "TORCH_VERSION_MINOR": 13, "TORCH_VERSION_PATCH": 0}
"""The version macros of torch/version.h, as the newest release that guardfix knows defines them."""


def mentions_torch_version(condition: str) -> bool:
    return "TORCH_VERSION" in condition


def evaluate(condition: str, values: Mapping[str, int]) -> bool | None:
    """The condition's truth for these macro values; None when something in it is unknown.

    An empty condition (`#else`) is None too: it depends on the arms before it.
    """
    if not condition:
        return None
    text = re.sub(r"\bdefined\s*\(?\s*(\w+)\s*\)?", lambda m: "1" if m[1] in values else f"_unknown_{m[1]}", condition)
    text = text.replace("&&", " and ").replace("||", " or ")
    text = re.sub(r"!(?!=)", " not ", text)
    text = re.sub(r"\b(\d+)[uUlL]+\b", r"\1", text)
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError):
        return None
    value = _value(tree.body, values)
    return None if value is None else bool(value)


def _value(node: ast.expr, values: Mapping[str, int]) -> int | None:
    match node:
        case ast.Constant(value=int(number)):
            return int(number)
        case ast.Name(id=name):
            return values.get(name)
        case ast.BoolOp(op=op, values=operands):
            known = [_value(operand, values) for operand in operands]
            if isinstance(op, ast.And):
                return 0 if any(v == 0 for v in known) else None if None in known else 1
            return 1 if any(v for v in known if v is not None) else None if None in known else 0
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _value(operand, values)
            return None if inner is None else int(not inner)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _value(operand, values)
            return None if inner is None else -inner
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _value(left, values), _value(right, values)
            if a is None or b is None:
                return None
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
            return None
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            a, b = _value(left, values), _value(right, values)
            if a is None or b is None:
                return None
            match op:
                case ast.Lt():
                    return int(a < b)
                case ast.LtE():
                    return int(a <= b)
                case ast.Gt():
                    return int(a > b)
                case ast.GtE():
                    return int(a >= b)
                case ast.Eq():
                    return int(a == b)
                case ast.NotEq():
                    return int(a != b)
    return None


def taken_branch(conditional: Conditional, values: Mapping[str, int]) -> Branch | None:
    """The arm that a compiler with these values takes; None when that cannot be told, or no arm is."""
    for branch in conditional.branches:
        if not branch.condition:
            return branch
        verdict = evaluate(branch.condition, values)
        if verdict is None:
            return None
        if verdict:
            return branch
    return None
