"""Which statement after a guard is the first that can do something.

Everything that is not known to be idle counts as work: a declaration (its constructor and destructor run), a
call, a branch, a line that the grammar could not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ... import guards
from ...lazy_regex import lazy_regex

if TYPE_CHECKING:
    from tree_sitter import Node

    from .node_parents import NodeParents

_JUMPS = frozenset({"break_statement", "continue_statement", "goto_statement"})
_IDLE_VALUES = frozenset(
    {
        "identifier",
        "qualified_identifier",
        "this",
        "true",
        "false",
        "null",
        "number_literal",
        "string_literal",
        "char_literal",
        "field_identifier",
    }
)
_STREAM = lazy_regex(rb"^(?:(?:std::)?(?:cout|cerr|clog)\b|(?:[A-Z]+_)*LOG(?:_[A-Z]+)*\s*\(\s*\w+\s*\))")
# `printf("ready\n")`, and what the logging macros of glog, ROS, spdlog and many projects are called.
_PRINTS = lazy_regex(
    rb"(?:std::)?(?:printf|puts|fprintf|fputs)|spdlog::\w+"
    rb"|(?:[A-Z]+_)*(?:LOG|ROS|RCLCPP|PRINT|DEBUG|INFO|WARN)(?:_[A-Z]+)*"
)
_MODULE = lazy_regex(rb"(?i)(?:module|model|net|network|net_|module_|model_)$")


def first_work(
    parents: NodeParents, statement: Node, block: Node, known: dict[tuple[int, int], Node | None]
) -> Node | None:
    """The first statement after `statement`, up to the end of `block`, that can do something.

    `known` remembers the answer for the idle statements that were passed: guards often follow one another.
    """
    passed = [(statement.id, block.id)]
    found = None
    for node in _behind(parents, statement, block):
        if not is_idle_statement(node):
            found = node
            break
        place = (node.id, block.id)
        if place in known:
            found = known[place]
            break
        passed.append(place)
    known |= dict.fromkeys(passed, found)
    return found


def _behind(parents: NodeParents, statement: Node, block: Node) -> Iterator[Node]:
    current: Node | None = statement
    while current is not None and current != block:
        yield from parents.behind(current)
        current = parents.of(current)


def is_idle_statement(node: Node) -> bool:
    """Whether a statement provably does nothing to a tensor and runs no code of anybody else's."""
    if node.type == "comment" or node.type in _JUMPS:
        return True
    if node.type == "declaration":
        kind = node.child_by_field_name("type")
        return kind is not None and (kind.text or b"").rsplit(b"::", 1)[-1].decode() in guards.CPP
    if node.type == "return_statement":
        return all(_is_idle_value(value) for value in node.named_children if value.type != "comment")
    if node.type != "expression_statement":
        return False
    inner = [child for child in node.named_children if child.type != "comment"]
    return not inner or (len(inner) == 1 and _is_idle_expression(inner[0]))


def _is_idle_value(node: Node) -> bool:
    if node.type in ("field_expression", "parenthesized_expression", "initializer_list"):
        return all(_is_idle_value(child) for child in node.named_children)
    if node.type == "unary_expression":  # `-1`; `-x` is an op where x is a tensor
        return all(child.type == "number_literal" for child in node.named_children)
    return node.type in _IDLE_VALUES


def _is_idle_expression(node: Node) -> bool:
    if node.type == "assignment_expression":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        return (
            left is not None
            and right is not None
            and operator is not None
            and operator.type == "="
            and left.type in ("identifier", "field_expression")
            and _is_idle_value(right)
        )
    if node.type == "binary_expression":
        return _STREAM.match(node.text or b"") is not None and _streams_constants(node)
    return node.type == "call_expression" and (_switches_a_module(node) or _prints_constants(node))


def _prints_constants(node: Node) -> bool:
    """`printf("ready\\n")`, `ROS_INFO("model loaded")`."""
    callee, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    return (
        callee is not None
        and arguments is not None
        and _PRINTS.fullmatch(callee.text or b"") is not None
        and all(
            value.type in ("string_literal", "concatenated_string", "number_literal", "char_literal", "comment")
            or (value.text or b"") in (b"stdout", b"stderr")
            for value in arguments.named_children
        )
    )


def _streams_constants(node: Node) -> bool:
    """`std::cout << "text" << std::endl`."""
    if node.type != "binary_expression":
        return node.type in ("string_literal", "char_literal", "number_literal") or (
            _STREAM.match(node.text or b"") is not None or (node.text or b"") in (b"std::endl", b"endl")
        )
    operator = node.child_by_field_name("operator")
    return operator is not None and operator.type == "<<" and all(map(_streams_constants, node.named_children))


def _switches_a_module(node: Node) -> bool:
    """`model.eval()`, `net->train()`: flags of a module."""
    callee, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if callee is None or callee.type != "field_expression":
        return False
    receiver, method = callee.child_by_field_name("argument"), callee.child_by_field_name("field")
    return (
        receiver is not None
        and receiver.type in ("identifier", "field_expression")
        and method is not None
        and method.text in (b"eval", b"train")
        and _MODULE.search(receiver.text or b"") is not None
        and (arguments is None or all(_is_idle_value(value) for value in arguments.named_children))
    )
