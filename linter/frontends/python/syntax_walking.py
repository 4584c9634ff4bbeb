"""Walks the trees of Python files: `ast.walk` looks at many times more than there is to see."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence

_NEVER_NODES = frozenset({"arg", "attr", "ctx", "id", "kind", "level", "module", "names", "type_comment"})
"""Fields that hold no nodes, or only `Load`, `Store` and `Del`, which say nothing about the code."""


class _ChildFields(dict[type, "tuple[str, ...] | None"]):
    """The fields in which a node of a type may hold others; None for what isn't a node, as fields may hold as well."""

    def __missing__(self, kind: type) -> tuple[str, ...] | None:
        fields: tuple[str, ...] | None = None
        if issubclass(kind, ast.AST):
            never = _NEVER_NODES - {"names"} if issubclass(kind, (ast.Import, ast.ImportFrom)) else _NEVER_NODES
            fields = tuple(name for name in kind._fields if name not in never)
        self[kind] = fields
        return fields


_CHILD_FIELDS = _ChildFields({ast.Constant: (), ast.Name: ()})


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it in `ast.walk`'s order, but for `Load`, `Store` and `Del`."""
    waiting = deque([node])
    while waiting:
        current = waiting.popleft()
        fields = _CHILD_FIELDS[current.__class__]
        if fields is None:
            continue
        for name in fields:
            child = getattr(current, name, None)
            if child.__class__ is list:
                waiting.extend(child)
            elif child is not None:
                waiting.append(child)
        yield current


def walk_on(rows: Sequence[int], tree: ast.Module) -> Iterator[ast.AST]:
    """As `walk`, but for the statements that are on none of these rows, which are sorted."""
    waiting: deque[ast.AST] = deque([tree])
    while waiting:
        current = waiting.popleft()
        fields = _CHILD_FIELDS[current.__class__]
        # Expressions aren't left out: before Python 3.12, those in f-strings of several rows have wrong places.
        if fields is None or (isinstance(current, ast.stmt) and not stands_on(rows, current)):
            continue
        for name in fields:
            child = getattr(current, name, None)
            if child.__class__ is list:
                waiting.extend(child)
            elif child is not None:
                waiting.append(child)
        yield current


def first_row(node: ast.stmt) -> int:
    """The row on which a statement begins, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return decorators[0].lineno if decorators else node.lineno


def stands_on(rows: Sequence[int], node: ast.stmt) -> bool:
    """Whether a statement, with its decorators, is on one of these rows, which are sorted."""
    index = bisect_left(rows, first_row(node))
    return index < len(rows) and rows[index] <= (node.end_lineno or node.lineno)


def calls_in(node: ast.AST) -> Iterator[ast.Call]:
    return (child for child in walk_own(node) if isinstance(child, ast.Call))


_OTHER_BODIES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def walk_own(node: ast.AST) -> Iterator[ast.AST]:
    """Everything inside a node that runs with it: not the bodies of functions, lambdas and classes, nor contexts.

    That includes a lambda that is the node itself: it is made here, and runs when it is called.
    """
    if isinstance(node, _OTHER_BODIES):
        yield node
        return
    stack: list[ast.AST] = [node]
    while stack:
        current = stack.pop()
        kind = current.__class__
        fields = _CHILD_FIELDS[kind]
        if fields is None or kind in _OTHER_BODIES:
            continue
        yield current
        for name in fields:
            child = getattr(current, name, None)
            if child.__class__ is list:
                stack.extend(child)
            elif child is not None:
                stack.append(child)
