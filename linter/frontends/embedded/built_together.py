"""Which strings of a Python program are built together: the C++ in them is one program.

`load_inline(cpp_sources=[a, b])`, `HEAD + BODY`, `"\n".join([a, b])`, an f-string that holds another text, and texts
that are written to one file. What only is in the same list, or the same module, is not: a test has many programs.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from ...facts import JoinedTexts, Span
from ...files.sources import Source
from ...lazy_regex import lazy_regex

_SOURCE = lazy_regex(r"[\w./\\+-]+\.(?:c|cc|cpp|cxx|cu|h|hh|hpp|hxx|cuh|mm|m|inl|ipp)")
_SOURCES = frozenset({"sources", "cpp_sources", "cuda_sources", "mps_sources", "sycl_sources"})
"""Parameters of functions that build extensions (torch/utils/cpp_extension.py)."""
_BUILDS = frozenset({"load_inline", "_write_ninja_file_and_build_library"})
_Function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_Text = (ast.Constant, ast.JoinedStr)
_Scope = ast.AST | None


class BuiltTogether:
    """The builds of one program."""

    def __init__(self, source: Source, tree: ast.Module) -> None:
        self._starts = source.line_starts
        self._values: dict[tuple[_Scope, str], list[ast.expr]] = defaultdict(list)
        self._builds: list[tuple[int, list[ast.expr], _Scope]] = []
        self._written: dict[tuple[_Scope, str], list[ast.expr]] = defaultdict(list)
        self._read(tree, None)
        for (scope, _), texts in self._written.items():
            if len(texts) > 1:
                self._builds.append((self._start(texts[0]), texts, scope))
        self._found: dict[int, list[JoinedTexts]] | None = None

    def of(self, literal: Span) -> tuple[JoinedTexts, ...]:
        """The builds of which the text of a literal is a part."""
        if self._found is None:
            self._found = defaultdict(list)
            for start, parts, scope in self._builds:
                texts, files = self._parts(parts, scope)
                for text in texts:
                    self._found[text].append(JoinedTexts(start, files))
        return tuple(self._found.get(literal.start, ()))

    def _read(self, node: ast.AST, scope: _Scope) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and child.value is not None:
                targets = child.targets if isinstance(child, ast.Assign) else [child.target]
                for target in targets:
                    if isinstance(target, ast.Name):
                        self._values[scope, target.id].append(child.value)
            joined = self._joined(child)
            if joined:
                self._builds.append((self._start(child), joined, scope))
            elif isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute) and child.func.attr == "write":
                self._written[scope, ast.dump(child.func.value)].extend(child.args)
            self._read(child, child if isinstance(child, _Function) else scope)

    @staticmethod
    def _joined(node: ast.AST) -> list[ast.expr]:
        """The texts that an expression makes one of."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return [node.left, node.right]
        if isinstance(node, ast.JoinedStr):
            return [node, *(part.value for part in node.values if isinstance(part, ast.FormattedValue))]
        if not isinstance(node, ast.Call):
            return []
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = [keyword.value for keyword in node.keywords if keyword.arg in _SOURCES]
        if name in _BUILDS:
            given += node.args
        if name == "join" and len(node.args) == 1:
            given += node.args
        return given

    def _parts(self, parts: list[ast.expr], scope: _Scope) -> tuple[list[int], tuple[str, ...]]:
        """Where the literals begin that make up these texts, and the files that are read for them."""
        texts: dict[int, None] = {}
        files: dict[str, None] = {}
        seen: set[int] = set()
        waiting = list(parts)
        while waiting:
            node = waiting.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, ast.Name):
                waiting += self._values.get((scope, node.id)) or self._values.get((None, node.id), [])
            elif isinstance(node, _Text):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and _SOURCE.fullmatch(node.value):
                    files[node.value] = None
                texts[self._start(node)] = None
            waiting += _inner(node)
        return list(texts), tuple(files)

    def _start(self, node: ast.AST) -> int:
        row, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
        return int(self._starts[row - 1] + column)


def _inner(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions of which a text is made, or from which it is read: not the bodies of functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr) and not isinstance(child, ast.Lambda):
            yield child
        elif isinstance(child, ast.keyword):
            yield child.value
