"""What holds a node. tree-sitter finds a parent, and a sibling, from the root down: climbing would cost depth squared.

Here a parent is kept on the way down to a node, and the way to the next node goes on from there. Asked in the order of
the text, all questions together cost no more than the nodes that are passed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


class NodeParents:
    """The parents of one tree's nodes."""

    def __init__(self, root: Node) -> None:
        self.root = root
        self._parents: dict[int, Node | None] = {root.id: None}
        self._way = [root]
        """From the root to the last node that was looked for, which is not in it."""
        self._children: dict[int, tuple[list[Node], list[int]]] = {}
        self._found: dict[tuple[str, int], Node | None] = {}

    def of(self, node: Node) -> Node | None:
        """The node's parent; None for the root."""
        if node.id not in self._parents:
            self._go_to(node)
        try:
            return self._parents[node.id]
        except KeyError:  # an empty node, which the grammar put in: it is in no place of its own
            return node.parent

    def type_of(self, node: Node) -> str:
        """What the node's parent is; empty for the root."""
        parent = self.of(node)
        return parent.type if parent is not None else ""

    def above(self, node: Node) -> Iterator[Node]:
        """The parent, its parent, and so on."""
        outer = self.of(node)
        while outer is not None:
            yield outer
            outer = self.of(outer)

    def first(self, question: str, node: Node, answers: Callable[[Node, Node | None], bool]) -> Node | None:
        """The node, or the first above it, that answers a question, given its parent; each node is asked once."""
        passed = []
        current: Node | None = node
        while current is not None and (question, current.id) not in self._found:
            passed.append((question, current.id))
            outer = self.of(current)
            if answers(current, outer):
                break
            current = outer
        found = self._found.get((question, current.id), current) if current is not None else None
        self._found |= dict.fromkeys(passed, found)
        return found

    def behind(self, node: Node) -> Iterator[Node]:
        """The named siblings that follow the node."""
        parent = self.of(node)
        if parent is None:
            return
        children, starts = self._children_of(parent)
        place = bisect_right(starts, node.start_byte)
        while place and children[place - 1].id != node.id and children[place - 1].start_byte == node.start_byte:
            place -= 1
        yield from (child for child in children[place:] if child.is_named)

    def _go_to(self, node: Node) -> None:
        start, end = node.start_byte, node.end_byte
        if start == end:
            return
        way = self._way
        while len(way) > 1 and not (way[-1].start_byte <= start and end <= way[-1].end_byte):
            way.pop()
        while True:
            children, starts = self._children_of(way[-1])
            place = bisect_right(starts, start) - 1
            child = children[place] if place >= 0 else None
            if child is None or child.end_byte < end:
                return
            self._parents[child.id] = way[-1]
            if child.id == node.id:
                return
            way.append(child)

    def _children_of(self, node: Node) -> tuple[list[Node], list[int]]:
        found = self._children.get(node.id)
        if found is None:
            children = node.children
            found = self._children[node.id] = (children, [child.start_byte for child in children])
        return found
