"""Functions, classes and the module itself -> statements (`facts.bodies`), over the expressions of the reader.

Python nests as deep as a chain of `elif` is long, and generated modules have no end: chains are read without
recursion, and what lies beyond the bounds is left out, which its body says (`Body.is_read`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ...facts import NOWHERE, Span
from ...facts.bodies import (
    AnyStatement,
    Assign,
    Block,
    Body,
    BodyKind,
    BodyParameter,
    Declaration,
    Define,
    Delete,
    Entered,
    Evaluate,
    Handler,
    If,
    Import,
    Leave,
    Loop,
    Raise,
    ReturnStatement,
    Try,
)
from ...facts.expressions import (
    Bracketed,
    CallExpression,
    Expression,
    Operation,
    TypeName,
)
from .name_resolution import TRY_STATEMENTS, Scope, is_bound, resolve, statements
from .parsed_module import Module
from .python_expressions import PythonExpressionReader, operator_of
from .python_headers import case_header, definition_header, parts_of, statement_header
from .python_patterns import SUBJECT, PatternReading, captured, variable
from .suspension_points import run_by
from .syntax_walking import walk_own

MAX_STATEMENTS = 5000
"""How many statements a body keeps."""
MAX_NESTING = 100
"""How many statements are in each other: Python itself gives up at 100 levels of indentation, but not of `elif`."""
MAX_INNER = 16
"""How many functions and classes are in each other."""

_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = _FunctionNode | ast.ClassDef
_NEVER_RETURN = frozenset({"sys.exit", "os._exit", "os.abort"})
_EXITS = frozenset({"exit", "quit", "_exit", "abort"})
"""What these are called, and Python's own names."""


class _Frame:
    """The body that is being read."""

    __slots__ = ("inner", "is_read", "kept", "qualified", "scope")

    def __init__(self, scope: Scope, qualified: tuple[str, ...]) -> None:
        self.scope = scope
        self.qualified = qualified
        self.inner: list[Body] = []
        self.kept = 0
        self.is_read = True


class BodyReading:
    """Reads the statements of one file."""

    def __init__(
        self,
        module: Module,
        reader: PythonExpressionReader,
        functions: Mapping[ast.stmt, int],
        reaches: Callable[[ast.stmt], bool] = lambda node: True,
    ) -> None:
        """`functions` are the indices of the file's functions among the facts; `reaches` says of a function or class
        whether its code matters."""
        self._module = module
        self._reader = reader
        self._functions = functions
        self._reaches = reaches
        self._frames: list[_Frame] = []
        self._patterns = PatternReading(module, reader)
        self._asks_for_checkers = b"TYPE_CHECKING" in module.source.text
        self._renames_exit = b"exit as " in module.source.text

    def read(self) -> Body:
        """The module's body."""
        text = self._module.source.text
        self._reader.lambda_body = self._lambda
        try:
            frame = self._enter(self._module.scope, ())
            read = self._block(self._module.tree.body, 0)
            self._frames.pop()
        finally:
            self._reader.lambda_body = None
        return Body(
            BodyKind.MODULE, "", (), Span(0, len(text)), NOWHERE, read, tuple(frame.inner), is_read=frame.is_read
        )

    def _enter(self, scope: Scope, qualified: tuple[str, ...]) -> _Frame:
        frame = _Frame(scope, qualified)
        self._frames.append(frame)
        return frame

    # -- bodies

    def _define(self, node: _Definition) -> Define:
        """A function or class, whose body is added to those inside the one that is being read."""
        frame = self._frames[-1]
        span = Span(self._module.start_of(node), self._module.span(node).end)
        header = definition_header(self._module, node)
        qualified = (*frame.qualified, node.name)
        kind = BodyKind.CLASS if isinstance(node, ast.ClassDef) else BodyKind.FUNCTION
        body = Body(kind, node.name, qualified, span, header, (), function=self._functions.get(node), is_read=False)
        if self._reaches(node) and len(self._frames) <= MAX_INNER:
            body = self._filled(body, node)
        frame.inner.append(body)
        return Define(header, len(frame.inner) - 1)

    def _filled(self, body: Body, node: _Definition) -> Body:
        """A body with its statements."""
        # What is evaluated where the definition is.
        decorators = self._all(node.decorator_list)
        bases: tuple[Expression, ...] = ()
        parameters: tuple[BodyParameter, ...] = ()
        returns: Expression | None = None
        if isinstance(node, ast.ClassDef):
            bases = self._all(node.bases)
        else:
            parameters = tuple(self._parameters(node.args, self._frames[-1].scope))
            returns = self._expression(node.returns) if node.returns is not None else None
        inside = self._enter(self._frames[-1].scope.inside(node), body.qualified)
        read = self._block(node.body, 0)
        self._frames.pop()
        return replace(
            body,
            statements=read,
            inner=tuple(inside.inner),
            parameters=parameters,
            decorators=decorators,
            bases=bases,
            returns=returns,
            is_async=isinstance(node, ast.AsyncFunctionDef),
            is_generator=not isinstance(node, ast.ClassDef) and self._yields(node),
            is_read=inside.is_read,
        )

    def _lambda(self, node: ast.Lambda, scope: Scope, depth: int) -> int:
        """The index of a lambda's body, whose expression goes `depth` deep."""
        frame = self._frames[-1]
        parameters = tuple(self._parameters(node.args, scope))
        inside = self._enter(scope.inside(node), frame.qualified)
        returned = ReturnStatement(self._module.span(node.body), self._reader.read(node.body, inside.scope, depth))
        self._frames.pop()
        frame.inner.append(
            Body(
                BodyKind.LAMBDA,
                "",
                frame.qualified,
                self._module.span(node),
                statement_header(self._module, node, *parts_of(node.args)),
                (returned,),
                tuple(inside.inner),
                parameters=parameters,
                is_generator=any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in walk_own(node.body)),
            )
        )
        return len(frame.inner) - 1

    def _yields(self, node: _FunctionNode) -> bool:
        """Whether it is a generator."""
        text = self._module.source.text
        if text.find(b"yield", *self._module.span(node)) < 0:
            return False
        return any(
            isinstance(child, (ast.Yield, ast.YieldFrom))
            for statement in statements(node.body)
            for part in run_by(statement)
            for child in walk_own(part)
        )

    def _parameters(self, given: ast.arguments, scope: Scope) -> Iterator[BodyParameter]:
        by_position = [*given.posonlyargs, *given.args]
        defaults: list[ast.expr | None] = [None] * (len(by_position) - len(given.defaults))
        named = zip(by_position, [*defaults, *given.defaults], strict=True)
        for index, (parameter, default) in enumerate(named):
            yield self._parameter(parameter, default, "/" if index < len(given.posonlyargs) else "", scope)
        if given.vararg is not None:
            yield self._parameter(given.vararg, None, "*", scope)
        for parameter, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
            yield self._parameter(parameter, default, "=", scope)
        if given.kwarg is not None:
            yield self._parameter(given.kwarg, None, "**", scope)

    def _parameter(self, node: ast.arg, default: ast.expr | None, mark: str, scope: Scope) -> BodyParameter:
        annotation = self._reader.read(node.annotation, scope) if node.annotation is not None else None
        value = self._reader.read(default, scope) if default is not None else None
        return BodyParameter(node.arg, annotation, value, mark)

    # -- statements

    def _block(self, nodes: Sequence[ast.stmt], depth: int) -> tuple[AnyStatement, ...]:
        """The statements of a block that is in `depth` others."""
        if not nodes:
            return ()
        frame = self._frames[-1]
        found: list[AnyStatement] = []
        if depth == MAX_NESTING:
            frame.is_read = False
            return ()
        for node in nodes:
            if frame.kept >= MAX_STATEMENTS:
                frame.is_read = False
                break
            frame.kept += 1
            read = _READERS.get(node.__class__)
            if read is not None:
                found += read(self, node, depth)
        return tuple(found)

    def _expression(self, node: ast.expr) -> Expression:
        return self._reader.read(node, self._frames[-1].scope)

    def _all(self, nodes: Sequence[ast.expr]) -> tuple[Expression, ...]:
        return tuple([self._expression(node) for node in nodes])

    def _definition(self, node: _Definition, depth: int) -> list[AnyStatement]:
        return [self._define(node)]

    def _assign(self, node: ast.Assign, depth: int) -> list[AnyStatement]:
        read, scope = self._reader.read, self._frames[-1].scope
        targets = tuple([read(target, scope) for target in node.targets])
        return [Assign(self._module.span(node), targets, read(node.value, scope))]

    def _changed(self, node: ast.AugAssign, depth: int) -> list[AnyStatement]:
        target, value = self._expression(node.target), self._expression(node.value)
        return [Assign(self._module.span(node), (target,), value, operator_of(node.op) + "=")]

    def _annotated(self, node: ast.AnnAssign, depth: int) -> list[AnyStatement]:
        type_ = TypeName(self._expression(node.annotation))
        value = self._expression(node.value) if node.value is not None else None
        target = self._expression(node.target)
        return [Assign(self._module.span(node), (target,), value, declares=True, type=type_)]

    def _evaluate(self, node: ast.Expr, depth: int) -> list[AnyStatement]:
        value = node.value
        if isinstance(value, ast.Constant):
            return []  # a docstring, `...`
        read = self._expression(value)
        if isinstance(value, ast.Call) and self._never_returns(value.func):
            return [Raise(self._module.span(node), read)]
        return [Evaluate(self._module.span(node), read)]

    def _never_returns(self, called: ast.expr) -> bool:
        name = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
        if name not in _EXITS and not self._renames_exit:
            return False
        scope = self._frames[-1].scope
        if name in _EXITS and isinstance(called, ast.Name) and not is_bound(name, scope):
            return True
        return resolve(called, scope) in _NEVER_RETURN

    def _if(self, node: ast.If, depth: int) -> list[AnyStatement]:
        arms: list[tuple[ast.If, Expression, tuple[AnyStatement, ...]]] = []
        current = node
        while True:
            checking = _is_for_checkers(current.test) if self._asks_for_checkers else None
            if checking is None:
                frame = self._frames[-1]
                level = depth + len(arms)
                if level + 1 >= MAX_NESTING or frame.kept >= MAX_STATEMENTS:
                    frame.is_read = False
                    last: tuple[AnyStatement, ...] = ()
                    break
                frame.kept += 1
                arms.append((current, self._expression(current.test), self._block(current.body, level + 1)))
            if checking is False:
                last = self._block(current.body, depth + len(arms))
                break
            if len(current.orelse) == 1 and isinstance(current.orelse[0], ast.If):
                current = current.orelse[0]
                continue
            last = self._block(current.orelse, depth + len(arms))
            break
        for arm, condition, then in reversed(arms):
            last = (If(statement_header(self._module, arm, arm.test), condition, then, last),)
        return [*last]

    def _for(self, node: ast.For | ast.AsyncFor, depth: int) -> list[AnyStatement]:
        iterable = self._awaited(node.iter, isinstance(node, ast.AsyncFor))
        target = self._expression(node.target)
        block, otherwise = self._block(node.body, depth + 1), self._block(node.orelse, depth + 1)
        return [Loop(statement_header(self._module, node, node.iter), target, iterable, None, block, otherwise)]

    def _while(self, node: ast.While, depth: int) -> list[AnyStatement]:
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        condition = None if endless else self._expression(node.test)
        block, otherwise = self._block(node.body, depth + 1), self._block(node.orelse, depth + 1)
        return [Loop(statement_header(self._module, node, node.test), None, None, condition, block, otherwise)]

    def _awaited(self, node: ast.expr, is_async: bool) -> Expression:
        read = self._expression(node)
        return Operation("await", (read,)) if is_async else read

    def _with(self, node: ast.With | ast.AsyncWith, depth: int) -> list[AnyStatement]:
        is_async = isinstance(node, ast.AsyncWith)
        items = tuple(
            Entered(
                self._awaited(item.context_expr, is_async),
                self._expression(item.optional_vars) if item.optional_vars is not None else None,
            )
            for item in node.items
        )
        return [Block(self._module.with_header(node), items, self._block(node.body, depth + 1))]

    def _try(self, node: ast.Try, depth: int) -> list[AnyStatement]:
        block = self._block(node.body, depth + 1)
        handlers = tuple(
            Handler(
                self._expression(handler.type) if handler.type is not None else None,
                handler.name or "",
                self._block(handler.body, depth + 1),
            )
            for handler in node.handlers
        )
        otherwise, finally_ = self._block(node.orelse, depth + 1), self._block(node.finalbody, depth + 1)
        return [Try(statement_header(self._module, node), block, handlers, otherwise, finally_)]

    def _return(self, node: ast.Return, depth: int) -> list[AnyStatement]:
        return [
            ReturnStatement(self._module.span(node), self._expression(node.value) if node.value is not None else None)
        ]

    def _raise(self, node: ast.Raise, depth: int) -> list[AnyStatement]:
        return [Raise(self._module.span(node), self._expression(node.exc) if node.exc is not None else None)]

    def _assert(self, node: ast.Assert, depth: int) -> list[AnyStatement]:
        span = self._module.span(node)
        message = (self._expression(node.msg),) if node.msg is not None else ()
        raised = Raise(span, CallExpression(variable("AssertionError"), message))
        return [If(span, _negated(self._expression(node.test)), (raised,))]

    def _leave(self, node: ast.Break | ast.Continue, depth: int) -> list[AnyStatement]:
        return [Leave(self._module.span(node), "break" if isinstance(node, ast.Break) else "continue")]

    def _delete(self, node: ast.Delete, depth: int) -> list[AnyStatement]:
        return [Delete(self._module.span(node), self._all(node.targets))]

    def _declared(self, node: ast.Global | ast.Nonlocal, depth: int) -> list[AnyStatement]:
        word = "global" if isinstance(node, ast.Global) else "nonlocal"
        return [Declaration(self._module.span(node), word, tuple(node.names))]

    def _import(self, node: ast.Import, depth: int) -> list[AnyStatement]:
        span = self._module.span(node)
        tops = ((alias, alias.name.partition(".")[0]) for alias in node.names)
        return [Import(span, alias.asname or top, alias.name if alias.asname else top) for alias, top in tops]

    def _import_from(self, node: ast.ImportFrom, depth: int) -> list[AnyStatement]:
        if node.module == "__future__":
            return []
        span = self._module.span(node)
        module = "." * node.level + (node.module or "")
        joined = module if module.endswith(".") else module + "."
        names = ((alias.asname or alias.name, alias.name) for alias in node.names)
        return [Import(span, name, module if name == "*" else joined + own) for name, own in names]

    # -- match

    def _match(self, node: ast.Match, depth: int) -> list[AnyStatement]:
        subject = self._expression(node.subject)
        before: list[AnyStatement] = []
        if not isinstance(node.subject, (ast.Name, ast.Attribute, ast.Constant)):
            before.append(Assign(self._module.span(node.subject), (variable(SUBJECT),), subject))
            subject = variable(SUBJECT)
        frame = self._frames[-1]
        arms: list[tuple[Span, list[AnyStatement], Expression | None, tuple[AnyStatement, ...]]] = []
        for case in node.cases:
            level = depth + len(arms)
            if level + 1 >= MAX_NESTING or frame.kept >= MAX_STATEMENTS:
                frame.is_read = False
                break
            frame.kept += 1
            span = case_header(self._module, case)
            condition = self._patterns.condition(case.pattern, subject, frame.scope)
            bound: list[AnyStatement] = [
                Assign(span, (target,), value) for target, value in captured(case.pattern, subject)
            ]
            first: list[AnyStatement] = []
            if case.guard is not None:
                # What the pattern binds is there for the guard, and stays whatever that says.
                first, bound = bound, []
                guard = self._expression(case.guard)
                condition = guard if condition is None else Operation("and", (condition, guard))
            then = (*bound, *self._block(case.body, level + 1))
            arms.append((span, first, condition, then))
            if condition is None:
                break
        last: tuple[AnyStatement, ...] = ()
        for span, first, condition, then in reversed(arms):
            last = (*first, If(span, condition, then, last)) if condition is not None else (*first, *then)
        return [*before, *last]


def _negated(condition: Expression) -> Expression:
    return Operation("not", (Bracketed((condition,)) if isinstance(condition, Operation) else condition,))


def _is_for_checkers(test: ast.expr) -> bool | None:
    """`TYPE_CHECKING`: True, `not TYPE_CHECKING`: False, anything else: None."""
    negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    asked = test.operand if isinstance(test, ast.UnaryOp) and negated else test
    name = asked.id if isinstance(asked, ast.Name) else asked.attr if isinstance(asked, ast.Attribute) else ""
    return not negated if name == "TYPE_CHECKING" else None


_B = BodyReading
_READERS: dict[type[ast.stmt], Callable[[BodyReading, Any, int], list[AnyStatement]]] = {
    ast.FunctionDef: _B._definition,
    ast.AsyncFunctionDef: _B._definition,
    ast.ClassDef: _B._definition,
    ast.Assign: _B._assign,
    ast.AugAssign: _B._changed,
    ast.AnnAssign: _B._annotated,
    ast.Expr: _B._evaluate,
    ast.If: _B._if,
    ast.For: _B._for,
    ast.AsyncFor: _B._for,
    ast.While: _B._while,
    ast.With: _B._with,
    ast.AsyncWith: _B._with,
    **dict.fromkeys(TRY_STATEMENTS, _B._try),
    ast.Return: _B._return,
    ast.Raise: _B._raise,
    ast.Assert: _B._assert,
    ast.Break: _B._leave,
    ast.Continue: _B._leave,
    ast.Delete: _B._delete,
    ast.Global: _B._declared,
    ast.Nonlocal: _B._declared,
    ast.Import: _B._import,
    ast.ImportFrom: _B._import_from,
    ast.Match: _B._match,
}
