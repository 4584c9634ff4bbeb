"""The autograd graph of a tensor, drawn as SVG. grandalf lays it out in Python: no program is called."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, NamedTuple

from grandalf.graphs import Edge, Graph, Vertex
from grandalf.layouts import SugiyamaLayout

from guardfix.verify.judging.traces import TracedEvent

MOST_NODES = 40
"""Nodes of a graph that are drawn, the nearest ones."""
_HEIGHT, _LETTER, _PADDING, _MARGIN = 30, 7.4, 10, 6
"""In pixels: of a box, of a letter in it, left and right of the text, around the drawing."""
_GAP_X, _GAP_Y = 18, 26


class GraphNode(NamedTuple):
    """A node of the autograd graph."""

    name: str
    following: tuple[int, ...]
    """Where it passes gradients on."""
    leaf: str = ""
    """Of an AccumulateGrad, the tensor whose gradient ends there, in words."""

    @property
    def label(self) -> str:
        return f"{self.leaf}.grad" if self.leaf else self.name


AutogradGraph = Mapping[int, GraphNode]


def autograd_graph(events: Iterable[TracedEvent]) -> AutogradGraph:
    """All nodes in a detailed recording, by their numbers."""
    found = {}
    for event in events:
        for node in event["nodes"] if event["event"] == "graph" else ():
            leaf = f"t{node['leaf']}" if "leaf" in node else ""
            found[node["node"]] = GraphNode(node["name"], tuple(dict.fromkeys(node["next"])), leaf)
    return found


class _Box:
    """Where the layout puts a node."""

    def __init__(self, label: str) -> None:
        self.w = max(48.0, len(label) * _LETTER + 2 * _PADDING)
        self.h = float(_HEIGHT)
        self.xy = (0.0, 0.0)


class _Way:
    """Where the layout leads an edge through."""

    def __init__(self) -> None:
        self.points: list[tuple[float, float]] = []

    def setpath(self, points: list[tuple[float, float]]) -> None:
        self.points = points


def drawing(graph: AutogradGraph, root: int) -> str:
    """The graph from `root` on as an SVG element; empty where the recording has no such node."""
    if root not in graph:
        return ""
    nodes, cut = _nearest(graph, root)
    vertices = {number: Vertex(number) for number in nodes}
    for number, vertex in vertices.items():
        vertex.view = _Box(graph[number].label)
    edges = [
        Edge(vertices[number], vertices[other])
        for number in nodes
        for other in graph[number].following
        if other in vertices
    ]
    for edge in edges:
        edge.view = _Way()
    layout = SugiyamaLayout(Graph(list(vertices.values()), edges).C[0])
    layout.xspace, layout.yspace = _GAP_X, _GAP_Y
    layout.init_all(roots=[vertices[root]])
    layout.draw(3)
    return _svg(graph, vertices, edges, cut)


def _nearest(graph: AutogradGraph, root: int) -> tuple[list[int], frozenset[int]]:
    """The nodes that are drawn, and those whose successors are left out."""
    found, waiting = {root: None}, deque([root])
    while waiting:
        for other in graph[waiting.popleft()].following:
            if other in graph and other not in found and len(found) < MOST_NODES:
                found[other] = None
                waiting.append(other)
    cut = frozenset(n for n in found if any(other in graph and other not in found for other in graph[n].following))
    return list(found), cut


def _svg(graph: AutogradGraph, vertices: Mapping[int, Any], edges: list[Any], cut: frozenset[int]) -> str:
    boxes = [vertex.view for vertex in vertices.values()]
    ways = [_ends_at_boxes(edge) for edge in edges]
    points = [point for way in ways for point in way]
    left = min([box.xy[0] - box.w / 2 for box in boxes] + [x for x, _ in points]) - _MARGIN
    right = max([box.xy[0] + box.w / 2 for box in boxes] + [x for x, _ in points]) + _MARGIN
    top = min(box.xy[1] - box.h / 2 for box in boxes) - _MARGIN
    bottom = max(box.xy[1] + box.h / 2 for box in boxes) + _MARGIN
    parts = [
        f'<path class="edge" marker-end="url(#arrow)" d="M{" L".join(f"{x:.1f},{y:.1f}" for x, y in way)}"/>'
        for way in ways
    ]
    for number, vertex in vertices.items():
        box, node = vertex.view, graph[number]
        x, y = box.xy
        kind = "leaf" if node.leaf else "node"
        label = escape(node.label) + (" …" if number in cut else "")
        parts.append(
            f'<rect class="{kind}" x="{x - box.w / 2:.1f}" y="{y - box.h / 2:.1f}" width="{box.w:.1f}" '
            f'height="{box.h:.1f}" rx="{_HEIGHT / 2 if node.leaf else 5:g}"/>'
            f'<text x="{x:.1f}" y="{y + 4:.1f}">{label}</text>'
        )
    names = ", ".join(graph[number].label for number in vertices)
    shown = f"Autograd graph: {names}" + (", and more" if cut else "")
    width, height = right - left, bottom - top
    return (
        f'<svg class="graph" role="img" aria-label="{escape(shown)}" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{left:.1f} {top:.1f} {width:.1f} {height:.1f}">{"".join(parts)}</svg>'
    )


def _ends_at_boxes(edge: Any) -> list[tuple[float, float]]:
    """An edge's way from the lower side of one box to the upper side of the other; the layout goes by their middles."""
    above, below = (vertex.view for vertex in edge.v)
    middle = edge.view.points[1:-1]
    if above.xy[1] > below.xy[1]:  # never seen in a graph without cycles
        return [above.xy, *middle, below.xy]
    return [(above.xy[0], above.xy[1] + above.h / 2), *middle, (below.xy[0], below.xy[1] - below.h / 2 - 5)]
