"""Syntax nodes of Python -> expression trees (`facts.expressions`). Names of modules are written in full."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence
from typing import Any

from ...facts.expressions import (
    MAX_DEPTH,
    MAX_TEXT,
    MAX_WIDTH,
    Bracketed,
    CallExpression,
    Clause,
    Comprehension,
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
from .name_resolution import ComprehensionNode, Scope, is_bound, resolve_name
from .parsed_module import Module
from .syntax_walking import walk

_WORD = lazy_regex(r"[^\W\d]\w*")
_MODULES = frozenset(module.split(".")[0] for module in PYTHON_MODULES)
_BUILTINS = frozenset(dir(builtins)).difference(
    "abs all any bool compile complex float int max min pow range round sum".split()
)
"""Those of Python's own names that torch doesn't have."""
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
    """A name with what is before it; unlike what the reader gives, as the file spells it."""
    attributes: list[str] = []
    start: ast.expr = node
    while isinstance(start, ast.Attribute):
        attributes.append(start.attr)
        start = start.value
    return attributes_of(module.written(start), isinstance(start, ast.Name), attributes[::-1])


def attributes_of(start: str, is_name: bool, attributes: Sequence[str]) -> Expression:
    """`torch.no_grad`, a path where it starts with a name, from that and the attributes after it."""
    if is_name:
        return NamePath((start, *attributes), separator=".")
    found: Expression = OtherExpression(start)
    for attribute in attributes:
        found = MemberAccess(found, attribute)
    return found


def operator_of(node: ast.operator | ast.unaryop | ast.boolop | ast.cmpop) -> str:
    return _OPERATORS[type(node)]


_NOTHING = LiteralExpression(LiteralKind.NONE, "None")
_COMPREHENSIONS = {ast.ListComp: "[]", ast.SetComp: "{}", ast.DictComp: "{:}", ast.GeneratorExp: "()"}


class PythonExpressionReader:
    """Reads the expressions of one file."""

    lambda_body: Callable[[ast.Lambda, Scope, int], int] | None = None
    """Where statements are read: makes a body of a lambda, whose expression goes so deep, and gives its index."""

    def __init__(self, module: Module, *, remembers: bool = False) -> None:
        """`remembers` if parts of what was read are read again on their own."""
        self._module = module
        self._known: dict[int, Expression] | None = {} if remembers else None
        self._cut = False
        self._plain: dict[str, NamePath] = {}
        self._paths: dict[str, NamePath] = {}
        self._scope: Scope | None = None
        self._named: dict[str, NamePath] = {}
        """The names that the scope which was read last mentions, in full where they are for torch or something in it;
        the attributes of such a name are part of it."""
        self._named_in: dict[Scope, dict[str, NamePath]] = {}

    def read(self, node: ast.expr, scope: Scope, depth: int = MAX_DEPTH) -> Expression:
        """The tree of an expression that is in `scope`."""
        kind = node.__class__
        if kind is ast.Name:
            return self._name(node, scope)  # type: ignore[arg-type]
        if kind is ast.Attribute:
            return self._attribute(node, scope, depth)  # type: ignore[arg-type]
        read = _READERS.get(kind, _R._other_kind)
        if depth == 0:
            self._cut = True
            return self._other(node)
        if self._known is None:
            return read(self, node, scope, depth - 1)
        known = self._known.get(id(node))
        if known is not None:
            return known
        outer, self._cut = self._cut, False
        found = read(self, node, scope, depth - 1)
        if not self._cut:
            self._known[id(node)] = found
        self._cut = self._cut or outer
        return found

    def arguments(self, call: ast.Call, scope: Scope, depth: int = MAX_DEPTH) -> tuple[Expression, ...]:
        """What a call is given: the arguments by position, then those by name."""
        if not call.keywords:
            return self._all(call.args, scope, depth)
        values = self._all((*call.args, *(keyword.value for keyword in call.keywords)), scope, depth)
        keywords = [None] * len(call.args) + [keyword.arg or "**" for keyword in call.keywords]
        return tuple(
            value if name is None else Operation("**", (value,)) if name == "**" else KeywordArgument(name, value)
            for name, value in zip(keywords, values, strict=False)
        )

    # -- the kinds of expressions

    def _name(self, node: ast.Name, scope: Scope) -> NamePath:
        if node.ctx.__class__ is not ast.Load:
            return self._plain_name(node.id)
        if scope is not self._scope:
            self._scope = scope
            self._named = self._named_in.setdefault(scope, {})
        found = self._named.get(node.id)
        if found is None:
            found = self._named[node.id] = self._path_of(node.id, scope) or self._plain_name(node.id)
        return found

    def _plain_name(self, name: str) -> NamePath:
        found = self._plain.get(name)
        if found is None:
            found = self._plain[name] = NamePath((name,), separator=".")
        return found

    def _path_of(self, name: str, scope: Scope) -> NamePath | None:
        """What a name stands for where that is torch, or something in it."""
        resolved = resolve_name(name, scope)
        if resolved is None or resolved.split(".")[0] not in _MODULES:
            return None
        if name in _BUILTINS and not is_bound(name, scope):
            return None  # `from torch import *` has no `print`
        return self._path(resolved)

    def _attribute(self, node: ast.Attribute, scope: Scope, depth: int) -> Expression:
        attributes = [node.attr]
        root = node.value
        while root.__class__ is ast.Attribute:
            attributes.append(root.attr)
            root = root.value
        found: Expression
        if isinstance(root, ast.Name):
            found = self._name(root, scope)
            if found is not self._plain.get(root.id):
                return self._path(".".join((*found.parts, *attributes[::-1])))
        elif len(attributes) >= depth:
            self._cut = True
            return self._other(node)
        else:
            found = self.read(root, scope, depth - len(attributes))
        for attribute in attributes[: -MAX_DEPTH - 1 : -1]:
            found = MemberAccess(found, attribute)
        return found

    def _path(self, dotted: str) -> NamePath:
        found = self._paths.get(dotted)
        if found is None:
            found = self._paths[dotted] = dotted_path(canonical_name(dotted))
        return found

    def _call(self, node: ast.Call, scope: Scope, depth: int) -> Expression:
        called = self.read(node.func, scope, depth)
        if node.keywords:
            return CallExpression(called, self.arguments(node, scope, depth))
        return CallExpression(called, self._all(node.args, scope, depth))

    def _constant(self, node: ast.Constant, scope: Scope, depth: int) -> Expression:
        value = node.value
        if isinstance(value, bool):
            kind = LiteralKind.BOOL
        elif value is None:
            return _NOTHING
        elif isinstance(value, (int, float, complex)):
            span = self._module.span(node)
            written = self._module.source.text[span.start : min(span.end, span.start + MAX_TEXT)].decode()
            return LiteralExpression(LiteralKind.NUMBER, written)
        elif isinstance(value, (str, bytes)):
            kind = LiteralKind.STRING
        else:
            return self._other(node)
        return LiteralExpression(kind, self._written(node))

    def _subscript(self, node: ast.Subscript, scope: Scope, depth: int) -> Expression:
        inner = node.slice
        several = inner.elts if isinstance(inner, ast.Tuple) and inner.elts else [inner]
        return Subscript(self.read(node.value, scope, depth), self._all(several, scope, depth))

    def _slice(self, node: ast.Slice, scope: Scope, depth: int) -> Expression:
        bounds = [node.lower, node.upper] if node.step is None else [node.lower, node.upper, node.step]
        return self._operation("slice", bounds, scope, depth)

    def _bracketed(self, node: ast.Tuple | ast.List | ast.Set, scope: Scope, depth: int) -> Expression:
        brackets = "()" if isinstance(node, ast.Tuple) else "[]" if isinstance(node, ast.List) else "{}"
        return Bracketed(self._all(node.elts, scope, depth), brackets)

    def _dict(self, node: ast.Dict, scope: Scope, depth: int) -> Expression:
        few = len(node.values) <= 2 * MAX_WIDTH
        kept = len(node.values) if few else MAX_WIDTH - 1
        items = [
            self._operation("**", [value], scope, depth) if key is None else self._pair(key, value, scope, depth)
            for key, value in zip(node.keys[:kept], node.values[:kept], strict=True)
        ]
        return Bracketed((*items, *(() if few else (self._other(node.values[kept]),))), "{}")

    def _pair(self, key: ast.expr, value: ast.expr, scope: Scope, depth: int) -> Expression:
        if depth == 0:
            self._cut = True
            return self._other(value)
        return Operation(":", (self.read(key, scope, depth - 1), self.read(value, scope, depth - 1)))

    def _comprehension(self, node: ComprehensionNode, scope: Scope, depth: int) -> Expression:
        inner = scope.inside(node)
        clauses = []
        for index, part in enumerate(node.generators):
            # The outermost iterable is evaluated outside of the comprehension.
            iterable = self.read(part.iter, inner if index else scope, depth)
            clauses.append(
                Clause(
                    self.read(part.target, inner, depth),
                    Operation("await", (iterable,)) if part.is_async else iterable,
                    tuple(self.read(condition, inner, depth) for condition in part.ifs[:MAX_WIDTH]),
                )
            )
        if isinstance(node, ast.DictComp):
            element = self._pair(node.key, node.value, inner, depth)
        else:
            element = self.read(node.elt, inner, depth)
        return Comprehension(_COMPREHENSIONS[type(node)], element, tuple(clauses))

    def _lambda(self, node: ast.Lambda, scope: Scope, depth: int) -> Expression:
        written = self._written(node)
        body = self.lambda_body(node, scope, depth) if self.lambda_body is not None else None
        return LambdaExpression(written, _words(written), body)

    def _formatted(self, node: ast.JoinedStr, scope: Scope, depth: int) -> Expression:
        written = self._written(node)
        if all(isinstance(part, ast.Constant) for part in node.values):
            return LiteralExpression(LiteralKind.STRING, written)
        named = (name.id for name in walk(node) if isinstance(name, ast.Name))
        return OtherExpression(written, tuple(dict.fromkeys(named)))

    # -- operators

    def _binary(self, node: ast.BinOp, scope: Scope, depth: int) -> Expression:
        left, right = self._operand(node.left, scope, depth), self._operand(node.right, scope, depth)
        return Operation(_OPERATORS[node.op.__class__], (left, right))

    def _compared(self, node: ast.Compare, scope: Scope, depth: int) -> Expression:
        sides = [node.left, *node.comparators][: MAX_WIDTH + 1]
        pairs = [
            self._operation(operator_of(operator), sides[index : index + 2], scope, depth)
            for index, operator in enumerate(node.ops[:MAX_WIDTH])
        ]
        return pairs[0] if len(pairs) == 1 else Operation("and", tuple(pairs))

    def _yield(self, node: ast.Yield, scope: Scope, depth: int) -> Expression:
        return self._operation("yield", [node.value] if node.value is not None else [], scope, depth)

    def _operation(self, operator: str, operands: Sequence[ast.expr | None], scope: Scope, depth: int) -> Expression:
        return Operation(
            operator, tuple(_NOTHING if one is None else self._operand(one, scope, depth) for one in operands)
        )

    def _operand(self, node: ast.expr, scope: Scope, depth: int) -> Expression:
        """An operand, with the brackets that `ast` leaves out."""
        found = self.read(node, scope, depth)
        if found.__class__ is not Operation:
            return found
        span, text = self._module.span(node), self._module.source.text
        before, after = text[max(0, span.start - 40) : span.start], text[span.end : span.end + 40]
        bracketed = before.rstrip().endswith(b"(") and after.lstrip().startswith(b")")
        return Bracketed((found,)) if bracketed else found

    def _all(self, nodes: Sequence[ast.expr], scope: Scope, depth: int) -> tuple[Expression, ...]:
        if len(nodes) <= 2 * MAX_WIDTH:
            return tuple([self.read(node, scope, depth) for node in nodes])
        first = (self.read(node, scope, depth) for node in nodes[: MAX_WIDTH - 1])
        return (*first, self._other(nodes[MAX_WIDTH - 1]))

    def _written(self, node: ast.expr) -> str:
        span = self._module.span(node)
        raw = self._module.source.text[span.start : min(span.end, span.start + 4 * MAX_TEXT)]
        return " ".join(raw.decode("utf-8", "replace").split())[:MAX_TEXT]

    def _other_kind(self, node: ast.expr, scope: Scope, depth: int) -> Expression:
        return self._other(node)

    def _other(self, node: ast.expr) -> Expression:
        written = self._written(node)
        return OtherExpression(written, _words(written))


_R = PythonExpressionReader
_READERS: dict[type[ast.AST], Callable[[PythonExpressionReader, Any, Scope, int], Expression]] = {
    ast.Call: _R._call,
    ast.Constant: _R._constant,
    ast.Subscript: _R._subscript,
    ast.Slice: _R._slice,
    ast.Tuple: _R._bracketed,
    ast.List: _R._bracketed,
    ast.Set: _R._bracketed,
    ast.Dict: _R._dict,
    ast.Lambda: _R._lambda,
    ast.JoinedStr: _R._formatted,
    ast.Compare: _R._compared,
    ast.Yield: _R._yield,
    **dict.fromkeys(_COMPREHENSIONS, _R._comprehension),
    ast.BinOp: _R._binary,
    ast.BoolOp: lambda reader, node, scope, depth: reader._operation(
        operator_of(node.op), node.values[:MAX_WIDTH], scope, depth
    ),
    ast.UnaryOp: lambda reader, node, scope, depth: reader._operation(
        operator_of(node.op), [node.operand], scope, depth
    ),
    ast.Starred: lambda reader, node, scope, depth: reader._operation("*", [node.value], scope, depth),
    ast.Await: lambda reader, node, scope, depth: reader._operation("await", [node.value], scope, depth),
    ast.YieldFrom: lambda reader, node, scope, depth: reader._operation("yield from", [node.value], scope, depth),
    ast.NamedExpr: lambda reader, node, scope, depth: reader._operation(":=", [node.target, node.value], scope, depth),
    ast.IfExp: lambda reader, node, scope, depth: reader._operation(
        "if else", [node.test, node.body, node.orelse], scope, depth
    ),
}


def _words(written: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_WORD.findall(written)))
