"""What runs behind a block, on the way on from it.

The facts know no control flow; this is as much of it as a rule needs that says "here it raises": only code that
is surely reached from the block's end, whatever the conditions between are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

_LOOPS = frozenset({"for_statement", "while_statement", "for_range_loop", "do_statement"})
_CHOICES = frozenset({"if_statement", "else_clause", "switch_statement", "case_statement", "catch_clause"})
_LISTS = frozenset({"compound_statement", "case_statement"})
_ENDS = frozenset({"return_statement", "throw_statement", "goto_statement", "co_return_statement"})
_FUNCTIONS = frozenset({"function_definition", "lambda_expression"})


def runs_after(block: Node) -> list[Node]:
    """The statements of the same function that run after `block`, when that is run to its end.

    Not among them are the other branches of what is around it, what stands behind a jump, and, if the block itself
    is the branch of a condition, what depends on other conditions: they may exclude each other.
    """
    found: list[Node] = []
    current, in_branch = block, False
    jump = _last_jump(block)
    while current.type not in _FUNCTIONS:
        if jump is not None:
            target = _target(jump)
            if target is None:
                return found
            current, in_branch, jump = target, True, None
        parent = current.parent
        if parent is None:
            return found
        if parent.type in _LISTS and current.type != "case_statement":
            following = current.next_named_sibling
            while following is not None and jump is None:
                if _is_jump(following):
                    jump = following
                    found.append(following)  # `return output.add_(1);` runs
                elif in_branch and following.type in _CHOICES:
                    if _holds_a_jump(following):
                        return found
                else:
                    found.append(following)
                following = following.next_named_sibling
        in_branch = in_branch or parent.type in _CHOICES
        if jump is None:
            current = parent
    return found


def _target(jump: Node) -> Node | None:
    """The loop or switch that a jump ends; of `continue`, the loop behind which the way goes on."""
    if jump.type in _ENDS:
        return None
    targets = _LOOPS if jump.type == "continue_statement" else _LOOPS | {"switch_statement"}
    outer = jump.parent
    while outer is not None and outer.type not in targets:
        outer = outer.parent
    return outer


def _is_jump(node: Node) -> bool:
    return node.type in _ENDS or node.type in ("break_statement", "continue_statement")


def _last_jump(block: Node) -> Node | None:
    """The jump with which a block ends."""
    statements = [child for child in block.named_children if child.type != "comment"]
    return statements[-1] if block.type == "compound_statement" and statements and _is_jump(statements[-1]) else None


def _holds_a_jump(node: Node) -> bool:
    """Whether a jump stands in a statement, lambdas left out."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if _is_jump(one):
            return True
        if one.type not in _FUNCTIONS:
            waiting += one.named_children
    return False
