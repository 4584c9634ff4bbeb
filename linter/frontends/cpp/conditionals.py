"""Preprocessor conditionals: `#if … #endif` with their branches."""

from __future__ import annotations

import itertools
import re

from ...facts import Branch, Conditional, Span
from ...facts.version_conditions import evaluate
from .byte_words import line_before
from .cpp_masking import blanked, code_only

_DIRECTIVE = re.compile(
    rb"#[ \t]*(?P<name>if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b(?P<rest>[^\n\\]*(?:\\(?:\r?\n)?[^\n\\]*)*)"
)


_CONDITION = re.compile(rb"#[^\n]*\b(?:el)?if\b")


def without_dead_branches(text: bytes) -> bytes:
    """The text with blanks for what no compiler sees whatever is defined: `#if 0`, the `#else` of `#if 1`."""
    return blanked(text, dead_branches(code_only(text))) if may_have_dead_branches(text) else text


def may_have_dead_branches(text: bytes) -> bool:
    """Whether a condition stands in the text that could be a constant; most files have none at all."""
    return _CONDITION.search(text) is not None


def dead_branches(code: bytes) -> list[Span]:
    """Where the code stands that no compiler sees, up to the `#` behind it; `code` has no comments and literals."""
    dead: list[Span] = []
    complete, open_ones = _conditionals(code)
    for branches in (*(conditional.branches for conditional in complete), *open_ones):
        taken = False
        for branch in branches:
            verdict = evaluate(branch.condition, {})
            if taken or verdict is False:
                sign = code.find(b"#", branch.span.end)
                dead.append(Span(branch.span.start, sign if sign >= 0 else len(code)))
            taken = taken or verdict is True
    return sorted(dead)


def find_conditionals(code: bytes) -> tuple[Conditional, ...]:
    """Every complete `#if … #endif`, inner ones first; `code` has no comments."""
    return _conditionals(code)[0]


def _conditionals(code: bytes) -> tuple[tuple[Conditional, ...], list[tuple[Branch, ...]]]:
    """The complete ones, inner ones first, and the branches of those that no `#endif` ends, up to the end."""
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
            branches = _branches(stack.pop(), span)
            found.append(Conditional(branches, Span(branches[0].directive.start, span.end)))
        else:
            prefix = {"elif": "", "elifdef": "defined(", "elifndef": "!defined(", "else": ""}[name]
            condition = "" if name == "else" else f"{prefix}{rest}{')' if prefix else ''}"
            stack[-1].append((condition, span, start))
    end = Span(len(code), len(code))
    return tuple(found), [_branches(arms, end) for arms in stack]


def _branches(arms: list[tuple[str, Span, int]], end: Span) -> tuple[Branch, ...]:
    """Each directive with the code up to the next one; `end` is where the last one's ends."""
    return tuple(
        Branch(condition, Span(directive.end, following.start), directive, begin)
        for (condition, directive, begin), (_, following, _) in itertools.pairwise([*arms, ("", end, 0)])
    )
