"""Numbers for tensors, their memory and the nodes of the autograd graph, so that a recording says which is which."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator
from typing import Any

from ..core.tensor import Tensor
from ..tape.nodes import AccumulateGrad, Node


class _Numbers:
    """Numbers things from 1 in the order in which they are met. Keeps nothing alive."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, weakref.ref[Any]]] = {}
        self._next = itertools.count(1)

    def of(self, thing: Any) -> tuple[int, bool]:
        """The number, and whether it is a new one."""
        found = self._known.get(id(thing))
        if found is not None and found[1]() is thing:  # else another thing has got its address since
            return found[0], False
        number = next(self._next)
        self._known[id(thing)] = number, weakref.ref(thing)
        return number, True


class TensorIdentities:
    """What the tensors of one program are to each other. Looks only: no history of a view is made anew for it."""

    def __init__(self) -> None:
        self._tensors, self._memory, self._nodes = _Numbers(), _Numbers(), _Numbers()
        self._new_nodes: list[dict[str, Any]] = []

    def of(self, t: Tensor) -> dict[str, Any]:
        """Fields for the result of a step: its number, its memory's, its base's, and its node in the graph."""
        meta = t._meta
        base = None if meta is None else meta.base
        node = None if meta is None else meta.grad_fn
        if node is None and meta is not None and meta.accumulator is not None:
            node = meta.accumulator()
        return {
            "tensor": self._tensors.of(t)[0],
            "memory": self._memory.of(t._storage[1])[0],
            "base": None if base is None else self._tensors.of(base)[0],
            "node": None if node is None else self._node(node),
        }

    def take_new_nodes(self) -> list[dict[str, Any]]:
        """The nodes met since the last call: `{"node": 3, "name": "MulBackward0", "next": [1, 2]}`."""
        found, self._new_nodes = self._new_nodes, []
        return found

    def _node(self, node: Node) -> int:
        number, is_new = self._nodes.of(node)
        left = [(number, node)] if is_new else []
        while left:
            own, one = left.pop()
            following = []
            for following_node in _next_nodes(one):
                its_number, is_new = self._nodes.of(following_node)
                following.append(its_number)
                if is_new:
                    left.append((its_number, following_node))
            fields: dict[str, Any] = {"node": own, "name": one.name().rpartition("::")[2], "next": following}
            if isinstance(one, AccumulateGrad):
                fields["leaf"] = self._tensors.of(one.variable)[0]
                fields["shape"] = one.variable._array.shape
            self._new_nodes.append(fields)
        return number


def _next_nodes(node: Node) -> Iterator[Node]:
    for edge in node.next_edges:
        if edge is not None:
            yield edge[0]
