"""One module's text and tree: where its nodes are, and which of its rows can matter.

Most statements of a file name no guard. Those are passed over by their rows, so that the rest of a file costs nothing
but its parsing.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

from ... import guards
from ...facts import Span
from ...files.sources import Source
from ...lazy_regex import lazy_regex
from .name_resolution import Scope
from .python_look import name_places
from .syntax_walking import stands_on

_COLON = lazy_regex(rb"(?:[\s),\\]|#[^\r\n]*(?![^\r\n]))*:")
_CLOSING = lazy_regex(rb"(?:(?:[\s\\]|#[^\r\n]*(?![^\r\n]))*\))*")
_MANAGED = lazy_regex(rb"\b(?:async)?contextmanager\(\s*(?:\w+\.)?(\w+)")
_span: Callable[[tuple[int, int]], Span] = partial(tuple.__new__, Span)
"""Makes a span in half the time that its own constructor takes."""


class Module:
    """A parsed file. Offsets count bytes of `source.text`, as the columns of `ast` do."""

    def __init__(self, source: Source, tree: ast.Module, watched: Iterable[str] = ()) -> None:
        self.source = source
        self.tree = tree
        self.answers: dict[Any, Any] = {}
        """See `answered_once`."""
        self.scope = Scope(tree, None, source.text)
        self._starts = source.line_starts
        self.words = {*guards.PYTHON, *watched}
        """The last parts of names that may be guards: the guards' own, and what this file calls them."""
        self._rows = self._rows_with(self.words)
        self.entered = self._entered()
        """The module's own context managers in whose code a guard is."""
        aliases = {*self._aliases(), *self.entered} - self.words
        if aliases:
            self.words |= aliases
            self._rows = sorted({*self._rows, *self._rows_with(aliases)})

    def _entered(self) -> frozenset[str]:
        text = self.source.text
        if b"inference_mode" not in text or (b"__enter__" not in text and b"contextmanager" not in text):
            return frozenset()
        return frozenset(
            node.name
            for node in self.tree.body
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and self.matters(node) and _is_context_manager(node)
        )

    # -- places

    def offset(self, row: int, column: int) -> int:
        return self._starts[row - 1] + column

    def start_of_row(self, row: int) -> int:
        """Of a row counted from 0; the text's end for the row after the last."""
        return self._starts[row] if row < len(self._starts) else len(self.source.text)

    def span(self, node: ast.AST) -> Span:
        starts = self._starts
        start: int = starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        end: int = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        return _span((start, end))

    def written(self, node: ast.AST) -> str:
        return self.source.slice(self.span(node))

    def body_span(self, body: Sequence[ast.stmt]) -> Span:
        return Span(self.start_of(body[0]), self.span(body[-1]).end)

    def start_of(self, node: ast.stmt) -> int:
        """Where a statement begins, its decorators included."""
        decorators = getattr(node, "decorator_list", None)
        if not decorators:
            return self.span(node).start
        first = self.span(decorators[0]).start
        return self.source.text.rfind(b"@", 0, first)

    def with_header(self, node: ast.With | ast.AsyncWith) -> Span:
        """From `with` to its colon."""
        last = node.items[-1]
        start = self.span(last.optional_vars or last.context_expr).end
        colon = _COLON.match(self.source.text, start)
        return Span(self.span(node).start, colon.end() if colon is not None else start)

    def target_span(self, item: ast.withitem) -> Span:
        """From the space before `as` to the end of the name after it, with the brackets around that."""
        assert item.optional_vars is not None
        text, target = self.source.text, self.span(item.optional_vars)
        between = text[self.span(item.context_expr).end : target.start]
        closing = _CLOSING.match(between)
        opening = between.count(b"(", closing.end() if closing is not None else 0)
        end = target.end
        for _ in range(opening):
            end = text.find(b")", end) + 1
        return Span(target.start - len(between) + (closing.end() if closing is not None else 0), end)

    @cached_property
    def managed(self) -> frozenset[str]:
        """Names of functions that a call makes context managers of: `quiet = contextmanager(_quiet)`."""
        text = self.source.text
        return (
            frozenset(name.decode() for name in _MANAGED.findall(text)) if b"contextmanager(" in text else frozenset()
        )

    # -- which rows can matter

    def matters(self, node: ast.stmt) -> bool:
        """Whether a guard's name is on one of the statement's rows."""
        return stands_on(self._rows, node)

    def expression_matters(self, node: ast.expr) -> bool:
        """Whether a guard's name is on one of the expression's rows."""
        index = bisect_left(self._rows, node.lineno)
        return index < len(self._rows) and self._rows[index] <= (node.end_lineno or node.lineno)

    def _rows_with(self, words: Iterable[str]) -> list[int]:
        starts = self._starts
        return sorted({bisect_right(starts, at) for at in name_places(self.source.text, words)})

    def _aliases(self) -> Iterator[str]:
        """Names that this file gives to guards: `import … as`, `guard = torch.no_grad`."""
        stack: list[ast.stmt] = list(self.tree.body)
        while stack:
            node = stack.pop()
            if not self.matters(node):
                continue  # an alias of a guard names the guard
            yield from self._aliases_of(node)
            for name in ("body", "handlers", "orelse", "finalbody", "cases"):
                for child in getattr(node, name, ()):
                    stack.extend([child] if isinstance(child, ast.stmt) else child.body)

    def _aliases_of(self, node: ast.stmt) -> Iterator[str]:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.asname and alias.name in self.words:
                    yield alias.asname
        elif isinstance(node, ast.Assign) and isinstance(node.value, (ast.Name, ast.Attribute)):
            last = node.value.attr if isinstance(node.value, ast.Attribute) else node.value.id
            if last in self.words:
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        yield target.id


def _is_context_manager(node: ast.ClassDef | ast.FunctionDef) -> bool:
    if isinstance(node, ast.ClassDef):
        return any(isinstance(child, ast.FunctionDef) and child.name == "__enter__" for child in node.body)
    names = (
        one.attr if isinstance(one, ast.Attribute) else one.id
        for one in node.decorator_list
        if isinstance(one, (ast.Attribute, ast.Name))
    )
    return any(name == "contextmanager" for name in names)
