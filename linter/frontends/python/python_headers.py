"""Where the headers of statements end that hold others: `ast` tells it of their parts alone."""

from __future__ import annotations

import ast

from ...facts import Span
from ...lazy_regex import lazy_regex
from .parsed_module import Module

_COLON = lazy_regex(rb"(?:[\s()\[\],*/\\]|#[^\r\n]*(?![^\r\n]))*:")
_NAMED = lazy_regex(rb"(?:async\s+)?(?:def|class)[\s\\]+[\w\x80-\xff]+")


def statement_header(module: Module, node: ast.stmt | ast.Lambda, *parts: ast.AST) -> Span:
    """From a statement's start to the colon after its parts in front of its block, or after its only word."""
    start = module.span(node).start
    words = len("lambda") if isinstance(node, ast.Lambda) else len("try")
    return _up_to_colon(module, start, max((module.span(part).end for part in parts), default=start + words))


def definition_header(module: Module, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Span:
    """From `def` or `class` to the colon."""
    start = module.span(node).start
    text = module.source.text
    shown = text[start : module.start_of(node.body[0])].rstrip()
    if shown.endswith(b":") and b"#" not in shown:
        return Span(start, start + len(shown))
    parts: list[ast.AST] = [*getattr(node, "type_params", ())]
    if isinstance(node, ast.ClassDef):
        parts += (*node.bases, *(keyword.value for keyword in node.keywords))
    else:
        parts += parts_of(node.args)
        parts += [node.returns] if node.returns is not None else []
    name = _NAMED.match(text, start)
    first = name.end() if name is not None else start
    return _up_to_colon(module, start, max((module.span(part).end for part in parts), default=first))


def case_header(module: Module, case: ast.match_case) -> Span:
    """From `case` to its colon."""
    pattern = module.span(case.pattern)
    start = module.source.text.rfind(b"case", 0, pattern.start)
    return _up_to_colon(module, start, module.span(case.guard).end if case.guard is not None else pattern.end)


def parts_of(given: ast.arguments) -> list[ast.AST]:
    """What has a place among parameters."""
    named = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
    return [one for one in (*named, *given.defaults, *given.kw_defaults) if one is not None]


def _up_to_colon(module: Module, start: int, after: int) -> Span:
    colon = _COLON.match(module.source.text, after)
    return Span(start, colon.end() if colon is not None else after)
