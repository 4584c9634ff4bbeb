"""Rows for C++ of the ops that our headers don't name: a new op is one file (ATen/core/ops.def says what rows are).

They are read from the lines that register ops in aten/, since a compiler is started where no op is loaded.
"""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Iterator
from pathlib import Path

ATEN = Path(__file__).resolve().parents[1] / "aten"
_REGISTERED = re.compile(r'^@op\(\s*"(\w+)"', re.M)
_TENSOR = "const Tensor&"
_TYPES = {"": _TENSOR, "Any": _TENSOR, "Array": _TENSOR, "float": "double", "int": "int64_t", "bool": "bool"}
"""What a kernel says of a parameter, and C++'s type."""
_PARSING = threading.Lock()
"""CPython 3.11 may raise SystemError ("AST constructor recursion depth mismatch") where threads parse at once."""


def rows_of_new_ops(headers: list[Path]) -> str:
    """The rows of public ops of which no header has the name, one a line. Ops with other types have none."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(ATEN.rglob("*.py"))]
    names = {name for text in texts for name in _REGISTERED.findall(text)}
    for path in headers:
        names.difference_update(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    with _PARSING:
        trees = [ast.parse(text) for text in texts if not names.isdisjoint(_REGISTERED.findall(text))]
    found = (_rows(tree, names) for tree in trees)
    return "".join(f"{row}\n" for rows in found for row in rows)


def _rows(tree: ast.Module, names: set[str]) -> Iterator[str]:
    for kernel in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        for call in kernel.decorator_list:
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "op" and isinstance(call.args[0], ast.Constant):
                options = {word.arg: ast.unparse(word.value) for word in call.keywords}
                if call.args[0].value in names and options.keys().isdisjoint({None, "function", "method", "outputs"}):
                    forms = ("FRESH", ""), *([("SELF", "_")] if "inplace" in options else [])
                    yield from _forms(call.args[0].value, kernel.args, forms)


def _forms(name: str, said: ast.arguments, forms: tuple[tuple[str, str], ...]) -> Iterator[str]:
    types = [_TYPES.get(ast.unparse(one.annotation) if one.annotation else "", "") for one in said.args]
    if types[:1] != [_TENSOR] or "" in types or said.kwonlyargs or said.vararg or said.defaults:
        return
    parameters = ", ".join(f"{kind} {one.arg}" for kind, one in zip(types[1:], said.args[1:], strict=True))
    arguments = ", ".join(one.arg for one in said.args[1:])
    for kind, suffix in forms:
        yield f"GUARDFIX_OP({kind}, {name}{suffix}, ({parameters}), ({arguments}))"
