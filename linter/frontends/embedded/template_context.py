"""What a Python program does with a text of C++: the name that it is given, and the `if` that chooses it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ... import guards
from ...facts import Span, Template
from ...files.sources import Source
from ...lazy_regex import lazy_regex

_GUARD = lazy_regex(
    rf"\b(?:{guards.LEGACY}|{guards.INFERENCE_MODE}|{guards.BELOW_AUTOGRAD}|{guards.BELOW_ADINPLACEORVIEW})\b".encode()
)


def template_of(place: Span, source: Source, tree: ast.Module) -> Template | None:
    """What is around the text at `place`; None where nothing around it says what it is for."""
    name = condition = ""
    about = place
    others: Sequence[ast.AST] = ()
    node: ast.AST = tree
    while (inner := _child_at(node, place, source)) is not None:
        if isinstance(node, (ast.If, ast.IfExp)) and inner is not node.test:
            then, otherwise = (node.body, node.orelse) if isinstance(node, ast.If) else ([node.body], [node.orelse])
            others = otherwise if inner in then else then
            about = _span(node.test, source)
            condition = " ".join(source.slice(about).split())
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Name, ast.Attribute)):
            target = node.targets[0]
            name = target.id if isinstance(target, ast.Name) else target.attr
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name, condition, others, about = "", "", (), place
        node = inner
    texts = (source.text[span.start : span.end] for span in (_span(other, source) for other in others))
    found = {guard.decode() for text in texts for guard in _GUARD.findall(text)}
    return Template(name, about, condition, tuple(sorted(found))) if name or found else None


def _child_at(node: ast.AST, place: Span, source: Source) -> ast.AST | None:
    """The part of the program around the text that is nearest to `node`."""
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "lineno"):
            if _span(child, source).holds(place):
                return child
        elif _child_at(child, place, source) is not None:  # a keyword, a case: what has no place of its own
            return child
    return None


def _span(node: ast.AST, source: Source) -> Span:
    starts = source.line_starts
    return Span(
        starts[node.lineno - 1] + node.col_offset,  # type: ignore[attr-defined]
        starts[node.end_lineno - 1] + node.end_col_offset,  # type: ignore[attr-defined]
    )
