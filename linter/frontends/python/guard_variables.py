"""What becomes of a variable or attribute that holds a guard: where it stands, whether it is entered or let go of."""

from __future__ import annotations

import ast
import re

from ...facts import Span
from .name_resolution import TRY_STATEMENTS, statements
from .parsed_module import Module


def count_name(name: str, root: ast.AST) -> int:
    """How often a variable's name stands in a function or module."""
    return sum(1 for child in ast.walk(root) if isinstance(child, ast.Name) and child.id == name)


def find_variable(name: str, root: ast.AST, module: Module) -> tuple[tuple[Span, ...], bool]:
    """(where a variable stands in its function, whether it is used for anything but `del`)."""
    spans: list[Span] = []
    deleted = {id(t) for d in ast.walk(root) if isinstance(d, ast.Delete) for t in d.targets}
    used = False
    for child in ast.walk(root):
        if isinstance(child, ast.Name) and child.id == name:
            spans.append(module.span(child))
            used = used or (isinstance(child.ctx, ast.Load) and id(child) not in deleted)
        elif isinstance(child, (ast.Global, ast.Nonlocal)) and name in child.names:
            used = True
    return tuple(sorted(spans)), used


def variable_is_released(name: str, root: ast.AST) -> bool:
    """Whether a `finally` of the function lets go of the variable."""
    return any(
        isinstance(target, ast.Name) and target.id == name
        for node in ast.walk(root)
        if isinstance(node, TRY_STATEMENTS)
        for statement in statements(node.finalbody)
        for target in _let_go_of(statement)
    )


def attribute_is_entered(attribute: str, module: Module) -> bool:
    """Whether `self.attribute` is entered, left or used as a context manager anywhere in the file."""
    name = re.escape(attribute.encode())
    used = rb"\b" + name + rb"\s*\.\s*__(?:enter|exit)__|(?:with|enter_context\()\s*[\w.]*\b" + name + rb"\b"
    return re.search(used, module.source.text) is not None


def attribute_is_released(attribute: str, assignment: ast.stmt, module: Module) -> bool:
    """Whether the file lets go of `self.attribute` anywhere else."""
    return any(
        isinstance(target, ast.Attribute) and target.attr == attribute
        for node in ast.walk(module.tree)
        if isinstance(node, (ast.Delete, ast.Assign)) and node is not assignment
        for target in _let_go_of(node)
    )


def _let_go_of(node: ast.stmt) -> list[ast.expr]:
    """The variables that a statement deletes or sets to None."""
    if isinstance(node, ast.Delete):
        return node.targets
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is None:
        return node.targets
    return []
