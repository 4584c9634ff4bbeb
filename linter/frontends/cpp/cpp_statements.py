"""Syntax nodes of C++ -> statements (`facts.statements`).

Everything is read from the outside in: no node is asked for its parent. What stands in the braces of a branch, a loop
or a function is their block; braces on their own are a `Block`. So each `then`, `otherwise` and `block` is a scope,
with one exception: the arms of an `#if`, whose condition is an `OtherExpression` that begins with `#`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from ...facts.expressions import (
    MAX_DEPTH,
    Bracketed,
    CallExpression,
    Expression,
    LambdaExpression,
    LiteralExpression,
    LiteralKind,
    NamePath,
    Operation,
    OtherExpression,
    last_name,
    truth_of,
    without_brackets,
)
from ...facts.spans import Span
from ...facts.statements import (
    Assign,
    Block,
    Body,
    Define,
    Delete,
    Evaluate,
    Handler,
    If,
    Leave,
    Loop,
    Raise,
    Return,
    Statement,
    Try,
)
from ...lazy_regex import lazy_regex
from .cpp_declarators import declared_by
from .cpp_expressions import READERS, ExpressionReader
from .statement_macros import condition_of_check, expects_exception, leaves_test, never_returns
from .switches import Case, chain_of_cases

if TYPE_CHECKING:
    from tree_sitter import Node

    from .tree_reading import Reading

MOST_NESTED = 64
"""How many statements stand in each other, an `else if` in the one before it; deeper ones are left out."""
MOST_STATEMENTS = 4000
"""How many statements of one body are read."""
MOST_LAMBDAS = 6
"""How many lambdas stand in each other that are read."""

_PARALLEL = lazy_regex(rb"#[ \t]*pragma[ \t]+omp\b[^\n]*\bparallel\b")
_NOTHING = frozenset(
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
_CONDITIONALS = frozenset({"preproc_if", "preproc_ifdef", "preproc_elif", "preproc_elifdef", "preproc_else"})


class UnfinishedBody(Struct, eq=False):
    """What is gathered for one body while its statements are read."""

    qualified: tuple[str, ...]
    lambdas_around: int = 0
    left: int = MOST_STATEMENTS
    inner: list[Body] = []
    is_read: bool = True
    awaits: bool = False
    yields: bool = False


class Closures:
    """Gives lambdas and local classes their bodies, for which it is asked where they are met."""

    def lambda_body(self, node: Node, frame: UnfinishedBody, depth: int) -> Body:
        raise NotImplementedError

    def class_body(self, node: Node, frame: UnfinishedBody) -> Body | None:
        raise NotImplementedError


class StatementReader:
    """Reads the statements of one tree; `dead` is what no compiler sees, sorted."""

    def __init__(self, reading: Reading, dead: Sequence[Span], closures: Closures) -> None:
        self._reading = reading
        self._dead = dead
        self._closures = closures
        self._read = reading.expressions.read
        self._lambdas = [function.span.start for function in reading.functions if function.is_lambda]

    # -- expressions

    def expression(self, node: Node, frame: UnfinishedBody, depth: int) -> Expression:
        if self.holds_lambda(node):
            return _ClosureReader(self, frame, depth).read(node)
        return self._read(node)

    def holds_lambda(self, node: Node) -> bool:
        shift = self._reading.shift
        index = bisect_left(self._lambdas, node.start_byte + shift)
        return index < len(self._lambdas) and self._lambdas[index] < node.end_byte + shift

    def _other(self, node: Node) -> Expression:
        return self._reading.expressions.other(node)

    def _header(self, node: Node, end: int) -> Span:
        """From where the node begins to `end`, without the white space there."""
        shift = self._reading.shift
        start = node.start_byte + shift
        return Span(start, start + len(self._reading.text[start : end + shift].rstrip()))

    # -- lists of statements

    def block(self, node: Node | None, frame: UnfinishedBody, depth: int) -> tuple[Statement, ...]:
        """What a branch or loop runs: the statements in the braces, or the one statement."""
        if node is None:
            return ()
        nodes = node.named_children if node.type == "compound_statement" else (node,)
        return tuple(self.statements(nodes, frame, depth))

    def statements(self, nodes: Iterable[Node], frame: UnfinishedBody, depth: int) -> list[Statement]:
        found: list[Statement] = []
        if depth > MOST_NESTED:
            frame.is_read = False
            return found
        parallel: Span | None = None
        for node in nodes:
            kind = node.type
            if kind in _NOTHING:
                if kind == "preproc_call" and self._is_parallel(node):
                    parallel = self._header(node, node.end_byte)
                continue
            if frame.left <= 0:
                frame.is_read = False
                break
            frame.left -= 1
            made = _STATEMENTS.get(kind, StatementReader._unknown)(self, node, frame, depth)
            if parallel is not None:
                made, parallel = [Block(parallel, (), tuple(made), is_parallel=True)], None
            found += made
        return found

    def _is_parallel(self, node: Node) -> bool:
        start = node.start_byte + self._reading.shift
        return _PARALLEL.match(self._reading.text, start) is not None

    def _unknown(self, node: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        if node.is_error or node.type not in READERS:
            frame.is_read = False
            return [Evaluate(self._reading.span(node), self._other(node))]
        return self.evaluated(node, node, frame, depth)

    # -- expressions as statements

    def _expression(self, node: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        inside = _first_child(node)
        return [] if inside is None else self.evaluated(inside, node, frame, depth)

    def evaluated(self, node: Node, place: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        """An expression whose value nobody takes; `place` is its statement."""
        kind, span = node.type, self._reading.span(place)
        if kind == "assignment_expression":
            return [self._assignment(node, span, frame, depth)]
        if kind == "comma_expression":
            found: list[Statement] = []
            for part in _parts_of_comma(node):
                found += self.evaluated(part, part, frame, depth)
            return found
        if kind == "delete_expression":
            return [Delete(span, tuple(self.expression(child, frame, depth) for child in node.named_children))]
        if kind == "call_expression":
            return self._call(node, span, frame, depth)
        if kind == "compound_statement":
            return self._braces(node, frame, depth)
        value = self.expression(node, frame, depth)
        if kind == "identifier" and isinstance(value, NamePath) and value.name.isupper():
            value = CallExpression(value)  # a macro that runs something
        elif kind == "co_await_expression":
            frame.awaits = True
        elif kind == "binary_expression" and self._is_fatal(node):
            return [Raise(span, value)]
        return [Evaluate(span, value)]

    def _is_fatal(self, node: Node) -> bool:
        """`LOG(FATAL) << …`."""
        start = node.start_byte + self._reading.shift
        return self._reading.text.startswith(b"LOG(FATAL)", start)

    def _assignment(self, node: Node, span: Span, frame: UnfinishedBody, depth: int) -> Statement:
        targets: list[Expression] = []
        right: Node | None = node
        operator = "="
        while right is not None and right.type == "assignment_expression":
            left, sign = right.child_by_field_name("left"), right.child_by_field_name("operator")
            if left is None or sign is None or (targets and sign.type != "="):
                break
            operator = sign.type
            targets.append(_unpacking(self.expression(left, frame, depth)))
            right = right.child_by_field_name("right")
            if operator != "=":
                break
        value = self.expression(right, frame, depth) if right is not None else None
        self._note_waiting(right, frame)
        return Assign(span, tuple(targets), value, operator)

    def _note_waiting(self, node: Node | None, frame: UnfinishedBody) -> None:
        if node is not None and node.type == "co_await_expression":
            frame.awaits = True

    def _call(self, node: Node, span: Span, frame: UnfinishedBody, depth: int) -> list[Statement]:
        callee = node.child_by_field_name("function")
        called = self._read(callee) if callee is not None and not self.holds_lambda(callee) else None
        if not isinstance(called, NamePath):
            return [Evaluate(span, self.expression(node, frame, depth))]
        raises = expects_exception(called)
        if raises is not None:
            given = node.child_by_field_name("arguments")
            first = _first_child(given) if given is not None else None
            if first is not None:
                return self._expected(first, span, frame, depth, raises=raises)
        call = self.expression(node, frame, depth)
        if not isinstance(call, CallExpression):
            return [Evaluate(span, call)]
        condition = condition_of_check(called, call.arguments)
        if condition is None:
            return [Raise(span, call)] if never_returns(called) else [Evaluate(span, call)]
        if leaves_test(called):
            return [If(span, negated(condition), (Return(span, None),))]
        raised = Raise(span, call)
        return [raised] if truth_of(condition) is False else [If(span, negated(condition), (raised,))]

    def _expected(self, first: Node, span: Span, frame: UnfinishedBody, depth: int, *, raises: bool) -> list[Statement]:
        """`EXPECT_THROW(statement, …)`: what it raises goes no further."""
        if first.type == "lambda_expression":
            run = CallExpression(self.expression(first, frame, depth))
            inside: list[Statement] = [Evaluate(self._reading.span(first), run)]
        else:
            inside = self.evaluated(first, first, frame, depth + 1)
        return [Try(span, tuple(inside), (Handler(None, "", ()),))] if raises else inside

    # -- declarations

    def _declaration(self, node: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        kind = node.child_by_field_name("type")
        found: list[Statement] = []
        if kind is not None and kind.type in _CLASSES:
            found += self._class(kind, frame, depth)
        if any(child.type == "storage_class_specifier" and child.text == b"extern" for child in node.children):
            return found
        declarators = node.children_by_field_name("declarator")
        shift = self._reading.shift
        for declarator in declarators:
            start = (node if declarator is declarators[0] else declarator).start_byte + shift
            end = (node if len(declarators) == 1 else declarator).end_byte + shift
            made = self._declared(node, kind, declarator, Span(start, end), frame, depth)
            found += () if made is None else (made,)
        return found

    def _declared(
        self, node: Node, kind: Node | None, declarator: Node, span: Span, frame: UnfinishedBody, depth: int
    ) -> Assign | None:
        left: Node | None = declarator
        right: Node | None = None
        if declarator.type == "init_declarator":
            left, right = declarator.child_by_field_name("declarator"), declarator.child_by_field_name("value")
        elif declarator.type == "function_declarator":
            left, right = declarator.child_by_field_name("declarator"), declarator.child_by_field_name("parameters")
            if right is None or not _may_be_arguments(right):
                return None  # `Guard g();` declares a function
        if left is None or left.type == "function_declarator":
            return None
        value = self.expression(right, frame, depth) if right is not None else None
        self._note_waiting(right, frame)
        return self.assign(node, kind, left, value, span)

    def assign(self, node: Node, kind: Node | None, left: Node, value: Expression | None, span: Span) -> Assign:
        """The declaration of what `left` names."""
        declared = declared_by(left)
        named = kind.child_by_field_name("name") or kind if kind is not None and kind.type in _CLASSES else kind
        type_ = None
        if kind is not None and named is not None:
            constant = self._reading.is_constant(node, kind, left)
            type_ = self._reading.expressions.type_of(named, constant, declared.marks)
        return Assign(span, (self._read(declared.name or left),), value, "=", declares=True, type=type_)

    def _class(self, node: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        body = self._closures.class_body(node, frame)
        if body is None:
            return []
        frame.inner.append(body)
        return [Define(body.header, len(frame.inner) - 1)]

    # -- branches

    def _if(self, node: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        arms: list[tuple[Span, list[Statement], Expression, tuple[Statement, ...]]] = []
        otherwise: tuple[Statement, ...] = ()
        current: Node | None = node
        while current is not None:
            if depth + len(arms) > MOST_NESTED or frame.left <= 0:
                frame.is_read = False
                break
            frame.left -= bool(arms)
            clause = current.child_by_field_name("condition")
            before, condition = self._condition(clause, frame, depth + len(arms))
            header = self._header(current, clause.end_byte if clause is not None else current.end_byte)
            if not self._reading.text.startswith(b"if", header.start):
                condition = OtherExpression(str(condition))  # a test's section, which is run or not
            then = self.block(current.child_by_field_name("consequence"), frame, depth + len(arms) + 1)
            arms.append((header, before, condition, then))
            clause = current.child_by_field_name("alternative")
            inside = _first_child(clause) if clause is not None else None
            current = inside if inside is not None and inside.type == "if_statement" else None
            if current is None:
                otherwise = self.block(inside, frame, depth + len(arms))
        for header, before, condition, then in reversed(arms):
            one: Statement = If(header, condition, then, otherwise)
            otherwise = (Block(header, (), (*before, one)),) if before else (one,)
        return list(otherwise)

    def _condition(self, clause: Node | None, frame: UnfinishedBody, depth: int) -> tuple[list[Statement], Expression]:
        """What is declared in front of a condition, and the condition."""
        before: list[Statement] = []
        if clause is None:
            return before, OtherExpression("")
        if clause.type != "condition_clause":
            return before, without_brackets(self.expression(clause, frame, depth))
        initializer, value = clause.child_by_field_name("initializer"), clause.child_by_field_name("value")
        if initializer is not None:
            inside = _first_child(initializer) if initializer.type == "init_statement" else initializer
            before += self.statements((inside,) if inside is not None else (), frame, depth)
        if value is None:
            return before, self._other(clause)
        if value.type != "declaration":
            self._note_waiting(value, frame)
            return before, self.expression(value, frame, depth)
        kind, left = value.child_by_field_name("type"), value.child_by_field_name("declarator")
        right = value.child_by_field_name("value")
        if left is None:
            return before, self._other(value)
        given = self.expression(right, frame, depth) if right is not None else None
        one = self.assign(value, kind, left, given, self._reading.span(value))
        return [*before, one], one.targets[0]

    def _switch(self, node: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        clause, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        before, subject = self._condition(clause, frame, depth)
        header = self._header(node, clause.end_byte if clause is not None else node.end_byte)
        cases: list[Case] = []
        for child in body.named_children if body is not None else ():
            if child.type != "case_statement":
                if child.type not in _NOTHING:
                    frame.is_read = False  # `#if` around cases, a label
                continue
            children = child.named_children
            value = child.child_by_field_name("value")
            if len(cases) + depth >= MOST_NESTED or frame.left <= 0:
                frame.is_read = False
                break
            given = self.expression(value, frame, depth) if value is not None else None
            inside = [one for one in children if one != value]
            colon = next((one for one in child.children if one.type == ":"), child)
            place = self._header(child, colon.end_byte)
            cases.append(Case(place, given, tuple(self.statements(inside, frame, depth + len(cases) + 1))))
        chain = chain_of_cases(header, subject, cases, frame.left)
        if chain is None:
            frame.is_read = False
            chain = ()
        frame.left -= sum(len(case.statements) for case in cases)
        return [Block(header, (), (*before, *chain))] if before else list(chain)

    # -- loops

    def _for(self, node: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        field = node.child_by_field_name
        initializer, condition, update, body = map(field, ("initializer", "condition", "update", "body"))
        before: list[Statement] = []
        if initializer is not None:
            inside = _first_child(initializer) if initializer.type == "init_statement" else initializer
            if inside is not None:
                before = (
                    self.statements((inside,), frame, depth)
                    if inside.type in _STATEMENTS
                    else self.evaluated(inside, inside, frame, depth)
                )
        asked = self.expression(condition, frame, depth) if condition is not None else None
        block = self.block(body, frame, depth + 1)
        if update is not None:
            block = (*block, *self.evaluated(update, update, frame, depth))
        header = self._header(node, body.start_byte if body is not None else node.end_byte)
        loop = Loop(header, None, None, None if asked is not None and truth_of(asked) else asked, block)
        if any(isinstance(one, Assign) and _may_shadow(one) for one in before):
            return [Block(header, (), (*before, loop))]
        return [*before, loop]

    def _for_range(self, node: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        field = node.child_by_field_name
        initializer, left, right, body = map(field, ("initializer", "declarator", "right", "body"))
        if left is None or right is None:
            return self._lost(node, frame)
        before: list[Statement] = []
        if initializer is not None:
            inside = _first_child(initializer) if initializer.type == "init_statement" else initializer
            before = self.statements((inside,) if inside is not None else (), frame, depth)
        target = self._read(declared_by(left).name or left)
        header = self._header(node, body.start_byte if body is not None else node.end_byte)
        loop = Loop(header, target, self.expression(right, frame, depth), None, self.block(body, frame, depth + 1))
        return [Block(header, (), (*before, loop))] if before else [loop]

    def _while(self, node: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        clause, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        before, condition = self._condition(clause, frame, depth)
        header = self._header(node, clause.end_byte if clause is not None else node.end_byte)
        block = self.block(body, frame, depth + 1)
        if before:  # it is made anew in each round
            leave = If(header, negated(condition), (Leave(header, "break"),))
            return [Loop(header, None, None, None, (*before, leave, *block))]
        return [Loop(header, None, None, None if _is_always_true(condition) else condition, block)]

    def _do(self, node: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        clause, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        if clause is None or body is None:
            return self._lost(node, frame)
        condition = without_brackets(self.expression(clause, frame, depth))
        shift = self._reading.shift
        start = self._reading.text.find(b"while", body.end_byte + shift, clause.start_byte + shift)
        place = Span(start if start >= 0 else clause.start_byte + shift, clause.end_byte + shift)
        asked = None if _is_always_true(condition) else condition
        return [Loop(place, None, None, asked, self.block(body, frame, depth + 1), runs_once=True)]

    # -- the others

    def _braces(self, node: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        start = node.start_byte + self._reading.shift
        return [Block(Span(start, start + 1), (), tuple(self.statements(node.named_children, frame, depth + 1)))]

    def _try(self, node: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        block: tuple[Statement, ...] = ()
        handlers: list[Handler] = []
        for child in node.named_children:
            if child.type == "compound_statement":
                block = self.block(child, frame, depth + 1)
            elif child.type == "catch_clause":
                handlers.append(self._handler(child, frame, depth))
        start = node.start_byte + self._reading.shift
        return [Try(Span(start, start + len(b"try")), block, tuple(handlers))]

    def _handler(self, node: Node, frame: UnfinishedBody, depth: int) -> Handler:
        parameters, body = node.child_by_field_name("parameters"), node.child_by_field_name("body")
        block = self.block(body, frame, depth + 1)
        caught = _first_child(parameters) if parameters is not None else None
        kind = caught.child_by_field_name("type") if caught is not None else None
        if caught is None or kind is None:
            return Handler(None, "", block)
        declarator = caught.child_by_field_name("declarator")
        declared = declared_by(declarator)
        constant = self._reading.is_constant(caught, kind, declarator)
        type_ = self._reading.expressions.type_of(kind, constant, declared.marks)
        return Handler(type_, self._reading.written(declared.name) if declared.name is not None else "", block)

    def _return(self, node: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        value = _first_child(node)
        if node.type == "co_return_statement":
            frame.awaits = True
        self._note_waiting(value, frame)
        given = self.expression(value, frame, depth) if value is not None else None
        return [Return(self._reading.span(node), given)]

    def _yield(self, node: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        frame.yields = True
        value = _first_child(node)
        operands = (self.expression(value, frame, depth),) if value is not None else ()
        return [Evaluate(self._reading.span(node), Operation("yield", operands))]

    def _throw(self, node: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        value = _first_child(node)
        given = self.expression(value, frame, depth) if value is not None else None
        return [Raise(self._reading.span(node), given)]

    def _leave(self, node: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        return [Leave(self._reading.span(node), "break" if node.type == "break_statement" else "continue")]

    def _goto(self, node: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        frame.is_read = False
        return [Leave(self._reading.span(node), "goto")]

    def _labeled(self, node: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        return self.statements(node.named_children[1:], frame, depth)

    def _attributed(self, node: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        return self.statements(node.named_children[-1:], frame, depth)

    def _lost(self, node: Node, frame: UnfinishedBody) -> list[Statement]:
        frame.is_read = False
        return [Evaluate(self._reading.span(node), self._other(node))]

    # -- conditionals of the preprocessor

    def _conditional(self, node: Node, frame: UnfinishedBody, depth: int) -> list[Statement]:
        """The arms that a compiler may see, each the other's alternative."""
        arms: list[tuple[Span, Expression, tuple[Statement, ...]]] = []
        otherwise: list[Statement] = []
        current: Node | None = node
        while current is not None:
            condition = current.child_by_field_name("condition") or current.child_by_field_name("name")
            following = current.child_by_field_name("alternative")
            if depth + len(arms) > MOST_NESTED:
                frame.is_read = False
                break
            is_dead = self._is_dead(current, condition)
            if not is_dead:
                inside = [child for child in current.named_children if child not in (condition, following)]
                block = self.statements(inside, frame, depth + len(arms) + (condition is not None))
                if condition is None:
                    otherwise = block
                else:
                    header = self._header(current, condition.end_byte)
                    arms.append((header, self._asked(current, condition), tuple(block)))
            elif condition is None and arms:
                otherwise = list(arms.pop()[2])  # one before is surely compiled if none else is
            current = following
        for header, asked, then in reversed(arms):
            otherwise = [If(header, asked, then, tuple(otherwise))]
        return otherwise

    def _asked(self, node: Node, condition: Node) -> Expression:
        written = self._reading.written(condition)
        kind = node.children[0].type if node.children else ""
        if kind in ("#ifdef", "#elifdef"):
            written = f"defined({written})"
        elif kind in ("#ifndef", "#elifndef"):
            written = f"!defined({written})"
        return OtherExpression(f"#if {written}", _words_in(written))

    def _is_dead(self, node: Node, condition: Node | None) -> bool:
        """Whether no compiler sees the arm: what is dead of it begins where its directive ends."""
        shift = self._reading.shift
        begin = (condition.end_byte if condition is not None else node.start_byte) + shift
        index = bisect_left(self._dead, (begin, 0))
        if index == len(self._dead) or self._dead[index].start > node.end_byte + shift:
            return False
        return b"\n" not in self._reading.text[begin : self._dead[index].start]


class _ClosureReader(ExpressionReader):
    """Reads an expression in which lambdas stand; they get their bodies."""

    def __init__(self, statements: StatementReader, frame: UnfinishedBody, depth: int) -> None:
        reading = statements._reading
        super().__init__(reading.text, reading.shift)
        self._statements = statements
        self._frame = frame
        self._level = depth

    def read(self, node: Node, depth: int = MAX_DEPTH) -> Expression:
        if not self._statements.holds_lambda(node):
            return self._statements._read(node, depth)
        reader = READERS.get(node.type)
        if reader is None or depth == 0:
            return self.other(node)
        found = reader(self, node, depth - 1)
        if node.type != "lambda_expression" or not isinstance(found, LambdaExpression):
            return found
        if self._frame.lambdas_around >= MOST_LAMBDAS or self._level >= MOST_NESTED:
            self._frame.is_read = False
            return found
        self._frame.inner.append(self._statements._closures.lambda_body(node, self._frame, self._level + 1))
        return LambdaExpression(found.text, found.mentioned, len(self._frame.inner) - 1)


_Reader = Callable[[StatementReader, "Node", UnfinishedBody, int], list[Statement]]
_STATEMENTS: dict[str, _Reader] = {
    "expression_statement": StatementReader._expression,
    "declaration": StatementReader._declaration,
    "if_statement": StatementReader._if,
    "switch_statement": StatementReader._switch,
    "for_statement": StatementReader._for,
    "for_range_loop": StatementReader._for_range,
    "while_statement": StatementReader._while,
    "do_statement": StatementReader._do,
    "compound_statement": StatementReader._braces,
    "try_statement": StatementReader._try,
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
    **dict.fromkeys(_CONDITIONALS, StatementReader._conditional),
}


def negated(condition: Expression) -> Expression:
    """`!x` of `x`."""
    is_open = isinstance(condition, Operation) and len(condition.operands) > 1
    return Operation("!", (Bracketed((condition,)) if is_open else condition,))


_WORD = lazy_regex(r"[A-Za-z_]\w*")


def _words_in(written: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_WORD.findall(written)))


def _first_child(node: Node) -> Node | None:
    """What stands in the node first, but for comments."""
    return next((child for child in node.named_children if child.type != "comment"), None)


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


_NUMBERS = frozenset("auto bool char int long short unsigned size_t ssize_t int32_t int64_t uint32_t uint64_t".split())


def _may_shadow(declaration: Assign) -> bool:
    """Whether what a `for` declares is more than a counter, and the end of the loop is its end."""
    return declaration.declares and (declaration.type is None or declaration.type.last not in _NUMBERS)


def _is_always_true(condition: Expression) -> bool:
    if isinstance(condition, LiteralExpression) and condition.kind is LiteralKind.NUMBER:
        return condition.text == "1"
    return truth_of(condition) is True
