"""The patterns of `match` as conditions, and what they bind."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.expressions import (
    MAX_TEXT,
    Bracketed,
    CallExpression,
    Expression,
    LiteralExpression,
    LiteralKind,
    NamePath,
    Operation,
    OtherExpression,
)
from .name_resolution import Scope
from .parsed_module import Module
from .python_expressions import PythonExpressionReader

SUBJECT = "<subject>"
"""The name under which a subject is kept that isn't one: no variable is called so."""


class PatternReading:
    """Reads the patterns of one file."""

    def __init__(self, module: Module, reader: PythonExpressionReader) -> None:
        self._module = module
        self._reader = reader

    def condition(self, pattern: ast.pattern, subject: Expression, scope: Scope) -> Expression | None:
        """When a subject matches; None where it always does."""
        if isinstance(pattern, ast.MatchAs):
            return None if pattern.pattern is None else self.condition(pattern.pattern, subject, scope)
        if isinstance(pattern, ast.MatchValue):
            return Operation("==", (subject, self._reader.read(pattern.value, scope)))
        if isinstance(pattern, ast.MatchSingleton):
            kind = LiteralKind.NONE if pattern.value is None else LiteralKind.BOOL
            return Operation("is", (subject, LiteralExpression(kind, str(pattern.value))))
        if isinstance(pattern, ast.MatchClass) and not pattern.patterns and not pattern.kwd_patterns:
            return CallExpression(variable("isinstance"), (subject, self._reader.read(pattern.cls, scope)))
        if isinstance(pattern, ast.MatchOr):
            either = [self.condition(one, subject, scope) for one in pattern.patterns]
            known = tuple(one for one in either if one is not None)
            return Operation("or", known) if len(known) == len(either) else None
        written = " ".join(self._module.written(pattern).split())[:MAX_TEXT]
        named = tuple(node.id for node in ast.walk(pattern) if isinstance(node, ast.Name))
        return Operation("==", (subject, OtherExpression(written, named)))


def captured(pattern: ast.pattern, subject: Expression) -> Iterator[tuple[Expression, Expression]]:
    """What a pattern binds: (target, value). A part of the subject is an expression that no one understands."""
    if isinstance(pattern, ast.MatchAs):
        if pattern.pattern is not None:
            yield from captured(pattern.pattern, subject)
        if pattern.name is not None:
            yield variable(pattern.name), subject
        return
    if isinstance(pattern, ast.MatchSequence):
        names = [_captured_name(one) for one in pattern.patterns]
        if names and all(name is not None for name in names):
            yield Bracketed(tuple(name for name in names if name is not None)), subject
            return
    part = OtherExpression(str(subject), subject.words)
    for node in ast.walk(pattern):
        name = node.rest if isinstance(node, ast.MatchMapping) else getattr(node, "name", None)
        if isinstance(name, str):
            yield variable(name), part


def variable(name: str) -> NamePath:
    """The expression that a plain name is."""
    return NamePath((name,), separator=".")


def _captured_name(pattern: ast.pattern) -> Expression | None:
    """`a`, `_` or `*a` as a target; None for what doesn't match everything."""
    if isinstance(pattern, ast.MatchStar):
        return Operation("*", (variable(pattern.name or "_"),))
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is None:
        return variable(pattern.name or "_")
    return None
