"""Blocks in which a test expects a failure or a warning: what is wrong in them is meant to be."""

from __future__ import annotations

import ast

from .name_resolution import dotted

_EXPECTING = frozenset(
    "raises warns deprecated_call assertRaises assertRaisesRegex assertWarns assertWarnsRegex".split()
)


def expects_failure(node: ast.With | ast.AsyncWith) -> bool:
    """Whether the block is `with pytest.raises(…):`, `with self.assertWarns(…):` or the like."""
    calls = (item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call))
    return any((dotted(call.func) or [""])[-1] in _EXPECTING for call in calls)
