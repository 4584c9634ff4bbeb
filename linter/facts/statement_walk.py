"""Walks over statements: what is in a body, without running it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..answered_once import answered_once
from .bodies import (
    AnyStatement,
    Assign,
    Block,
    Body,
    BodyKind,
    Delete,
    Evaluate,
    If,
    Loop,
    Raise,
    ReturnStatement,
    Try,
)
from .expressions import CallExpression, Expression, nodes_of, words_of
from .model import Facts
from .spans import Nested, Span


def all_statements(statements: Sequence[AnyStatement]) -> Iterator[AnyStatement]:
    """The statements with those in their blocks, in order."""
    waiting = list(reversed(statements))
    while waiting:
        one = waiting.pop()
        yield one
        for block in reversed(list(blocks_of(one))):
            waiting += reversed(block)


def blocks_of(statement: AnyStatement) -> Iterator[Sequence[AnyStatement]]:
    """The blocks of a compound statement."""
    match statement:
        case If():
            yield statement.then
            yield statement.otherwise
        case Loop():
            yield statement.block
            yield statement.otherwise
        case Block():
            yield statement.block
        case Try():
            yield statement.block
            for handler in statement.handlers:
                yield handler.block
            yield statement.otherwise
            yield statement.finally_


def expressions_of(statement: AnyStatement) -> Iterator[Expression]:
    """The expressions of a statement's own, not those in its blocks."""
    match statement:
        case Assign():
            yield from statement.targets
            if statement.value is not None:
                yield statement.value
        case Evaluate():
            yield statement.value
        case If():
            yield statement.condition
        case Loop():
            yield from (one for one in (statement.target, statement.iterable, statement.condition) if one is not None)
        case Block():
            for item in statement.items:
                yield item.context
                if item.target is not None:
                    yield item.target
        case ReturnStatement() | Raise():
            if statement.value is not None:
                yield statement.value
        case Delete():
            yield from statement.targets


def nodes_in(statement: AnyStatement) -> Iterator[Expression]:
    """The expressions of a statement's own, with all that are in them."""
    for expression in expressions_of(statement):
        yield from nodes_of(expression)


def calls_of(statement: AnyStatement) -> Iterator[CallExpression]:
    """The calls in a statement's own expressions."""
    return (node for node in nodes_in(statement) if isinstance(node, CallExpression))


def called_in(body: Body) -> Iterator[CallExpression]:
    """The calls in a function's own code."""
    for statement in all_statements(body.statements):
        yield from calls_of(statement)


@answered_once
def words_in(body: Body) -> frozenset[str]:
    """The identifiers that a function mentions, and what is defined in it."""
    found: set[str] = set().union(*map(words_in, body.inner))
    for decorator in body.decorators:
        found |= words_of(decorator)
    for statement in all_statements((*body.initialisers, *body.statements)):
        if isinstance(statement, Assign) and statement.type is not None:
            found |= words_of(statement.type)
        for expression in expressions_of(statement):
            found |= words_of(expression)
    return frozenset(found)


def bodies_of(facts: Facts) -> Iterator[Body]:
    """All bodies of a file, with those inside others."""
    return bodies_below(facts.bodies)


def bodies_below(bodies: Iterable[Body]) -> Iterator[Body]:
    """These bodies and those inside them."""
    waiting = list(bodies)
    while waiting:
        one = waiting.pop()
        waiting += one.inner
        yield one


@answered_once
def _bodies_by_place(facts: Facts) -> Nested[Body]:
    return Nested(bodies_of(facts), lambda body: body.span)


def bodies_around(place: Span, facts: Facts) -> Iterator[Body]:
    """The bodies that a place is in, innermost first."""
    return _bodies_by_place(facts).around(place)


def bodies_named(name: str, facts: Facts) -> Iterator[Body]:
    """The functions of a file with a name, also those in classes and functions."""
    for one in bodies_of(facts):
        if one.name == name and one.kind is not BodyKind.CLASS:
            yield one
