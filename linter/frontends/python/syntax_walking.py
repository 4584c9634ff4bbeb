"""Walks the trees of Python files: `ast.walk` looks at many times more than there is to see."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator

_NEVER_NODES = frozenset({"ctx", "id", "attr", "kind", "type_comment"})
"""Fields that hold no nodes, or only `Load`, `Store` and `Del`, which say nothing about the code."""
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {ast.Constant: ()}


def child_fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields in which a node of that type may hold others."""
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(name for name in kind._fields if name not in _NEVER_NODES)
    return _FIELDS[kind]


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it in `ast.walk`'s order, but for `Load`, `Store` and `Del`."""
    waiting = deque([node])
    while waiting:
        current = waiting.popleft()
        for name in child_fields(type(current)):
            child = getattr(current, name, None)
            if isinstance(child, list):
                waiting.extend([one for one in child if isinstance(one, ast.AST)])
            elif isinstance(child, ast.AST):
                waiting.append(child)
        yield current
