"""Preprocessor conditionals: `#if … #endif` with their branches."""

from __future__ import annotations

import itertools
import re

from ...facts import Branch, Conditional, Span
from ...facts.version_conditions import evaluate
from .byte_words import line_before
from .cpp_masking import blank, code_only

_DIRECTIVE = re.compile(
    rb"#[ \t]*(?P<name>if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b(?P<rest>[^\n\\]*(?:\\(?:\r?\n)?[^\n\\]*)*)"
)


_CONSTANT = re.compile(rb"#[ \t]*(?:el)?if\b[^\n]*(?<![\w.])[01]\b")


def without_dead_branches(text: bytes) -> bytes:
    """The text with blanks for what no compiler sees whatever is defined: `#if 0`, the `#else` of `#if 1`."""
    if not _CONSTANT.search(text):
        return text
    masked = bytearray(text)
    for conditional in find_conditionals(code_only(text)):
        taken = False
        for branch in conditional.branches:
            verdict = evaluate(branch.condition, {})
            if taken or verdict is False:
                blank(masked, *branch.span)
            taken = taken or verdict is True
    return bytes(masked)


def find_conditionals(code: bytes) -> tuple[Conditional, ...]:
    """Every complete `#if … #endif`, inner ones first; `code` has no comments."""
    found: list[Conditional] = []
    stack: list[list[tuple[str, Span, int]]] = []
    for match in _DIRECTIVE.finditer(code):
        line = line_before(code, match.start())
        if line is None:
            continue
        name = match["name"].decode()
        rest = b" ".join(match["rest"].replace(b"\\\r\n", b" ").replace(b"\\\n", b" ").split()).decode(
            "utf-8", "replace"
        )
        # `code` has blanks where a comment stood; they are no part of the directive.
        span = Span(line, match.start() + len(match.group().rstrip()))
        start = match.start("rest") + len(match["rest"]) - len(match["rest"].lstrip())
        if name in ("if", "ifdef", "ifndef"):
            condition = {"if": rest, "ifdef": f"defined({rest})", "ifndef": f"!defined({rest})"}[name]
            stack.append([(condition, span, start)])
        elif not stack:
            continue
        elif name == "endif":
            arms = [*stack.pop(), ("", span, start)]
            branches = tuple(
                Branch(condition, Span(directive.end, following.start), directive, begin)
                for (condition, directive, begin), (_, following, _) in itertools.pairwise(arms)
            )
            found.append(Conditional(branches, Span(branches[0].directive.start, span.end)))
        else:
            prefix = {"elif": "", "elifdef": "defined(", "elifndef": "!defined(", "else": ""}[name]
            condition = "" if name == "else" else f"{prefix}{rest}{')' if prefix else ''}"
            stack[-1].append((condition, span, start))
    return tuple(found)
