"""C++ code that surely runs after a block: in the same function, whatever the conditions between are.

As much of control flow as a rule needs that says "here it raises".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

    from .node_parents import NodeParents

_LOOPS = frozenset({"for_statement", "while_statement", "for_range_loop", "do_statement"})
_CHOICES = frozenset({"if_statement", "else_clause", "switch_statement", "case_statement", "catch_clause"})
_LISTS = frozenset({"compound_statement", "case_statement"})
_ENDS = frozenset({"return_statement", "throw_statement", "goto_statement", "co_return_statement"})
_FAR = 8
"""How many conditions after the block are looked at: a function may hold many blocks, each followed by all others."""
_HIGHEST = 32
"""How many nodes above the block are looked at: a function may be one `if` with a thousand `else if`."""
_FUNCTIONS = frozenset({"function_definition", "lambda_expression"})


def runs_after(parents: NodeParents, block: Node) -> list[tuple[int, int]]:
    """(where it begins, where it ends) of what runs in the same function after `block`, when that is run to its end.

    Not among it are the other branches of what is around the block, what follows a jump, and, if the block
    itself is the branch of a condition, what depends on other conditions: they may exclude each other.
    """
    found: list[tuple[int, int]] = []
    current, in_branch = block, False
    jump = _last_jump(block)
    for _ in range(_HIGHEST):
        if current.type in _FUNCTIONS:
            break
        if jump is not None:
            target = _target(parents, jump)
            if target is None:
                return found
            current, in_branch, jump = target, True, None
        parent = parents.of(current)
        if parent is None:
            return found
        if parent.type in _LISTS and current.type != "case_statement":
            if in_branch:
                jump, goes_on = _unconditional(parents, current, found)
                if not goes_on:
                    return found
            else:
                # One span, without a look at each statement: a block may hold many guards.
                following, last = next(parents.behind(current), None), _last_statement(parent)
                if following is not None and last is not None and last.start_byte >= following.start_byte:
                    found.append((following.start_byte, last.end_byte))
                    jump = last if _is_jump(last) else None
        in_branch = in_branch or parent.type in _CHOICES
        if jump is None:
            current = parent
    return found


def _unconditional(parents: NodeParents, current: Node, found: list[tuple[int, int]]) -> tuple[Node | None, bool]:
    """Adds the statements after `current` that depend on no condition.

    Gives the jump that ends them, and whether the end of their block is surely reached without one in a condition.
    """
    conditions = 0
    for following in parents.behind(current):
        if following.type in _CHOICES:
            conditions += 1
            if conditions > _FAR or _holds_a_jump(following):
                return None, False
        else:
            found.append((following.start_byte, following.end_byte))  # also of a jump: `return output.add_(1);`
            if _is_jump(following):
                return following, True
    return None, True


def _target(parents: NodeParents, jump: Node) -> Node | None:
    """The loop or switch that a jump ends; of `continue`, the loop after which the way goes on."""
    if jump.type in _ENDS:
        return None
    targets = _LOOPS if jump.type == "continue_statement" else _LOOPS | {"switch_statement"}
    return next((outer for outer in parents.above(jump) if outer.type in targets), None)


def _is_jump(node: Node) -> bool:
    return node.type in _ENDS or node.type in ("break_statement", "continue_statement")


def _last_statement(block: Node) -> Node | None:
    for index in range(block.named_child_count - 1, -1, -1):
        child = block.named_child(index)
        if child is not None and child.type != "comment":
            return child
    return None


def _last_jump(block: Node) -> Node | None:
    """The jump with which a block ends."""
    last = _last_statement(block) if block.type == "compound_statement" else None
    return last if last is not None and _is_jump(last) else None


def _holds_a_jump(node: Node) -> bool:
    """Whether a jump is in a statement, lambdas left out."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if _is_jump(one):
            return True
        if one.type not in _FUNCTIONS:
            waiting += one.named_children
    return False
