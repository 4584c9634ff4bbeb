"""Finds the nodes of a syntax tree that are read, by what they are: one search for all kinds.

A query's search runs in C, but preparing the query takes four milliseconds, which is more than a short file is worth.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING

from .cpp_parsing import language

if TYPE_CHECKING:
    from tree_sitter import Node, Query

NODE_KINDS = {
    "function_definition": "function",
    "lambda_expression": "lambda",
    "class_specifier": "class",
    "struct_specifier": "class",
    "enum_specifier": "class",
    "namespace_definition": "namespace",
    "field_declaration_list": "members",
    "ERROR": "error",
    "call_expression": "call",
    "assignment_expression": "assignment",
    "init_declarator": "declarator",
    "declaration": "declaration",
    "expression_statement": "bare",
    "return_statement": "return",
    "delete_expression": "delete",
    "field_initializer": "initializer",
    "alias_declaration": "alias",
    "type_definition": "typedef",
    "namespace_alias_definition": "namespace_alias",
    "using_declaration": "using",
    "preproc_def": "macro",
    "preproc_function_def": "macro",
}
"""What nodes of these types are read as."""
_PATTERNS = {
    "enum_specifier": "(enum_specifier name: (_)) @class",
    "expression_statement": "(expression_statement . (identifier) @bare .)",
}
"""Those that aren't read whatever they hold: conditions are few, since patterns with fields take long to prepare."""
_WALKED_AT_MOST = 4000
"""Nodes of all trees together; for more of them, the query is worth preparing."""
_walked = 0


def found_nodes(root: Node, grammar: str) -> dict[str, list[Node]]:
    """The nodes of a tree by what they are read as, in the order of the text, an outer one before those inside it."""
    global _walked
    _walked += root.descendant_count
    found = walked(root) if _walked <= _WALKED_AT_MOST else queried(root, grammar)
    # Nodes come in no order of theirs; facts must be the same on every run.
    return {name: sorted(nodes, key=in_text_order) for name, nodes in found.items()}


def queried(root: Node, grammar: str) -> dict[str, list[Node]]:
    """The nodes as the query finds them."""
    from tree_sitter import QueryCursor

    return QueryCursor(_query(grammar)).captures(root)


@cache
def _query(grammar: str) -> Query:
    from tree_sitter import Query

    patterns = [_PATTERNS.get(kind, f"({kind}) @{name}") for kind, name in NODE_KINDS.items()]
    return Query(language(grammar), "\n".join(patterns))


def walked(root: Node) -> dict[str, list[Node]]:
    """The same nodes, found by a walk."""
    found: dict[str, list[Node]] = defaultdict(list)
    cursor = root.walk()
    while True:
        node = cursor.node
        assert node is not None, "a cursor is always at a node"
        name = NODE_KINDS.get(node.type)
        if name is not None and node.is_named:
            read: Node | None = node
            if name == "bare":
                inside = node.named_children
                read = inside[0] if len(inside) == 1 and inside[0].type == "identifier" else None
            elif node.type == "enum_specifier" and node.child_by_field_name("name") is None:
                read = None
            if read is not None:
                found[name].append(read)
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return dict(found)


def in_text_order(node: Node) -> tuple[int, int]:
    """An outer node before the inner one that begins with it."""
    return node.start_byte, -node.end_byte
