"""Syntax nodes of Python -> expression trees (`facts.expressions`). Names of modules are written in full."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...facts.expressions import (
    MAX_DEPTH,
    MAX_TEXT,
    MAX_WIDTH,
    Bracketed,
    CallExpression,
    Expression,
    KeywordArgument,
    LambdaExpression,
    LiteralExpression,
    LiteralKind,
    MemberAccess,
    NamePath,
    Operation,
    OtherExpression,
    Subscript,
)
from ...guards import PYTHON_MODULES, canonical_name
from ...lazy_regex import lazy_regex
from .name_resolution import Scope, resolve
from .parsed_module import Module

_WORD = lazy_regex(r"[^\W\d]\w*")
_MODULES = frozenset(module.split(".")[0] for module in PYTHON_MODULES)
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.MatMult: "@",
    ast.Div: "/",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.BitAnd: "&",
    ast.FloorDiv: "//",
    ast.And: "and",
    ast.Or: "or",
    ast.Not: "not",
    ast.Invert: "~",
    ast.UAdd: "+",
    ast.USub: "-",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


def dotted_path(name: str) -> NamePath:
    """`torch.nn.Linear` as a path."""
    return NamePath(tuple(part for part in name.split(".") if part), separator=".")


def name_as_written(module: Module, node: ast.Name | ast.Attribute) -> Expression:
    """A name with what stands before it; unlike what the reader gives, as the file spells it."""
    attributes: list[str] = []
    start: ast.expr = node
    while isinstance(start, ast.Attribute):
        attributes.append(start.attr)
        start = start.value
    return attributes_of(module.written(start), isinstance(start, ast.Name), attributes[::-1])


def attributes_of(start: str, is_name: bool, attributes: Sequence[str]) -> Expression:
    """`torch.no_grad`, a path where it starts with a name, from that and the attributes behind it."""
    if is_name:
        return NamePath((start, *attributes), separator=".")
    found: Expression = OtherExpression(start)
    for attribute in attributes:
        found = MemberAccess(found, attribute)
    return found


def operator_of(node: ast.operator | ast.unaryop | ast.boolop | ast.cmpop) -> str:
    return _OPERATORS[type(node)]


class PythonExpressionReader:
    """Reads the expressions of one file."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._known: dict[int, Expression] = {}
        self._cut = False

    def read(self, node: ast.expr, scope: Scope, depth: int = MAX_DEPTH) -> Expression:
        """The tree of an expression that is in `scope`."""
        known = self._known.get(id(node))
        if known is not None:
            return known
        if depth == 0:
            self._cut = True
            return self._other(node)
        outer, self._cut = self._cut, False
        found = self._read(node, scope, depth - 1)
        if not self._cut:
            self._known[id(node)] = found
        self._cut = self._cut or outer
        return found

    def arguments(self, call: ast.Call, scope: Scope, depth: int = MAX_DEPTH) -> tuple[Expression, ...]:
        """What a call is given: the arguments by position, then those by name."""
        values = self._all((*call.args, *(keyword.value for keyword in call.keywords)), scope, depth)
        keywords = [None] * len(call.args) + [keyword.arg or "**" for keyword in call.keywords]
        return tuple(
            value if name is None else Operation("**", (value,)) if name == "**" else KeywordArgument(name, value)
            for name, value in zip(keywords, values, strict=False)
        )

    def _read(self, node: ast.expr, scope: Scope, depth: int) -> Expression:
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._named(node, scope, depth)
        if isinstance(node, ast.Call):
            return CallExpression(self.read(node.func, scope, depth), self.arguments(node, scope, depth))
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.Subscript):
            inner = node.slice
            several = inner.elts if isinstance(inner, ast.Tuple) and inner.elts else [inner]
            return Subscript(self.read(node.value, scope, depth), self._all(several, scope, depth))
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            brackets = {ast.Tuple: "()", ast.List: "[]"}.get(type(node), "{}")
            return Bracketed(self._all(node.elts, scope, depth), brackets)
        if isinstance(node, ast.Lambda):
            written = self._written(node)
            return LambdaExpression(written, _words(written))
        if isinstance(node, ast.JoinedStr):
            return LiteralExpression(LiteralKind.STRING, self._written(node))
        return self._operation(node, scope, depth) or self._other(node)

    def _operation(self, node: ast.expr, scope: Scope, depth: int) -> Expression | None:
        if isinstance(node, ast.BinOp):
            operator, operands = operator_of(node.op), [node.left, node.right]
        elif isinstance(node, ast.BoolOp):
            operator, operands = operator_of(node.op), node.values[:MAX_WIDTH]
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            operator, operands = operator_of(node.ops[0]), [node.left, node.comparators[0]]
        elif isinstance(node, ast.UnaryOp):
            operator, operands = operator_of(node.op), [node.operand]
        elif isinstance(node, ast.Starred):
            operator, operands = "*", [node.value]
        elif isinstance(node, ast.Await):
            operator, operands = "await", [node.value]
        elif isinstance(node, ast.NamedExpr):
            operator, operands = ":=", [node.target, node.value]
        elif isinstance(node, ast.IfExp):
            operator, operands = "if else", [node.test, node.body, node.orelse]
        else:
            return None
        return Operation(operator, tuple(self._operand(operand, scope, depth) for operand in operands))

    def _operand(self, node: ast.expr, scope: Scope, depth: int) -> Expression:
        """An operand, with the brackets that `ast` leaves out."""
        found = self.read(node, scope, depth)
        if not isinstance(found, Operation):
            return found
        span, text = self._module.span(node), self._module.source.text
        before, behind = text[max(0, span.start - 40) : span.start], text[span.end : span.end + 40]
        bracketed = before.rstrip().endswith(b"(") and behind.lstrip().startswith(b")")
        return Bracketed((found,)) if bracketed else found

    def _named(self, node: ast.Name | ast.Attribute, scope: Scope, depth: int) -> Expression:
        resolved = resolve(node, scope)
        if resolved is not None and resolved.split(".")[0] in _MODULES:
            return dotted_path(canonical_name(resolved))
        if isinstance(node, ast.Name):
            return NamePath((node.id,), separator=".")
        return MemberAccess(self.read(node.value, scope, depth), node.attr)

    def _constant(self, node: ast.Constant) -> Expression:
        value = node.value
        if isinstance(value, bool):
            kind = LiteralKind.BOOL
        elif value is None:
            kind = LiteralKind.NONE
        elif isinstance(value, (int, float, complex)):
            kind = LiteralKind.NUMBER
        elif isinstance(value, (str, bytes)):
            kind = LiteralKind.STRING
        else:
            return self._other(node)
        return LiteralExpression(kind, self._written(node))

    def _all(self, nodes: Sequence[ast.expr], scope: Scope, depth: int) -> tuple[Expression, ...]:
        if len(nodes) <= 2 * MAX_WIDTH:
            return tuple(self.read(node, scope, depth) for node in nodes)
        first = (self.read(node, scope, depth) for node in nodes[: MAX_WIDTH - 1])
        return (*first, self._other(nodes[MAX_WIDTH - 1]))

    def _written(self, node: ast.expr) -> str:
        span = self._module.span(node)
        raw = self._module.source.text[span.start : min(span.end, span.start + 4 * MAX_TEXT)]
        return " ".join(raw.decode("utf-8", "replace").split())[:MAX_TEXT]

    def _other(self, node: ast.expr) -> Expression:
        written = self._written(node)
        return OtherExpression(written, _words(written))


def _words(written: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_WORD.findall(written)))
