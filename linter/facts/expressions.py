"""Expressions and types as small trees, in the language's own spelling. Long because a node can hold any other.

Both front ends build them. A tree is bounded in depth and width: what lies beyond is an `OtherExpression`, whose text
is cut and meant for display only. Trees hold no places, so equal parts of a file are one object.

The nodes are msgspec's structs: they are made several times as fast as frozen dataclasses, and facts are sent between
processes and kept as MessagePack, which holds data and no code. A field that holds any node has the type `Expression`,
their union, by which they are distinguished when they are read back.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from ..named_tuples import NamedTuple

MAX_DEPTH = 16
"""How deep a tree goes."""
MAX_WIDTH = 16
"""How many elements a list, and how many arguments a call, keeps. The last one stands for the rest."""
MAX_TEXT = 200
"""How many characters of a literal, a lambda or an `OtherExpression` are kept."""


class ExpressionNode(Struct, frozen=True, array_like=True, tag_field="node", tag=True, gc=False):
    """A part of a program that has a value, or names a type."""

    def __str__(self) -> str:
        """As written in its language, with regular white space."""
        raise NotImplementedError

    @property
    def children(self) -> tuple[Expression, ...]:
        return ()

    @property
    def words(self) -> tuple[str, ...]:
        """The identifiers that this node itself mentions, its children aside."""
        return ()


class NamePath(ExpressionNode, frozen=True):
    """`at::add`, `std::vector<int>`, `torch.no_grad`: identifiers joined by `::` or `.`.

    In C++ what is before `.` is an object, see `MemberAccess`; in Python so is everything but modules and classes.
    """

    parts: tuple[str, ...]
    template_arguments: tuple[Expression, ...] | None = None
    """Of the last part."""
    scope: NamePath | None = None
    """The template in front: `std::vector<int>` of `std::vector<int>::iterator`."""
    separator: str = "::"
    absolute: bool = False
    """It begins with `::`."""

    def __str__(self) -> str:
        shown = self.separator.join(self.parts)
        if self.scope is not None:
            shown = f"{self.scope}{self.separator}{shown}"
        if self.absolute:
            shown = self.separator + shown
        return shown if self.template_arguments is None else f"{shown}<{_list(self.template_arguments)}>"

    @property
    def children(self) -> tuple[Expression, ...]:
        inner = self.template_arguments or ()
        return inner if self.scope is None else (self.scope, *inner)

    @property
    def words(self) -> tuple[str, ...]:
        return self.parts

    @property
    def name(self) -> str:
        """The last identifier."""
        return self.parts[-1]

    @property
    def path(self) -> tuple[str, ...]:
        """All identifiers, without template arguments."""
        return self.parts if self.scope is None else (*self.scope.path, *self.parts)


class MemberAccess(ExpressionNode, frozen=True):
    """`model.forward`, `self.net`, `this->net_`."""

    object: Expression
    name: str
    arrow: str = "."
    """`.` or `->`; `.*` and `->*` through a pointer to a member."""
    template_arguments: tuple[Expression, ...] | None = None

    def __str__(self) -> str:
        shown = f"{_operand(self.object)}{self.arrow}{self.name}"
        return shown if self.template_arguments is None else f"{shown}<{_list(self.template_arguments)}>"

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.object, *(self.template_arguments or ()))

    @property
    def words(self) -> tuple[str, ...]:
        return (self.name,)


class CallExpression(ExpressionNode, frozen=True):
    """`f(x)`, and of C++ also what may be one: `T(x)`."""

    callee: Expression
    arguments: tuple[Expression, ...] = ()

    def __str__(self) -> str:
        return f"{_operand(self.callee)}({_list(self.arguments)})"

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.callee, *self.arguments)


class KeywordArgument(ExpressionNode, frozen=True):
    """`dim=0` among a Python call's arguments."""

    name: str
    value: Expression

    def __str__(self) -> str:
        return f"{self.name}={self.value}"

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.value,)


class Subscript(ExpressionNode, frozen=True):
    """`x[i]`."""

    object: Expression
    indices: tuple[Expression, ...]

    def __str__(self) -> str:
        return f"{_operand(self.object)}[{_list(self.indices)}]"

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.object, *self.indices)


class LiteralKind(Enum):
    BOOL = "bool"
    NUMBER = "number"
    STRING = "string"
    NONE = "none"
    """`nullptr`, `NULL`, `None`."""


class LiteralExpression(ExpressionNode, frozen=True):
    kind: LiteralKind
    text: str
    """As written, up to `MAX_TEXT` characters."""

    def __str__(self) -> str:
        return self.text

    @property
    def truth(self) -> bool | None:
        """The value of a bool; None of anything else."""
        return self.text in ("true", "True") if self.kind is LiteralKind.BOOL else None


class LambdaExpression(ExpressionNode, frozen=True):
    """A lambda, with or without statements. What is in it is in the facts: functions, calls, assignments."""

    text: str
    """Its beginning, for display."""
    mentioned: tuple[str, ...] = ()
    """The identifiers in that text."""
    body: int | None = None
    """Which of the `inner` bodies of the body in which the expression is evaluated; None where statements aren't read.
    What decorates a function, and its default arguments, are evaluated in the body around it."""

    def __str__(self) -> str:
        return self.text

    @property
    def words(self) -> tuple[str, ...]:
        return self.mentioned


class Operation(ExpressionNode, frozen=True):
    """Operators with their operands: `-x`, `a + b`, `a = b`, `flag ? a : b`, `a if flag else b`, `delete p`.

    Python's `a < b < c` is `a < b and b < c`.
    """

    operator: str
    """As written; `?:` and `if else` for the two conditional ones, whose operands are (condition, then, otherwise);
    `slice` for `a:b:c`, with None for what is left out; `:` for a pair of a dict, and `**` with one operand in it."""
    operands: tuple[Expression, ...]
    postfix: bool = False

    def __str__(self) -> str:
        if self.operator == "?:":
            condition, then, otherwise = self.operands
            return f"{condition} ? {then} : {otherwise}"
        if self.operator == "if else":
            condition, then, otherwise = self.operands
            return f"{then} if {condition} else {otherwise}"
        if self.operator == "slice":
            return ":".join("" if _is_none(bound) else str(bound) for bound in self.operands)
        if not self.operands:
            return self.operator
        if len(self.operands) == 1:
            gap = " " if self.operator[-1].isalpha() else ""
            operand = str(self.operands[0])
            return operand + self.operator if self.postfix else self.operator + gap + operand
        joiner = f"{self.operator} " if self.operator in (",", ":") else f" {self.operator} "
        return joiner.join(map(str, self.operands))

    @property
    def children(self) -> tuple[Expression, ...]:
        return self.operands

    @property
    def is_address(self) -> bool:
        """`&x`."""
        return self.operator == "&" and len(self.operands) == 1


class Bracketed(ExpressionNode, frozen=True):
    """`(x)`, `{1, 2}`, `[a, b]`: a parenthesised expression, an initialiser, a list, a tuple, a structured binding.

    A dict's items are operations: `:` with a key and a value, `**` with another dict.
    """

    items: tuple[Expression, ...]
    brackets: str = "()"

    def __str__(self) -> str:
        return self.brackets[0] + _list(self.items) + self.brackets[1]

    @property
    def children(self) -> tuple[Expression, ...]:
        return self.items


class Clause(NamedTuple):
    """`for target in iterable if condition if condition` of a comprehension."""

    target: Expression
    iterable: Expression
    """Of an `async for`, an `Operation("await")`."""
    conditions: tuple[Expression, ...] = ()


class Comprehension(ExpressionNode, frozen=True):
    """Python's `[element for …]`, and those of sets, dicts and generators."""

    kind: str
    """The brackets: `[]`, `{}`, `()`; `{:}` of a dict, whose element is an `Operation(":")`."""
    element: Expression
    clauses: tuple[Clause, ...]
    """The outermost first."""

    def __str__(self) -> str:
        parts = [str(self.element)]
        for clause in self.clauses:
            parts.append(f"for {clause.target} in {clause.iterable}")
            parts += (f"if {condition}" for condition in clause.conditions)
        return self.kind[0] + " ".join(parts) + self.kind[-1]

    @property
    def children(self) -> tuple[Expression, ...]:
        inner = (part for clause in self.clauses for part in (clause.target, clause.iterable, *clause.conditions))
        return (self.element, *inner)


class Construction(ExpressionNode, frozen=True):
    """`T{1, 2}`, and of a declaration with an initialiser `at::Tensor{x}`. `T(1, 2)` is a `CallExpression`."""

    type: Expression
    arguments: Expression

    def __str__(self) -> str:
        return f"{self.type}{self.arguments}"

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.type, self.arguments)


class NewExpression(ExpressionNode, frozen=True):
    """`new T(x)`, `new T`."""

    type: Expression
    arguments: Expression | None = None

    def __str__(self) -> str:
        return f"new {self.type}{self.arguments if self.arguments is not None else ''}"

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.type,) if self.arguments is None else (self.type, self.arguments)


class CastExpression(ExpressionNode, frozen=True):
    """`(float)x`. `static_cast<float>(x)` is a `CallExpression`."""

    type: Expression
    value: Expression

    def __str__(self) -> str:
        return f"({self.type}){self.value}"

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.type, self.value)


class OtherExpression(ExpressionNode, frozen=True):
    """Anything else, and what lies beyond the bounds of a tree."""

    text: str
    """For display, cut at `MAX_TEXT` characters."""
    mentioned: tuple[str, ...] = ()
    """The identifiers in that text."""

    def __str__(self) -> str:
        return self.text

    @property
    def words(self) -> tuple[str, ...]:
        return self.mentioned


class TypeName(ExpressionNode, frozen=True):
    """A type as declared: `const at::Tensor&`, `auto`, `std::vector<at::Tensor>*`."""

    name: Expression
    """A `NamePath`, for all but `decltype(x)` and types of functions."""
    constant: bool = False
    marks: str = ""
    """`&`, `*`, `&&`, `**` and so on."""

    def __str__(self) -> str:
        return f"{'const ' if self.constant else ''}{self.name}{self.marks}"

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.name,)

    @property
    def path(self) -> tuple[str, ...]:
        """`("at", "Tensor")` of `const at::Tensor&`; nothing for what is not named."""
        return self.name.path if isinstance(self.name, NamePath) else ()

    @property
    def last(self) -> str:
        """The last identifier of the name: `Tensor` of `const at::Tensor&`, `vector` of `std::vector<int>`."""
        return self.path[-1] if self.path else ""


Expression = (
    NamePath
    | MemberAccess
    | CallExpression
    | KeywordArgument
    | Subscript
    | LiteralExpression
    | LambdaExpression
    | Operation
    | Bracketed
    | Comprehension
    | Construction
    | NewExpression
    | CastExpression
    | OtherExpression
    | TypeName
)
"""Any of the nodes."""


def _is_none(expression: Expression) -> bool:
    return isinstance(expression, LiteralExpression) and expression.kind is LiteralKind.NONE


def _list(items: tuple[Expression, ...]) -> str:
    return ", ".join(map(str, items))


def _operand(expression: Expression) -> str:
    """As the object of `.`, `[…]` or a call."""
    shown = str(expression)
    return f"({shown})" if isinstance(expression, (Operation, CastExpression, NewExpression)) else shown


# -- asking


def nodes_of(expression: Expression | None) -> Iterator[Expression]:
    """The expression and all that is in it, in the order in which it is written."""
    if expression is not None:
        yield expression
        for child in expression.children:
            yield from nodes_of(child)


def words_of(expression: Expression | None) -> set[str]:
    """Every identifier that is mentioned: variables, members, functions, namespaces, types."""
    found: set[str] = set()
    waiting = [expression] if expression is not None else []
    while waiting:
        one = waiting.pop()
        found.update(one.words)
        waiting += one.children
    return found


def is_named(expression: Expression | None, *names: str) -> bool:
    """Whether the expression is one of these plain names."""
    return isinstance(expression, NamePath) and len(expression.path) == 1 and expression.name in names


def simple_name(expression: Expression | None) -> str:
    """`x` of the expression `x`; empty for everything else."""
    if isinstance(expression, NamePath) and len(expression.path) == 1 and expression.template_arguments is None:
        return expression.name
    return ""


def without_brackets(expression: Expression) -> Expression:
    """`x` of `(x)` and `((x))`."""
    while isinstance(expression, Bracketed) and expression.brackets == "()" and len(expression.items) == 1:
        expression = expression.items[0]
    return expression


def pointee(expression: Expression) -> Expression:
    """`x` of `*x`, `&x`, `(*x)`."""
    while True:
        bare = without_brackets(expression)
        if isinstance(bare, Operation) and bare.operator in ("*", "&") and len(bare.operands) == 1:
            bare = bare.operands[0]
        if bare is expression:
            return bare
        expression = bare


def is_this(expression: Expression | None) -> bool:
    """`this`, `(*this)`, and Python's `self` by convention."""
    return expression is not None and is_named(pointee(expression), "this", "self")


def last_name(expression: Expression | None) -> str:
    """The identifier that says what is meant: `c` of `a::b::c<int>`, of `a.b->c`; empty for what has none."""
    if isinstance(expression, (NamePath, MemberAccess)):
        return expression.name
    return ""


def is_unqualified(expression: Expression) -> bool:
    """Whether it is one identifier, whose meaning depends on where it is: `a`, not `::a`, `a::b`, `a.b`."""
    return isinstance(expression, NamePath) and len(expression.path) == 1 and not expression.absolute


def renamed(expression: Expression, name: str) -> Expression:
    """The same qualifiers with another name after them: `a::d` for `a::b`, `a.d` for `a.b`; else the name alone."""
    if isinstance(expression, NamePath):
        return replace(expression, parts=(*expression.parts[:-1], name), template_arguments=None)
    if isinstance(expression, MemberAccess):
        return replace(expression, name=name, template_arguments=None)
    return NamePath((name,))


def steps_of(expression: Expression) -> list[Expression]:
    """A chain of members, calls and subscripts, innermost first: `x`, `x[0]`, `x[0].f`, `x[0].f(1)`."""
    steps = []
    while True:
        expression = pointee(expression)
        steps.append(expression)
        if isinstance(expression, (MemberAccess, Subscript)):
            expression = expression.object
        elif isinstance(expression, CallExpression):
            expression = expression.callee
        else:
            return steps[::-1]


def chain_words(expression: Expression) -> set[str]:
    """The identifiers of such a chain; what its calls are given and its indices aside."""
    words: set[str] = set()
    for step in steps_of(expression):
        if isinstance(step, NamePath):
            words |= words_of(step)
        elif isinstance(step, MemberAccess):
            words.add(step.name)
    return words


def variable_of(expression: Expression | None) -> str:
    """The variable that is, or holds, what is meant: `out` of `out[0]`, `*out`, `out.x`; `this->y` of `this->y.x`."""
    if expression is None:
        return ""
    first, *steps = steps_of(expression)
    if is_named(first, "this") and steps and isinstance(steps[0], MemberAccess):
        return f"this->{steps[0].name}"
    return first.path[0] if isinstance(first, NamePath) else ""


def innermost_object(expression: Expression) -> Expression:
    """What a chain of members, calls and subscripts begins with: `x` of `x[0]->y.f(1).z`."""
    while True:
        if isinstance(expression, (MemberAccess, Subscript)):
            expression = expression.object
        elif isinstance(expression, CallExpression):
            expression = expression.callee
        else:
            return expression


def first_name(expression: Expression) -> str:
    """The identifier with which it begins: `a` of `a::b`, of `a.b->c(1)[2]`; empty for what begins otherwise."""
    innermost = innermost_object(expression)
    return innermost.path[0] if isinstance(innermost, NamePath) else ""


def truth_of(expression: Expression | None) -> bool | None:
    """The value of a literal bool; None of anything else."""
    return expression.truth if isinstance(expression, LiteralExpression) else None
