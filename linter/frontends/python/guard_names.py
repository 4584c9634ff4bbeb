"""What an expression names and calls, when that is a guard or may be one."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ... import guards
from ...facts import Argument, Span
from ...facts.expressions import Bracketed
from .name_resolution import Scope, resolve
from .parsed_module import Module
from .python_expressions import PythonExpressionReader


def named(expression: ast.expr) -> ast.expr:
    """What an expression calls, or the expression itself."""
    return expression.func if isinstance(expression, ast.Call) else expression


def guard_named(node: ast.expr, scope: Scope, module: Module) -> tuple[str | None, str]:
    """(guard, dotted name): what an expression of names and dots names, when that is or may be a guard."""
    last = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    if last not in module.words:
        return None, ""
    name = resolve(node, scope)
    if name is None and isinstance(node, ast.Name) and last in module.entered:
        return guards.ENTERED_MODE, last
    if name is None:
        return (guards.LEGACY, last) if last == guards.LEGACY and isinstance(node, ast.Attribute) else (None, "")
    guard = guards.python_guard(name)
    if guard is not None:
        return guard, name
    # A name of the project's own: what it is, the join of all files knows.
    if not name.startswith("torch.") and "." in name:
        return name, name
    return None, ""


def mode_of(guard: str, call: ast.Call) -> bool | None:
    """The literal mode that a guard is called with, or that stands for a left-out argument; None when not known."""
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    return mode_of_values(guard, [_literal(value) for value in values])


def mode_of_values(guard: str, values: Sequence[bool | None]) -> bool | None:
    """The same, of the arguments' literal values, by position and then by name."""
    if guard == guards.ENTERED_MODE:
        return True  # its arguments are its own business
    if values:
        return values[0]
    takes = guards.PYTHON[guard].takes if guard in guards.PYTHON else guards.Takes.OPTIONAL_BOOL
    return True if takes in (guards.Takes.NOTHING, guards.Takes.OPTIONAL_BOOL) else None


def _literal(value: ast.expr) -> bool | None:
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, bool) else None


def python_argument(call: ast.Call, scope: Scope, module: Module) -> Argument:
    """The brackets of a call and what is in them."""
    opening = module.span(call.func).end
    text = module.source.text
    while text[opening : opening + 1] != b"(":
        opening += 1
    span = Span(opening, module.span(call).end)
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    value = _literal(values[0]) if len(values) == 1 else None
    return Argument(span, Bracketed(PythonExpressionReader(module).arguments(call, scope)), value)
