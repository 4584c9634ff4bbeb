"""Branches, loops, exceptions and conditionals of C++ -> statements."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...facts.bodies import AnyStatement, Assign, Block, Handler, If, Leave, Loop, Try
from ...facts.expressions import (
    Expression,
    LiteralExpression,
    LiteralKind,
    OtherExpression,
    truth_of,
    without_brackets,
)
from ...facts.spans import Span
from ...lazy_regex import lazy_regex
from .cpp_declarators import declared_by
from .cpp_statements import (
    DOES_NOTHING,
    MOST_NESTED,
    StatementForm,
    StatementReader,
    UnfinishedBody,
    first_child,
    negated,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_CONDITIONALS = frozenset({"preproc_if", "preproc_ifdef", "preproc_elif", "preproc_elifdef", "preproc_else"})

# -- branches


def _if(reader: StatementReader, node: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
    arms: list[tuple[Span, list[AnyStatement], Expression, tuple[AnyStatement, ...]]] = []
    otherwise: tuple[AnyStatement, ...] = ()
    current: Node | None = node
    while current is not None:
        if depth + len(arms) > MOST_NESTED or within.left <= 0:
            within.is_read = False
            break
        within.left -= bool(arms)
        clause = current.child_by_field_name("condition")
        before, condition = _condition(reader, clause, within, depth + len(arms))
        header = reader.header(current, clause.end_byte if clause is not None else current.end_byte)
        if not reader.begins_with(current, b"if"):
            condition = OtherExpression(str(condition))  # a test's section, which is run or not
        then = reader.block(current.child_by_field_name("consequence"), within, depth + len(arms) + 1)
        arms.append((header, before, condition, then))
        clause = current.child_by_field_name("alternative")
        inside = first_child(clause) if clause is not None else None
        current = inside if inside is not None and inside.type == "if_statement" else None
        if current is None:
            otherwise = reader.block(inside, within, depth + len(arms))
    for header, before, condition, then in reversed(arms):
        one: AnyStatement = If(header, condition, then, otherwise)
        otherwise = (Block(header, (), (*before, one)),) if before else (one,)
    return list(otherwise)


def _condition(
    reader: StatementReader, clause: Node | None, within: UnfinishedBody, depth: int
) -> tuple[list[AnyStatement], Expression]:
    """What is declared in front of a condition, and the condition."""
    before: list[AnyStatement] = []
    if clause is None:
        return before, OtherExpression("")
    if clause.type != "condition_clause":
        return before, without_brackets(reader.expression(clause, within, depth))
    initializer, value = clause.child_by_field_name("initializer"), clause.child_by_field_name("value")
    before += _initializer(reader, initializer, within, depth)
    if value is None:
        return before, reader.other(clause)
    if value.type != "declaration":
        return before, reader.expression(value, within, depth)
    kind, left = value.child_by_field_name("type"), value.child_by_field_name("declarator")
    right = value.child_by_field_name("value")
    if left is None:
        return before, reader.other(value)
    given = reader.expression(right, within, depth) if right is not None else None
    one = reader.assign(value, kind, left, given, reader.span(value))
    return [*before, one], one.targets[0]


def _switch(reader: StatementReader, node: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
    from .switch_chains import Case, chain_of_cases

    clause, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
    before, subject = _condition(reader, clause, within, depth)
    header = reader.header(node, clause.end_byte if clause is not None else node.end_byte)
    cases: list[Case] = []
    for child in _cases(reader, body, within):
        value = child.child_by_field_name("value")
        if len(cases) + depth >= MOST_NESTED or within.left <= 0:
            within.is_read = False
            break
        given = reader.expression(value, within, depth) if value is not None else None
        inside = [one for one in child.named_children if one != value]
        colon = next((one for one in child.children if one.type == ":"), child)
        place = reader.header(child, colon.end_byte)
        cases.append(Case(place, given, tuple(reader.statements(inside, within, depth + len(cases) + 1))))
    chain = chain_of_cases(header, subject, cases, within.left)
    if chain is None:
        within.is_read = False
        chain = ()
    within.left -= sum(len(case.statements) for case in cases)
    return [Block(header, (), (*before, *chain))] if before else list(chain)


def _cases(reader: StatementReader, body: Node | None, within: UnfinishedBody) -> Iterable[Node]:
    """The labels of a switch with what follows them, those in an `#if` without an `#else` as well."""
    for child in body.named_children if body is not None else ():
        if child.type == "case_statement":
            yield child
        elif child.type in _CONDITIONALS and child.child_by_field_name("alternative") is None:
            condition = child.child_by_field_name("condition") or child.child_by_field_name("name")
            if not _is_dead(reader, child, condition):
                yield from (inside for inside in child.named_children if inside.type == "case_statement")
        elif child.type not in DOES_NOTHING:
            within.is_read = False


def _initializer(reader: StatementReader, node: Node | None, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
    """What is in front of the first semicolon in the brackets of `if`, `switch` and `for`."""
    inside = first_child(node) if node is not None and node.type == "init_statement" else node
    if inside is None:
        return []
    if inside.type in ("declaration", "expression_statement", "alias_declaration"):
        return reader.statements((inside,), within, depth)
    return reader.evaluated(inside, inside, within, depth)


# -- loops


def _for(reader: StatementReader, node: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
    field = node.child_by_field_name
    initializer, condition, update, body = map(field, ("initializer", "condition", "update", "body"))
    before = _initializer(reader, initializer, within, depth)
    asked = reader.expression(condition, within, depth) if condition is not None else None
    block = reader.block(body, within, depth + 1)
    if update is not None:
        block = (*block, *reader.evaluated(update, update, within, depth))
    header = reader.header(node, body.start_byte if body is not None else node.end_byte)
    loop = Loop(header, None, None, None if asked is not None and truth_of(asked) else asked, block)
    if any(isinstance(one, Assign) and _may_shadow(one) for one in before):
        return [Block(header, (), (*before, loop))]
    return [*before, loop]


def _for_range(reader: StatementReader, node: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
    field = node.child_by_field_name
    initializer, left, right, body = map(field, ("initializer", "declarator", "right", "body"))
    if left is None or right is None:
        return reader.lost(node, within)
    before = _initializer(reader, initializer, within, depth)
    target = reader.read(declared_by(left).name or left)
    header = reader.header(node, body.start_byte if body is not None else node.end_byte)
    loop = Loop(header, target, reader.expression(right, within, depth), None, reader.block(body, within, depth + 1))
    return [Block(header, (), (*before, loop))] if before else [loop]


def _while(reader: StatementReader, node: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
    clause, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
    before, condition = _condition(reader, clause, within, depth)
    header = reader.header(node, clause.end_byte if clause is not None else node.end_byte)
    block = reader.block(body, within, depth + 1)
    if before:  # it is made again in each round
        leave = If(header, negated(condition), (Leave(header, "break"),))
        return [Loop(header, None, None, None, (*before, leave, *block))]
    return [Loop(header, None, None, None if _is_always_true(condition) else condition, block)]


def _do(reader: StatementReader, node: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
    clause, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
    if clause is None or body is None:
        return reader.lost(node, within)
    condition = without_brackets(reader.expression(clause, within, depth))
    start = reader.reading.text.find(b"while", body.end_byte, clause.start_byte)
    place = reader.between(start if start >= 0 else clause.start_byte, clause.end_byte)
    asked = None if _is_always_true(condition) else condition
    return [Loop(place, None, None, asked, reader.block(body, within, depth + 1), runs_once=True)]


def _try(reader: StatementReader, node: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
    block: tuple[AnyStatement, ...] = ()
    handlers: list[Handler] = []
    for child in node.named_children:
        if child.type == "compound_statement":
            block = reader.block(child, within, depth + 1)
        elif child.type == "catch_clause":
            handlers.append(_handler(reader, child, within, depth))
    return [Try(reader.header(node, node.start_byte + len(b"try")), block, tuple(handlers))]


def _handler(reader: StatementReader, node: Node, within: UnfinishedBody, depth: int) -> Handler:
    parameters, body = node.child_by_field_name("parameters"), node.child_by_field_name("body")
    block = reader.block(body, within, depth + 1)
    caught = first_child(parameters) if parameters is not None else None
    kind = caught.child_by_field_name("type") if caught is not None else None
    if caught is None or kind is None:
        return Handler(None, "", block)
    declarator = caught.child_by_field_name("declarator")
    declared = declared_by(declarator)
    constant = reader.reading.is_constant(caught, kind, declarator)
    type_ = reader.reading.expressions.type_of(kind, constant, declared.marks)
    return Handler(type_, reader.reading.written(declared.name) if declared.name is not None else "", block)


# -- conditionals of the preprocessor


def _conditional(reader: StatementReader, node: Node, within: UnfinishedBody, depth: int) -> list[AnyStatement]:
    """The arms that a compiler may see, each the other's alternative."""
    arms: list[tuple[Span, Expression, tuple[AnyStatement, ...]]] = []
    otherwise: list[AnyStatement] = []
    current: Node | None = node
    while current is not None:
        condition = current.child_by_field_name("condition") or current.child_by_field_name("name")
        following = current.child_by_field_name("alternative")
        if depth + len(arms) > MOST_NESTED:
            within.is_read = False
            break
        is_dead = _is_dead(reader, current, condition)
        if not is_dead:
            inside = [child for child in current.named_children if child not in (condition, following)]
            block = reader.statements(inside, within, depth + len(arms) + (condition is not None))
            if condition is None:
                otherwise = block
            else:
                header = reader.header(current, condition.end_byte)
                arms.append((header, _asked(reader, current, condition), tuple(block)))
        elif condition is None and arms:
            otherwise = list(arms.pop()[2])  # one before is surely compiled if none else is
        current = following
    for header, asked, then in reversed(arms):
        otherwise = [If(header, asked, then, tuple(otherwise))]
    return otherwise


def _asked(reader: StatementReader, node: Node, condition: Node) -> Expression:
    written = reader.reading.written(condition)
    kind = node.children[0].type if node.children else ""
    if kind in ("#ifdef", "#elifdef"):
        written = f"defined({written})"
    elif kind in ("#ifndef", "#elifndef"):
        written = f"!defined({written})"
    return OtherExpression(f"#if {written}", _words_in(written))


def _is_dead(reader: StatementReader, node: Node, condition: Node | None) -> bool:
    """Whether no compiler sees the arm: what is dead of it begins where its directive ends."""
    begin = condition.end_byte if condition is not None else node.start_byte
    index = bisect_left(reader.dead, (begin, 0))
    if index == len(reader.dead) or reader.dead[index].start > node.end_byte:
        return False
    return b"\n" not in reader.reading.text[begin : reader.dead[index].start]


CONTROL_FLOW: dict[str, StatementForm] = {
    "if_statement": _if,
    "switch_statement": _switch,
    "for_statement": _for,
    "for_range_loop": _for_range,
    "while_statement": _while,
    "do_statement": _do,
    "try_statement": _try,
    **dict.fromkeys(_CONDITIONALS, _conditional),
}

_WORD = lazy_regex(r"[A-Za-z_]\w*")


def _words_in(written: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_WORD.findall(written)))


_NUMBERS = frozenset("auto bool char int long short unsigned size_t ssize_t int32_t int64_t uint32_t uint64_t".split())


def _may_shadow(declaration: Assign) -> bool:
    """Whether what a `for` declares is more than a counter, and the end of the loop is its end."""
    return declaration.declares and (declaration.type is None or declaration.type.last not in _NUMBERS)


def _is_always_true(condition: Expression) -> bool:
    if isinstance(condition, LiteralExpression) and condition.kind is LiteralKind.NUMBER:
        return condition.text == "1"
    return truth_of(condition) is True
