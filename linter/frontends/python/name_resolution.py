"""What names mean: imports, aliases, star imports and assignments of one module, scope by scope.

A name resolves to a dotted name (`t.no_grad` -> `torch.no_grad`) or, where its bindings disagree or aren't imports
and no plain alias, to nothing: then no rule speaks about it.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from ... import guards
from ...lazy_regex import lazy_regex
from .python_look import name_places
from .syntax_walking import stands_on, walk

TORCH = "torch"

Binding = str | ast.expr | None
"""A dotted name that was imported, an expression that was assigned, or something that is neither."""

ComprehensionNode = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
ScopeNode = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ComprehensionNode
"""What has a scope for the names that it binds."""
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SIMPLE = frozenset({ast.Assign, ast.Expr, ast.Return, ast.AugAssign, ast.AnnAssign, ast.Import, ast.ImportFrom})
"""The commonest statements that hold no others."""
TRY_STATEMENTS: tuple[type[ast.Try], ...] = (ast.Try, getattr(ast, "TryStar", ast.Try))
"""`except*` is new in Python 3.11."""
_BINDS_NOTHING = frozenset({ast.Expr, ast.Return, ast.If, ast.Raise, ast.Assert, ast.Pass, ast.While, ast.Delete})
_DEPTH = 8


class Scope:
    """The names that a module, class, function or comprehension binds itself; read when they are first asked for.

    `text` is the module's: what it does not hold (`:=`, `global`) is not looked for.
    """

    def __init__(
        self,
        node: ScopeNode,
        parent: Scope | None,
        text: bytes = b"",
    ) -> None:
        self.node = node
        self.parent = parent
        self._walrus_rows: list[int] = (
            parent._walrus_rows if parent is not None else _rows_of(_places(text, b":="), text)
        )
        self._declaration_rows: list[int] = (
            parent._declaration_rows
            if parent is not None
            else _rows_of(sorted(name_places(text, ("global", "nonlocal"))), text)
        )
        self._top: Scope | None = None if parent is None else parent._top or parent
        self._declarations: list[ast.Global | ast.Nonlocal] | None = None
        """Of a module: all those in it, from above."""
        self._bound: dict[str, list[Binding]] | None = None
        self.meanings: dict[tuple[str, int], str | None] = {}
        """What names of this scope came to: (name, how far assignments were followed) -> dotted name."""
        self.stars: list[str] = []
        self._inside: dict[ast.AST, Scope] = {}

    def inside(self, node: ScopeNode) -> Scope:
        """The scope of a class, function or comprehension that is in this one: the same each time, so that it is
        read once."""
        found = self._inside.get(node)
        if found is None:
            found = self._inside[node] = Scope(node, self)
        return found

    def forget_inner(self) -> None:
        """Forget the scopes in this one, which know it as well: that would keep the tree until the next collection."""
        for scope in self._inside.values():
            scope.forget_inner()
        self._inside.clear()

    @property
    def bound(self) -> dict[str, list[Binding]]:
        if self._bound is None:
            self._bound = {}
            self._read()
        return self._bound

    def _bind(self, name: str, binding: Binding) -> None:
        assert self._bound is not None
        self._bound.setdefault(name, []).append(binding)

    def _read(self) -> None:
        node = self.node
        if isinstance(node, _COMPREHENSIONS):
            for clause in node.generators:
                self._bind_all(clause.target)
            return
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            arguments = node.args
            for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                self._bind(argument.arg, None)
            for other in (arguments.vararg, arguments.kwarg):
                if other is not None:
                    self._bind(other.arg, None)
        if isinstance(node, ast.Lambda):
            return
        for statement in statements(node.body):
            self._read_statement(statement)
            if self._walrus_rows:
                self._read_walrus(statement)
        if self._declaration_rows:
            self._read_declarations()

    def _read_walrus(self, statement: ast.stmt) -> None:
        rows = self._walrus_rows
        first = bisect_left(rows, statement.lineno)
        if first == len(rows) or rows[first] > (statement.end_lineno or statement.lineno):
            return
        for part in ast.iter_child_nodes(statement):
            if isinstance(part, (ast.expr, ast.withitem)):
                for node in walk(part):
                    if isinstance(node, ast.NamedExpr):
                        self._bind_all(node.target)

    def _read_declarations(self) -> None:
        """Names that functions in this one bind here: what they give them, when they are called, is not followed."""
        module = self._top or self
        if module._declarations is None:
            assert isinstance(module.node, ast.Module)
            module._declarations = list(_declarations_below(module.node, self._declaration_rows))
            module._declarations.sort(key=lambda node: node.lineno)
        first, last = 0, len(module._declarations)
        kind: type[ast.Global] | type[ast.Nonlocal] = ast.Global
        if not isinstance(self.node, ast.Module):
            row, end = self.node.lineno, self.node.end_lineno or self.node.lineno
            first = bisect_left(module._declarations, row, key=lambda node: node.lineno)
            last = bisect_right(module._declarations, end, key=lambda node: node.lineno)
            kind = ast.Nonlocal
        for node in module._declarations[first:last]:
            if isinstance(node, kind):
                for name in node.names:
                    self._bind(name, None)

    def _read_statement(self, node: ast.stmt) -> None:
        if node.__class__ in _BINDS_NOTHING:
            return
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self._bind(target.id, node.value)
                else:
                    self._bind_all(target)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    self._bind(alias.asname, alias.name)
                else:
                    top = alias.name.split(".")[0]
                    self._bind(top, top)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                if alias.name == "*":
                    self.stars.append(module)
                else:
                    joined = module + alias.name if module.endswith(".") else f"{module}.{alias.name}"
                    self._bind(alias.asname or alias.name, joined)
        elif isinstance(node, _SCOPES):
            self._bind(node.name, None)
        elif isinstance(node, ast.AnnAssign):
            if isinstance(node.target, ast.Name) and node.value is not None:
                self._bind(node.target.id, node.value)
        elif isinstance(node, (ast.AugAssign, ast.For, ast.AsyncFor)):
            self._bind_all(node.target)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                if item.optional_vars is not None:
                    self._bind_all(item.optional_vars)
        elif isinstance(node, TRY_STATEMENTS):
            for handler in node.handlers:
                if handler.name:
                    self._bind(handler.name, None)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                self._bind_captures(case.pattern)

    def _bind_captures(self, pattern: ast.pattern) -> None:
        for node in ast.walk(pattern):
            name = node.rest if isinstance(node, ast.MatchMapping) else getattr(node, "name", None)
            if isinstance(name, str):
                self._bind(name, None)

    def _bind_all(self, target: ast.expr) -> None:
        for node in walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._bind(node.id, None)


_CR = lazy_regex(rb"\r\n?")


def _places(text: bytes, sought: bytes) -> list[int]:
    places = []
    at = text.find(sought)
    while at >= 0:
        places.append(at)
        at = text.find(sought, at + 1)
    return places


def _rows_of(places: Sequence[int], text: bytes) -> list[int]:
    """The rows, from 1, of places from above."""
    if places and b"\r" in text:
        text = _CR.sub(lambda end: b"\n" if len(end[0]) == 1 else b" \n", text)
    rows: list[int] = []
    row, before = 1, 0
    for at in places:
        row += text.count(b"\n", before, at)
        before = at
        if row not in rows[-1:]:
            rows.append(row)
    return rows


def _declarations_below(module: ast.Module, rows: list[int]) -> Iterator[ast.Global | ast.Nonlocal]:
    """Those that are in a module and in what it holds, of which these are the rows."""
    stack: list[ast.stmt] = module.body[::-1]
    while stack:
        statement = stack.pop()
        if not stands_on(rows, statement):
            continue
        if isinstance(statement, (ast.Global, ast.Nonlocal)):
            yield statement
        stack.extend(reversed(statements_in(statement)))


def statements(body: Iterable[ast.stmt], *, into_scopes: bool = False) -> Iterator[ast.stmt]:
    """All statements of a body and of compound statements in it; those of functions and classes only if asked for."""
    stack = list(body)[::-1]
    while stack:
        node = stack.pop()
        yield node
        if type(node) in _SIMPLE or (isinstance(node, _SCOPES) and not into_scopes):
            continue
        stack.extend(reversed(statements_in(node)))


_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")


class _BlockFields(dict[type, "tuple[str, ...]"]):
    """The fields of a kind of statement that hold others."""

    def __missing__(self, kind: type[ast.stmt]) -> tuple[str, ...]:
        fields = self[kind] = tuple(name for name in _BLOCKS if name in kind._fields)
        return fields


_BLOCKS_OF = _BlockFields()


def statements_in(node: ast.stmt) -> list[ast.stmt]:
    """The statements of which a compound statement consists, in order, without those inside them."""
    inner: list[ast.stmt] = []
    for name in _BLOCKS_OF[node.__class__]:
        block = getattr(node, name)
        if name in ("handlers", "cases"):
            for part in block:
                inner += part.body
        else:
            inner += block
    return inner


def dotted(node: ast.expr) -> list[str] | None:
    """`["torch", "no_grad"]` for `torch.no_grad`; None when it is anything but names and dots."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    return parts[::-1]


def resolve(node: ast.expr, scope: Scope, depth: int = _DEPTH) -> str | None:
    """The dotted name that an expression of names and dots stands for in this scope."""
    parts = dotted(node)
    if parts is None:
        return None
    root = resolve_name(parts[0], scope, depth)
    return ".".join([root, *parts[1:]]) if root is not None else None


def resolve_name(name: str, scope: Scope, depth: int = _DEPTH) -> str | None:
    """The dotted name that a name stands for in this scope."""
    if depth == 0:
        return None
    found: Scope | None = scope
    while found is not None:
        # A class's names are not seen by the functions in it.
        if (found is scope or not isinstance(found.node, ast.ClassDef)) and name in found.bound:
            if (name, depth) not in found.meanings:
                found.meanings[name, depth] = _agreed(name, found, depth)
            return found.meanings[name, depth]
        if found.parent is None:
            return _unbound(name, found)
        found = found.parent
    return None


def is_bound(name: str, scope: Scope) -> bool:
    """Whether a scope binds the name, other than by importing everything of a module."""
    found: Scope | None = scope
    while found is not None:
        if (found is scope or not isinstance(found.node, ast.ClassDef)) and name in found.bound:
            return True
        found = found.parent
    return False


def _agreed(name: str, scope: Scope, depth: int) -> str | None:
    """What all bindings of a name come to."""
    meanings: set[str | None] = set()
    for binding in scope.bound[name]:
        if isinstance(binding, ast.Constant) and binding.value is None:
            continue  # `except ImportError: torch = None`
        if isinstance(binding, (ast.Name, ast.Attribute)):
            itself = isinstance(binding, ast.Name) and binding.id == name
            outer = scope.parent if itself else scope
            meanings.add(resolve(binding, outer, depth - 1) if outer is not None else None)
        else:
            meanings.add(binding if isinstance(binding, str) else None)
    if name == TORCH and None in meanings:
        # `torch = pytest.importorskip("torch")`, `torch, nn = try_import_torch()`
        meanings = (meanings - {None}) or {TORCH}
    if len(meanings) == 1:
        return meanings.pop()
    known = {meaning for meaning in meanings if meaning is not None and guards.python_guard(meaning)}
    if known == meanings and known:
        # `inference_mode` where there is one, else `no_grad`: what holds for the weaker holds for both.
        return next((meaning for meaning in sorted(known) if meaning.endswith(guards.NO_GRAD)), sorted(known)[0])
    return None


def _unbound(name: str, module: Scope) -> str | None:
    """A name that no scope binds: from a star import, or `torch` itself."""
    if name == TORCH:
        return TORCH
    torch_stars = [star for star in module.stars if star in guards.PYTHON_MODULES]
    if torch_stars and name in guards.PYTHON:
        return f"{TORCH}.{name}"
    if len(module.stars) == 1:
        star = module.stars[0]
        return star + name if star.endswith(".") else f"{star}.{name}"
    return None


_DESCRIPTORS = frozenset("property cached_property staticmethod classmethod setter getter deleter".split())


def is_descriptor(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Whether the outermost decorator is one of Python's own that give back no function: a guard is below it."""
    first = dotted(node.decorator_list[0]) if node.decorator_list else None
    return first is not None and first[-1] in _DESCRIPTORS


def is_definition(node: ast.stmt) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
