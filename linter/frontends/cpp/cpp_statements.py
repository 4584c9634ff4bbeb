"""Syntax nodes of C++ -> statements (`facts.bodies`).

Everything is read from the outside in: no node is asked for its parent. What is in the braces of a branch, a loop
or a function is their block; braces on their own are a `Block`. So each `then`, `otherwise` and `block` is a scope,
with one exception: the arms of an `#if`, whose condition is an `OtherExpression` that begins with `#`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from ...facts import Assignment
from ...facts.bodies import (
    AnyStatement,
    Assign,
    Block,
    Body,
    Define,
    Delete,
    Evaluate,
    Handler,
    If,
    Leave,
    Raise,
    ReturnStatement,
    Try,
)
from ...facts.expressions import (
    MAX_DEPTH,
    Bracketed,
    CallExpression,
    Expression,
    LambdaExpression,
    NamePath,
    Operation,
    last_name,
    truth_of,
)
from ...facts.spans import Span
from ...lazy_regex import lazy_regex
from .checking_macros import condition_of_check, expects_exception, leaves_test, never_returns
from .cpp_declarators import declared_by
from .cpp_expressions import READERS, ExpressionReader

if TYPE_CHECKING:
    from tree_sitter import Node

    from .tree_reading import Reading

MOST_NESTED = 64
"""How many statements are in each other, an `else if` in the one before it; deeper ones are left out."""
MOST_STATEMENTS = 4000
"""How many statements of one body are read."""
MOST_LAMBDAS = 6
"""How deep lambdas in each other are read."""

_PARALLEL = lazy_regex(rb"#[ \t]*pragma[ \t]+omp\b[^\n]*\bparallel\b")
DOES_NOTHING = frozenset(
    {
        "comment",
        "using_declaration",
        "alias_declaration",
        "type_definition",
        "namespace_alias_definition",
        "static_assert_declaration",
        "enum_specifier",
        "preproc_def",
        "preproc_function_def",
        "preproc_include",
        "preproc_call",
        "template_declaration",
        "friend_declaration",
        "attribute_declaration",
        "concept_definition",
    }
)
"""What does nothing when it is reached."""
_CLASSES = frozenset({"class_specifier", "struct_specifier", "union_specifier"})


class UnfinishedBody(Struct, eq=False):
    """What is gathered for one body while its statements are read."""

    qualified: tuple[str, ...]
    lambdas_around: int = 0
    left: int = MOST_STATEMENTS
    inner: list[Body] = []
    is_read: bool = True
    forgiven: set[int] = set()
    """Where ERROR nodes begin that were understood."""


class InnerBodies:
    """Gives lambdas and local classes their bodies, and macros what they become: it is asked where they are met."""

    def lambda_body(self, node: Node, within: UnfinishedBody, depth: int) -> Body:
        raise NotImplementedError

    def class_body(self, node: Node, within: UnfinishedBody) -> Body | None:
        raise NotImplementedError

    def expanded(
        self, name: str, span: Span, place: Span, within: UnfinishedBody, depth: int
    ) -> list[AnyStatement] | None:
        """What the invocation of a macro in a statement at `place` becomes; None where it is taken for a call."""
        raise NotImplementedError


class StatementReader:
    """Reads the statements of one tree.

    `forms` are those that are known, by the types of their nodes; `dead` is what no compiler sees, sorted. `place` is
    where all of it is in the file, of a text that a macro makes.
    """

    def __init__(
        self,
        reading: Reading,
        forms: Mapping[str, StatementForm],
        inner_bodies: InnerBodies,
        dead: Sequence[Span] = (),
        place: Span | None = None,
    ) -> None:
        self.reading = reading
        self.dead = dead
        self.inner_bodies = inner_bodies
        self.read = reading.expressions.read
        self._forms = forms
        self._place = place
        self._lambdas = [function.span.start for function in reading.functions if function.is_lambda]
        self._macros = {macro.name for macro in reading.macros}
        self._assigned: dict[tuple[int, int], Assignment] = {one.span: one for one in reading.assignments}

    # -- expressions

    def expression(self, node: Node, within: UnfinishedBody, depth: int) -> Expression:
        if self._lambdas and self.holds_lambda(node):
            return _ClosureReader(self, within, depth).read(node)
        return self.read(node)

    def holds_lambda(self, node: Node) -> bool:
        index = bisect_left(self._lambdas, node.start_byte)
        return index < len(self._lambdas) and self._lambdas[index] < node.end_byte

    def other(self, node: Node) -> Expression:
        return self.reading.expressions.other(node)

    # -- places

    def span(self, node: Node) -> Span:
        return self._place or Span(node.start_byte, node.end_byte)

    def header(self, node: Node, end: int) -> Span:
        """From where the node begins to `end`, without the white space there."""
        return self.between(node.start_byte, end)

    def between(self, start: int, end: int) -> Span:
        return self._place or Span(start, start + len(self.reading.text[start:end].rstrip()))

    def begins_with(self, node: Node, word: bytes) -> bool:
        return self.reading.text.startswith(word, node.start_byte)

    # -- lists of statements

    def block(self, node: Node | None, within: UnfinishedBody, depth: int) -> tuple[AnyStatement, ...]:
        """What a branch or loop runs: the statements in the braces, or the one statement."""
        if node is None:
            return ()
        nodes = node.named_children if node.type == "compound_statement" else (node,)
        return tuple(self.statements(nodes, within, depth))

    def statements(self, nodes: Iterable[Node], within: UnfinishedBody, depth: int) -> list[AnyStatement]:
        found: list[AnyStatement] = []
        if depth > MOST_NESTED:
            within.is_read = False
            return found
        parallel: Span | None = None
        for node in nodes:
            kind = node.type
            if kind in DOES_NOTHING:
                if kind == "preproc_call" and _PARALLEL.match(self.reading.text, node.start_byte):
                    parallel = self.header(node, node.end_byte)
                continue
            if within.left <= 0:
                within.is_read = False
                break
            within.left -= 1
            made = self._forms.get(kind, StatementReader._unknown)(self, node, within, depth)
            if parallel is not None:
                made, parallel = [Block(parallel, (), tuple(made), is_parallel=True)], None
            found += made
        return found

    def lost(self, node: Node, within: UnfinishedBody) -> list[AnyStatement]:
        within.is_read = False
        return [Evaluate(self.span(node), self.other(node))]

    def _unknown(self, node: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
        if node.is_error or node.type not in READERS:
            return self.lost(node, within)
        return self.evaluated(node, node, within, depth)

    # -- expressions as statements

    def _expression(self, node: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
        inside = first_child(node)
        if inside is None:
            return []
        if node.has_error and (declared := self._misread_declaration(node, within)) is not None:
            return [declared]
        return self.evaluated(inside, node, within, depth)

    def _misread_declaration(self, node: Node, within: UnfinishedBody) -> AnyStatement | None:
        """`if (x) at::NoGradGuard guard;`: to the grammar no declaration is there without braces."""
        children = node.named_children
        if len(children) != 2 or not children[1].is_error or not children[0].type.endswith("identifier"):
            return None
        names = children[1].named_children
        if len(names) != 1 or names[0].type != "identifier":
            return None
        within.forgiven.add(children[1].start_byte)
        type_ = self.reading.expressions.type_of(children[0])
        return Assign(self.span(node), (self.read(names[0]),), None, declares=True, type=type_)

    def evaluated(self, node: Node, statement: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
        """An expression whose value no one takes."""
        kind, span = node.type, self.span(statement)
        if kind == "call_expression":
            return self._call(node, span, within, depth)
        if kind == "assignment_expression":
            return self._assignment(node, span, within, depth)
        if kind == "comma_expression":
            parts = _parts_of_comma(node)
            return [one for part in parts for one in self.evaluated(part, part, within, depth)]
        if kind == "delete_expression":
            return [Delete(span, tuple(self.expression(child, within, depth) for child in node.named_children))]
        if kind == "compound_statement":
            return self._braces(node, within, depth)
        value = self.expression(node, within, depth)
        if isinstance(value, NamePath) and value.name in self._macros:
            made = self.inner_bodies.expanded(value.name, Span(node.start_byte, node.end_byte), span, within, depth)
            if made is not None:
                return made
        if kind == "identifier" and isinstance(value, NamePath) and value.name.isupper():
            value = CallExpression(value)  # a macro that runs something
        elif kind == "binary_expression" and self.begins_with(node, b"LOG(FATAL)"):
            return [Raise(span, value)]
        return [Evaluate(span, value)]

    def _assignment(self, node: Node, span: Span, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
        known = self._assigned.get((node.start_byte, node.end_byte))
        if known is None:
            return [Evaluate(span, self.expression(node, within, depth))]
        value: Expression | None = known.value
        if self._lambdas and self.holds_lambda(node):
            right = node.child_by_field_name("right")
            value = self.expression(right, within, depth) if right is not None else None
        targets = [_unpacking(known.target)]
        while known.operator == "=" and isinstance(value, Operation) and value.operator == "=":
            target, value = value.operands
            targets.append(_unpacking(target))
        return [Assign(span, tuple(targets), value, known.operator)]

    def _call(self, node: Node, span: Span, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
        call = self.read(node)
        called = call.callee if isinstance(call, CallExpression) else None
        if isinstance(called, NamePath) and called.name in self._macros:
            made = self.inner_bodies.expanded(called.name, Span(node.start_byte, node.end_byte), span, within, depth)
            if made is not None:
                return made
        if isinstance(called, NamePath):
            expects = expects_exception(called)
            if expects is not None:
                return self._expected(node, span, within, depth, expects=expects)
        if self._lambdas and self.holds_lambda(node):
            call = self.expression(node, within, depth)
        if not isinstance(called, NamePath) or not isinstance(call, CallExpression):
            return [Evaluate(span, call)]
        condition = condition_of_check(called, call.arguments)
        if condition is None:
            return [Raise(span, call)] if never_returns(called) else [Evaluate(span, call)]
        if leaves_test(called):
            return [If(span, negated(condition), (ReturnStatement(span, None),))]
        raised = Raise(span, call)
        return [raised] if truth_of(condition) is False else [If(span, negated(condition), (raised,))]

    def _expected(
        self, call: Node, span: Span, within: UnfinishedBody, depth: int, *, expects: bool
    ) -> list[AnyStatement]:
        """`EXPECT_THROW(statement, …)`: what it raises goes no further."""
        given = call.child_by_field_name("arguments")
        first = first_child(given) if given is not None else None
        inside: list[AnyStatement] = []
        if first is not None and first.type == "lambda_expression":
            inside = [Evaluate(self.span(first), CallExpression(self.expression(first, within, depth)))]
        elif first is not None:
            inside = self.evaluated(first, first, within, depth + 1)
        return [Try(span, tuple(inside), (Handler(None, "", ()),))] if expects else inside

    # -- declarations

    def _declaration(self, node: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
        found: list[AnyStatement] = []
        declarators: list[Node] = []
        kind: Node | None = None
        for child in node.named_children:
            if child.type in _CLASSES:
                kind = child
                found += self._class(child, within, depth)
            elif child.type == "function_declarator" or (child.start_byte, child.end_byte) in self._assigned:
                declarators.append(child)
            elif child.type == "storage_class_specifier" and self.begins_with(child, b"extern"):
                return found
        for declarator in declarators:
            start = node.start_byte if declarator is declarators[0] else declarator.start_byte
            end = node.end_byte if len(declarators) == 1 else declarator.end_byte
            span = self._place or Span(start, end)
            made = self._declared(node, declarator, kind, span, within, depth)
            if made is not None:
                found.append(made)
        return found

    def _declared(
        self, node: Node, declarator: Node, class_: Node | None, span: Span, within: UnfinishedBody, depth: int
    ) -> Assign | None:
        """One variable of a declaration, of a class that the declaration defines or names as such, if there is one."""
        if declarator.type == "function_declarator":
            name, given = declarator.child_by_field_name("declarator"), declarator.child_by_field_name("parameters")
            if name is None or given is None or not _may_be_arguments(given):
                return None  # `Guard g();` declares a function
            kind = node.child_by_field_name("type")
            return self.assign(node, kind, name, self.expression(given, within, depth), span)
        known = self._assigned[declarator.start_byte, declarator.end_byte]
        value, type_ = known.value, known.type
        if value is not None and self._lambdas and self.holds_lambda(declarator):
            right = declarator.child_by_field_name("value")
            value = self.expression(right, within, depth) if right is not None else value
        class_name = class_.child_by_field_name("name") if class_ is not None else None
        if class_name is not None and type_ is not None:
            type_ = self.reading.expressions.type_of(class_name, type_.constant, type_.marks)
        return Assign(span, (known.target,), value, "=", declares=True, type=type_)

    def assign(self, node: Node, kind: Node | None, left: Node, value: Expression | None, span: Span) -> Assign:
        """The declaration of what `left` names, in a condition or a class."""
        declared = declared_by(left)
        type_ = None
        if kind is not None:
            constant = self.reading.is_constant(node, kind, left)
            type_ = self.reading.expressions.type_of(kind, constant, declared.marks)
        return Assign(span, (self.read(declared.name or left),), value, "=", declares=True, type=type_)

    def _class(self, node: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
        body = self.inner_bodies.class_body(node, within)
        if body is None:
            return []
        within.inner.append(body)
        return [Define(body.header, len(within.inner) - 1)]

    # -- the others

    def _braces(self, node: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
        return [
            Block(
                self.header(node, node.start_byte + 1),
                (),
                tuple(self.statements(node.named_children, within, depth + 1)),
            )
        ]

    def _return(self, node: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
        value = first_child(node)
        given = self.expression(value, within, depth) if value is not None else None
        return [ReturnStatement(self.span(node), given)]

    def _yield(self, node: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
        value = first_child(node)
        operands = (self.expression(value, within, depth),) if value is not None else ()
        return [Evaluate(self.span(node), Operation("yield", operands))]

    def _throw(self, node: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
        value = first_child(node)
        given = self.expression(value, within, depth) if value is not None else None
        return [Raise(self.span(node), given)]

    def _leave(self, node: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
        return [Leave(self.span(node), "break" if node.type == "break_statement" else "continue")]

    def _goto(self, node: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
        within.is_read = False
        return [Leave(self.span(node), "goto")]

    def _labeled(self, node: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
        return self.statements(node.named_children[1:], within, depth)

    def _attributed(self, node: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
        return self.statements(node.named_children[-1:], within, depth)


class _ClosureReader(ExpressionReader):
    """Reads an expression with lambdas, which get their bodies."""

    def __init__(self, statements: StatementReader, within: UnfinishedBody, depth: int) -> None:
        reading = statements.reading
        super().__init__(reading.text, 0)
        self._statements = statements
        self._within = within
        self._level = depth

    def read(self, node: Node, depth: int = MAX_DEPTH) -> Expression:
        if not self._statements.holds_lambda(node):
            return self._statements.read(node, depth)
        reader = READERS.get(node.type)
        if reader is None or depth == 0:
            return self.other(node)
        found = reader(self, node, depth - 1)
        if node.type != "lambda_expression" or not isinstance(found, LambdaExpression):
            return found
        if self._within.lambdas_around >= MOST_LAMBDAS or self._level >= MOST_NESTED:
            self._within.is_read = False
            return found
        self._within.inner.append(self._statements.inner_bodies.lambda_body(node, self._within, self._level + 1))
        return LambdaExpression(found.text, found.mentioned, len(self._within.inner) - 1)


StatementForm = Callable[[StatementReader, "Node", UnfinishedBody, int], list[AnyStatement]]
"""Reads one kind of statement: (reader, node, the body in which it is, how deep) -> what it becomes."""
SIMPLE_STATEMENTS: dict[str, StatementForm] = {
    "expression_statement": StatementReader._expression,
    "declaration": StatementReader._declaration,
    "compound_statement": StatementReader._braces,
    "return_statement": StatementReader._return,
    "co_return_statement": StatementReader._return,
    "co_yield_statement": StatementReader._yield,
    "throw_statement": StatementReader._throw,
    "break_statement": StatementReader._leave,
    "continue_statement": StatementReader._leave,
    "goto_statement": StatementReader._goto,
    "labeled_statement": StatementReader._labeled,
    "attributed_statement": StatementReader._attributed,
    **dict.fromkeys(_CLASSES, StatementReader._class),
}


def negated(condition: Expression) -> Expression:
    """`!x` of `x`."""
    is_open = isinstance(condition, Operation) and len(condition.operands) > 1
    return Operation("!", (Bracketed((condition,)) if is_open else condition,))


def first_child(node: Node) -> Node | None:
    """What is in the node first, but for comments."""
    for child in node.named_children:
        if child.type != "comment":
            return child
    return None


def _parts_of_comma(node: Node) -> list[Node]:
    """`a`, `b` and `c` of `a, b, c`."""
    parts: list[Node] = []
    waiting = [node]
    while waiting:
        one = waiting.pop()
        left, right = one.child_by_field_name("left"), one.child_by_field_name("right")
        if one.type != "comma_expression" or left is None or right is None:
            parts.append(one)
        else:
            waiting += (right, left)
    return parts


def _unpacking(target: Expression) -> Expression:
    """`(a, b)` of `std::tie(a, b)`."""
    if isinstance(target, CallExpression) and last_name(target.callee) == "tie":
        return Bracketed(target.arguments)
    return target


def _may_be_arguments(parameters: Node) -> bool:
    """Whether what the grammar takes for the parameters of a local function may be what a variable is given."""
    given = parameters.named_children
    return bool(given) and all(map(_may_be_argument, given))


def _may_be_argument(parameter: Node) -> bool:
    if parameter.type != "parameter_declaration":
        return parameter.type != "optional_parameter_declaration"
    kind, declarator = parameter.child_by_field_name("type"), parameter.child_by_field_name("declarator")
    if kind is not None and kind.type in ("primitive_type", "sized_type_specifier", "placeholder_type_specifier"):
        return False
    return (declarator is None or declarator.type != "identifier") and not any(
        child.type == "type_qualifier" for child in parameter.children
    )
