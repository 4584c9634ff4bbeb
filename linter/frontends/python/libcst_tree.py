"""libcst's tree of the part of a file that a construct is in, with the place of each node.

libcst reads about 1 MB/s and `ast` ten times that. So `ast` says which lines a construct is in, and libcst reads those
lines: the smallest statement of the module, or member of a class, that holds them.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import cache, cached_property
from operator import itemgetter
from typing import Any, TypeVar, cast

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper

from ...facts import Span
from ...facts.spans import Nested, Sorted
from ...files.sources import Source
from ...lazy_regex import lazy_regex
from ...named_tuples import NamedTuple
from .python_parsing import is_monstrous, on_large_stack, parse_or_none, parse_with_libcst
from .syntax_walking import first_row

_Node = TypeVar("_Node", bound=cst.CSTNode)
_BLANK_BEFORE_COLON = lazy_regex(r"^([ \t]*except\b[^\r\n#:]*?)([ \t]+):", re.MULTILINE)
LibcstDefinition = cst.FunctionDef | cst.ClassDef | cst.Lambda
_DEFINITIONS = (cst.FunctionDef, cst.ClassDef, cst.Lambda)


class LibcstTree:
    """A parsed region. Offsets count bytes of the whole file, as everywhere."""

    def __init__(
        self, source: Source, positions: Mapping[cst.CSTNode, Span], parents: Mapping[cst.CSTNode, cst.CSTNode]
    ) -> None:
        self._source = source
        self._positions = positions
        self._parents = parents
        self._sorted: dict[tuple[type[cst.CSTNode], ...], Sorted[Any]] = {}
        self._nested: dict[tuple[type[cst.CSTNode], ...], Nested[Any]] = {}

    @cached_property
    def _by_span(self) -> dict[Span, list[cst.CSTNode]]:
        found: dict[Span, list[cst.CSTNode]] = {}
        for node, span in self._positions.items():
            found.setdefault(span, []).append(node)
        return found

    @cached_property
    def _by_type(self) -> dict[type[cst.CSTNode], list[tuple[int, cst.CSTNode]]]:
        """(rank in the tree, node) of each class of nodes: a region may hold many constructs, each asked about."""
        found: dict[type[cst.CSTNode], list[tuple[int, cst.CSTNode]]] = {}
        for rank, node in enumerate(self._positions):
            found.setdefault(type(node), []).append((rank, node))
        return found

    def nodes(self, *kinds: type[_Node]) -> list[_Node]:
        """All nodes of these kinds."""
        found = [pair for type_, pairs in self._by_type.items() if issubclass(type_, kinds) for pair in pairs]
        return [cast("_Node", node) for _, node in sorted(found, key=itemgetter(0))]

    def nodes_within(self, span: Span, *kinds: type[_Node]) -> Iterator[_Node]:
        """The nodes of these kinds that lie in the span, by where they start."""
        if kinds not in self._sorted:
            self._sorted[kinds] = Sorted(self.nodes(*kinds), self._positions.__getitem__)
        yield from self._sorted[kinds].within(span)

    def nodes_at(self, span: Span) -> list[cst.CSTNode]:
        """The nodes that are exactly there."""
        return self._by_span.get(span, [])

    def is_header(self, span: Span) -> bool:
        """Whether a statement that holds others begins there, decorators or not, and those begin after it."""
        return any(
            span.start in (whole.start, self.statement_span(node).start)
            and span.end <= self._positions[node.body].start
            for whole, nodes in self._by_span.items()
            for node in nodes
            if isinstance(node, (cst.With, cst.FunctionDef, cst.For))
        )

    def node_at(self, span: Span, kind: type[_Node]) -> _Node | None:
        """The outermost node of a kind that is exactly there."""
        found = [node for node in self.nodes_at(span) if isinstance(node, kind)]
        return next((node for node in found if self.parent(node) not in found), None)

    def node_holding(self, span: Span, *kinds: type[_Node]) -> _Node | None:
        """The smallest node of one of these kinds that holds the span."""
        if kinds not in self._nested:
            self._nested[kinds] = Nested(self.nodes(*kinds), self._positions.__getitem__)
        smallest: _Node | None = None
        for node in self._nested[kinds].around(span):
            if smallest is not None and self._positions[node] != self._positions[smallest]:
                break
            smallest = node  # of those that are in one place, the first
        return smallest

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return self._parents.get(node)

    def path(self, node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
        """(ancestor, its child on the way to the node), from the node outwards."""
        child, ancestor = node, self.parent(node)
        while ancestor is not None:
            yield ancestor, child
            child, ancestor = ancestor, self.parent(ancestor)

    # -- places, as `ast` counts them

    def span(self, node: cst.CSTNode) -> Span:
        """Where a node is; a definition without its decorators, an expression without brackets around it."""
        span = self._positions[node]
        if isinstance(node, cst.TypeAlias):  # libcst counts the semicolon after it
            return Span(span.start, self.outer_span(node.value).end)
        return span

    def outer_span(self, node: cst.BaseExpression) -> Span:
        """Where an expression is with all brackets around it."""
        span = self._positions[node]
        if not node.lpar:
            return span
        return Span(self._positions[node.lpar[0]].start, self._positions[node.rpar[-1]].end)

    def display_span(self, node: cst.BaseExpression) -> Span:
        """Where an expression is; the innermost brackets of a tuple or generator expression are its own."""
        if isinstance(node, (cst.Tuple, cst.GeneratorExp)) and node.lpar:
            return Span(self._positions[node.lpar[-1]].start, self._positions[node.rpar[0]].end)
        return self._positions[node]

    def statement_span(self, node: cst.CSTNode) -> Span:
        """Where a statement is, its decorators included."""
        if isinstance(node, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
            return Span(self.span(node.body[0]).start, self.span(node.body[-1]).end)
        decorators = node.decorators if isinstance(node, (cst.FunctionDef, cst.ClassDef)) else ()
        start = self.span(decorators[0]).start if decorators else self.span(node).start
        return Span(start, self.span(node).end)

    def body_span(self, body: cst.BaseSuite) -> Span:
        """From the first statement of a body to the last."""
        if isinstance(body, cst.SimpleStatementSuite):
            return self.statement_span(body)
        first, last = self.statement_span(body.body[0]), self.statement_span(body.body[-1])
        return Span(first.start, last.end)

    def written(self, node: cst.CSTNode) -> str:
        """A node's text, without brackets around it."""
        return self._source.slice(self.span(node))

    def slice(self, span: Span) -> str:
        return self._source.slice(span)

    # -- what a node runs in

    def definition(self, node: cst.CSTNode) -> LibcstDefinition | None:
        """The function, class or lambda in whose body a node is."""
        return self._definitions.get(node)

    def is_in_function(self, node: cst.CSTNode) -> bool:
        definition = self.definition(node)
        while definition is not None and not isinstance(definition, cst.FunctionDef):
            definition = self.definition(definition)
        return definition is not None

    @cached_property
    def _definitions(self) -> dict[cst.CSTNode, LibcstDefinition | None]:
        """What each node runs in: found from the root down, as a chain of `elif` is as deep as it is long."""
        found: dict[cst.CSTNode, LibcstDefinition | None] = {}
        for node, parent in self._parents.items():  # which come before what is in them
            is_body = isinstance(parent, _DEFINITIONS) and node is parent.body
            found[node] = parent if is_body else found.get(parent)  # type: ignore[assignment]
        return found


class _Rows(NamedTuple):
    """The first and the last row of each statement of a body."""

    first: list[int]
    last: list[int]


class LibcstTrees:
    """The trees of one file's regions, each parsed when it is first asked for."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._trees: dict[Span, LibcstTree | None] = {}
        self._body: list[ast.stmt] | None = None
        self._rows: dict[int, _Rows] = {}

    def holding(self, span: Span) -> LibcstTree | None:
        """The tree of the smallest region that holds the span; None when libcst cannot read the file."""
        region = self.region(span)
        tree = self._tree(region)
        # Lines on their own can be half a statement: one that a backslash continues.
        return tree if tree is not None else self.whole()

    def whole(self) -> LibcstTree | None:
        """The tree of the whole file."""
        return self._tree(Span(0, len(self._source.text)))

    def region(self, span: Span) -> Span:
        """The lines of the smallest statement of the module or member of a class that holds the span."""
        if self._body is None:
            tree = parse_or_none(self._source.text.decode("utf-8"))
            self._body = tree.body if tree is not None else []
        first, last = self._source.row(span.start), self._source.row(max(span.start, span.end - 1))
        rows: range | None = None
        body = self._body
        while True:
            statements = self._on_rows(body, first, last)
            if not statements:
                break
            found = range(first_row(statements[0]), max(_last_row(one) for one in statements) + 1)
            if first < found.start or last >= found.stop or (rows is not None and found.start <= rows.start):
                break  # between two members, or on the row of `class`
            rows = found
            if len(statements) > 1 or not isinstance(statements[0], ast.ClassDef):
                break
            body = statements[0].body
        if rows is None:
            return Span(0, len(self._source.text))
        starts = self._source.line_starts
        end = starts[rows.stop - 1] if rows.stop <= len(starts) else len(self._source.text)
        return Span(starts[rows.start - 1], end)

    def _on_rows(self, body: list[ast.stmt], first: int, last: int) -> list[ast.stmt]:
        """The statements of a body that are on these rows, and those that share a row with one of them."""
        if id(body) not in self._rows:
            self._rows[id(body)] = _Rows([first_row(node) for node in body], [_last_row(node) for node in body])
        begin, end = self._rows[id(body)]
        low, high = bisect_left(end, first), bisect_right(begin, last) - 1
        if low > high:
            return []
        while low and end[low - 1] >= begin[low]:
            low -= 1
        while high + 1 < len(body) and begin[high + 1] <= end[high]:
            high += 1
        return body[low : high + 1]

    def _tree(self, region: Span) -> LibcstTree | None:
        if region not in self._trees:
            self._trees[region] = _read(self._source, region)
        return self._trees[region]


def _last_row(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _read(source: Source, region: Span) -> LibcstTree | None:
    """The tree of a region; None when libcst cannot read it."""
    text = source.slice(region)
    header = "if 1:\n" if text[:1] in (" ", "\t") and region.start else ""
    if is_monstrous(text):
        return None
    module = parse_with_libcst(header + text)
    if module is not None and not _writes_back(module, header + text):
        # libcst (1.9) forgets the blank of `except Error :`, and everything after it would move.
        text = _BLANK_BEFORE_COLON.sub(r"\1:\2", text)
        module = parse_with_libcst(header + text)
    if module is None or not _writes_back(module, header + text):
        return None
    return on_large_stack(_placing(module, source, region.start - len(header)))


def _writes_back(module: cst.Module, text: str) -> bool:
    """Whether libcst has every byte in its place; at the end it may forget a lone carriage return."""
    return on_large_stack(lambda: module.code.rstrip("\r\n") == text.rstrip("\r\n")) is True


def _placing(module: cst.Module, source: Source, shift: int) -> Callable[[], LibcstTree]:
    def place() -> LibcstTree:
        wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
        places = wrapper.resolve(ByteSpanPositionProvider)
        positions = {
            node: Span(place.start + shift, place.start + place.length + shift) for node, place in places.items()
        }
        return LibcstTree(source, positions, _parents(module))

    return place


def _parents(module: cst.Module) -> dict[cst.CSTNode, cst.CSTNode]:
    """What each node is in. (libcst's own ParentNodeProvider takes longer than parsing does.)"""
    parents: dict[cst.CSTNode, cst.CSTNode] = {}
    stack: list[cst.CSTNode] = [module]
    while stack:
        node = stack.pop()
        for name in _field_names(type(node)):
            value = getattr(node, name)
            for child in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(child, cst.CSTNode):
                    parents[child] = node
                    stack.append(child)
    return parents


@cache
def _field_names(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
