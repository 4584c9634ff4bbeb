"""The code of functions as nested statements, in one form for both languages: what `linter/flow` runs.

Expressions are those of `facts.expressions`. A statement has the place of its text, an expression has none: what
happens in it is reported at its statement. Constructs of Python and C++ that do the same are one kind of statement.
Only what guards and their tensors can reach is kept; the rest of a file is not in it (`Body.is_read`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from ..named_tuples import NamedTuple
from ..str_enum import StrEnum
from .expressions import Expression, TypeName
from .spans import Span


class StatementNode(Struct, frozen=True, array_like=True, tag_field="node", tag=True, gc=False):
    """A statement, and where it is. Of one with a block, the span is that of its header."""

    span: Span


class Assign(StatementNode, frozen=True):
    """`a = b = value`, `a += value`, `a: T`, `T a;`, `T a(value);`, and what `for`-less unpacking does."""

    targets: tuple[Expression, ...]
    """Several for `a = b = value`. A `Bracketed` target unpacks: `a, b = …`, `auto [a, b] = …`; in it a starred name
    is an `Operation("*")`."""
    value: Expression | None
    """As in `facts.Assignment`: brackets for `T name(…)` and `T name{…}`; None where no value is given."""
    operator: str = "="
    """`+=` and the like."""
    declares: bool = False
    """A C++ declaration, or Python's `a: T`."""
    type: TypeName | None = None
    """Of a declaration."""


class Evaluate(StatementNode, frozen=True):
    """An expression for its effect. `yield x` and `await x` are `Operation`s of these names, also inside others."""

    value: Expression


class If(StatementNode, frozen=True):
    """`if`, and what is like it: `switch` and `match` are chains whose conditions are `subject == case`."""

    condition: Expression
    then: tuple[AnyStatement, ...]
    otherwise: tuple[AnyStatement, ...] = ()


class Loop(StatementNode, frozen=True):
    """`for target in iterable`, `while condition`, `do … while`, C++'s `for (a; b; c)` (whose `a` is before it and
    whose `c` ends the block)."""

    target: Expression | None
    """Of a `for` over elements, with `iterable`."""
    iterable: Expression | None
    condition: Expression | None
    """Of the others; None for `while True` and `for (;;)`."""
    block: tuple[AnyStatement, ...]
    otherwise: tuple[AnyStatement, ...] = ()
    """Python's `else`."""
    runs_once: bool = False
    """`do … while`: the block runs before the condition is asked."""


class Handler(NamedTuple):
    caught: Expression | None
    """None for `except:` and `catch (...)`."""
    name: str
    block: tuple[AnyStatement, ...]


class Try(StatementNode, frozen=True):
    block: tuple[AnyStatement, ...]
    handlers: tuple[Handler, ...]
    otherwise: tuple[AnyStatement, ...] = ()
    finally_: tuple[AnyStatement, ...] = ()


class Entered(NamedTuple):
    """An item of a `with` statement."""

    context: Expression
    target: Expression | None


class Block(StatementNode, frozen=True):
    """Python's `with`, or a C++ block in braces, at whose end the guards that it declares are destroyed."""

    items: tuple[Entered, ...]
    block: tuple[AnyStatement, ...]
    is_parallel: bool = False
    """Its block runs in its own threads: `#pragma omp parallel`."""


class ReturnStatement(StatementNode, frozen=True):
    value: Expression | None


class Raise(StatementNode, frozen=True):
    """`raise`, `throw`, and calls that never return (`std::abort()`, `sys.exit()`); `assert` is an `If`."""

    value: Expression | None


class Leave(StatementNode, frozen=True):
    """`break` or `continue`; `goto` is not read, and ends the path as `raise` would."""

    word: str


class Delete(StatementNode, frozen=True):
    targets: tuple[Expression, ...]


class Define(StatementNode, frozen=True):
    """A function or class is made here and bound to its name."""

    body: int
    """Which of the `inner` bodies of the body in which the statement is."""


class Import(StatementNode, frozen=True):
    """Python's: `name` is bound to what `dotted` names (`.util.helper` of a relative import, with its dots). After
    `import a.b` it is `a` that is bound."""

    name: str
    """`*` for all names of a module."""
    dotted: str


class Declaration(StatementNode, frozen=True):
    """`global a` and `nonlocal a`."""

    word: str
    names: tuple[str, ...]


AnyStatement = (
    Assign
    | Evaluate
    | If
    | Loop
    | Try
    | Block
    | ReturnStatement
    | Raise
    | Leave
    | Delete
    | Define
    | Import
    | Declaration
)


class BodyKind(StrEnum):
    FUNCTION = "function"
    LAMBDA = "lambda"
    CLASS = "class"
    MODULE = "module"


class BodyParameter(NamedTuple):
    name: str
    annotation: Expression | None = None
    """Python's annotation, or the C++ type as a `TypeName`."""
    default: Expression | None = None
    mark: str = ""
    """`*` and `**` of Python; of parameters that are given by name alone `=`; of those by position alone `/`."""


class Body(Struct, frozen=True, array_like=True, dict=True):
    """The code of a function, lambda or class, or that of a module outside of them."""

    kind: BodyKind
    name: str
    """Empty for a lambda and a module."""
    qualified: tuple[str, ...]
    """With the namespaces, classes and functions around it."""
    span: Span
    """The whole definition, decorators included."""
    header: Span
    """From `def` or the return type to where the block begins: where a finding about the whole function is."""
    statements: tuple[AnyStatement, ...]
    inner: tuple[Body, ...] = ()
    """What is defined in it: by `Define.body`, and by `LambdaExpression.body`."""
    parameters: tuple[BodyParameter, ...] = ()
    decorators: tuple[Expression, ...] = ()
    """From above; the lowest is applied first."""
    bases: tuple[Expression, ...] = ()
    """Of a class."""
    members: tuple[BodyParameter, ...] = ()
    """Of a C++ class: its data members, with their types and initialisers."""
    initialisers: tuple[Assign, ...] = ()
    """Of a C++ constructor: `: net_(net), guard_(true)`, as assignments to `this->net_` …"""
    returns: Expression | None = None
    """The annotation or type of what it gives back."""
    captures: tuple[str, ...] = ()
    """Of a C++ lambda: `&`, `=`, `this`, `&x`, `x` as written."""
    is_async: bool = False
    is_generator: bool = False
    """`yield` (or `co_yield`) is in its own code."""
    is_static: bool = False
    """C++: a static member function, or one that no other file can name."""
    function: int | None = None
    """Its index in `Facts.functions`, where it is one of them."""
    is_read: bool = True
    """False where its code was left out, or where not all of it could be read."""
    type_parameters: tuple[str, ...] = ()
    """Of a C++ function template: the names of its parameters; of others, ""."""

    @property
    def answers(self) -> dict[Any, Any]:
        """See `answered_once`."""
        return self.__dict__

    def __str__(self) -> str:
        """Its code in regular form, with the bodies in it where they are defined: for tests and for people."""
        return "\n".join(_body_lines(self))


# -- printing

_INDENT = "    "


def _body_lines(body: Body) -> Iterator[str]:
    yield from (f"@{decorator}" for decorator in body.decorators)
    yield _header_line(body)
    if not body.is_read:
        yield _INDENT + "..."
    yield from (_INDENT + line for line in _lines(body.initialisers, body))
    yield from (_INDENT + line for line in _lines(body.statements, body))
    for index, inner in enumerate(body.inner):
        if inner.kind is BodyKind.LAMBDA:
            first, *others = _body_lines(inner)
            yield f"{_INDENT}#{index} {first}"
            yield from (_INDENT + line for line in others)


def _header_line(body: Body) -> str:
    if body.kind is BodyKind.MODULE:
        return "module:"
    word = {BodyKind.FUNCTION: "def", BodyKind.CLASS: "class", BodyKind.LAMBDA: "lambda"}[body.kind]
    marks = (*("async",) * body.is_async, *("static",) * body.is_static, word, *("generator",) * body.is_generator)
    captured = f"[{', '.join(body.captures)}]" if body.captures else ""
    given = ", ".join(map(str, body.bases) if body.kind is BodyKind.CLASS else map(_parameter, body.parameters))
    returned = f" -> {body.returns}" if body.returns is not None else ""
    members = "".join(f" {_parameter(member)};" for member in body.members)
    return f"{' '.join(marks)} {body.name}{captured}({given}){returned}:{members}"


def _parameter(given: BodyParameter) -> str:
    annotation = f": {given.annotation}" if given.annotation is not None else ""
    default = f" = {given.default}" if given.default is not None else ""
    return f"{given.mark}{given.name}{annotation}{default}"


def _lines(statements: tuple[AnyStatement, ...], body: Body) -> Iterator[str]:
    for statement in statements:
        if isinstance(statement, Define):
            yield from _body_lines(body.inner[statement.body])
            continue
        yield _line(statement)
        for header, block in _blocks(statement):
            yield from (header,) * bool(header)
            yield from (_INDENT + line for line in _lines(block, body)) if block else (f"{_INDENT}pass",)


def _line(statement: AnyStatement) -> str:
    """A statement's first line."""
    if isinstance(statement, Assign):
        targets = " = ".join(map(str, statement.targets)) + (
            f": {statement.type}" if statement.type is not None else ""
        )
        declared = "declare " * statement.declares + targets
        return declared if statement.value is None else f"{declared} {statement.operator} {statement.value}"
    if isinstance(statement, Evaluate):
        return str(statement.value)
    if isinstance(statement, If):
        return f"if {statement.condition}:"
    if isinstance(statement, Loop):
        once = "once " * statement.runs_once
        if statement.iterable is not None:
            return f"{once}for {statement.target} in {statement.iterable}:"
        return f"{once}while {'True' if statement.condition is None else statement.condition}:"
    if isinstance(statement, Try):
        return "try:"
    if isinstance(statement, Block):
        items = ", ".join(
            f"{one.context}" + (f" as {one.target}" if one.target is not None else "") for one in statement.items
        )
        return "parallel " * statement.is_parallel + (f"with {items}:" if items else "block:")
    if isinstance(statement, (ReturnStatement, Raise)):
        word = "return" if isinstance(statement, ReturnStatement) else "raise"
        return word if statement.value is None else f"{word} {statement.value}"
    if isinstance(statement, Leave):
        return statement.word
    if isinstance(statement, Delete):
        return f"del {', '.join(map(str, statement.targets))}"
    if isinstance(statement, Import):
        return f"import {statement.dotted} as {statement.name}"
    if isinstance(statement, Declaration):
        return f"{statement.word} {', '.join(statement.names)}"
    return f"define {statement.body}"


def _blocks(statement: AnyStatement) -> Iterator[tuple[str, tuple[AnyStatement, ...]]]:
    """(its header, where it has one of its own, a block)."""
    header = ""
    while isinstance(statement, If):
        yield header, statement.then
        if len(statement.otherwise) != 1 or not isinstance(statement.otherwise[0], If):
            break
        statement = statement.otherwise[0]
        header = f"elif {statement.condition}:"
    if isinstance(statement, (Loop, Try, Block)):
        yield "", statement.block
    if isinstance(statement, Try):
        for handler in statement.handlers:
            caught = "" if handler.caught is None else f" {handler.caught}"
            yield f"except{caught}{f' as {handler.name}' if handler.name else ''}:", handler.block
    if isinstance(statement, (If, Loop, Try)) and statement.otherwise:
        yield "else:", statement.otherwise
    if isinstance(statement, Try) and statement.finally_:
        yield "finally:", statement.finally_
