"""Preprocessor conditionals: `#if … #endif` with their branches."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ...facts import Branch, Conditional, Span
from ...lazy_regex import lazy_regex
from ...named_tuples import NamedTuple
from .byte_words import line_before

_DIRECTIVE = lazy_regex(
    rb"#[ \t\v\f]*(?P<name>if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b"
    rb"(?P<rest>[^\n\\]*(?:\\(?:\r?\n)?[^\n\\]*)*)"
)
_SPLICE = lazy_regex(rb"\\\r?\n")
_CONDITIONS = {"ifdef": "defined({})", "elifdef": "defined({})", "ifndef": "!defined({})", "elifndef": "!defined({})"}


class Directive(NamedTuple):
    """One line of a conditional: `#if`, `#elifdef`, `#else`, `#endif`."""

    name: str
    rest: bytes
    """What follows the name."""
    start: int
    """Where that begins."""
    span: Span

    def condition_of(self, rest: str) -> str:
        """The condition of a directive with this after its name."""
        return _CONDITIONS.get(self.name, "{}").format(rest)


def directives(code: bytes) -> Iterator[Directive]:
    """The lines of conditionals in order; `code` has no comments and literals, and plain lines."""
    for match in _DIRECTIVE.finditer(code):
        line = line_before(code, match.start())
        if line is not None:
            # `code` has blanks where a comment was; they aren't part of the directive.
            span = Span(line, match.start() + len(match.group().rstrip()))
            yield Directive(match["name"].decode(), match["rest"], match.start("rest"), span)


def find_conditionals(code: bytes) -> tuple[Conditional, ...]:
    """Every complete `#if … #endif`, inner ones first; `code` has no comments."""
    found: list[Conditional] = []
    stack: list[list[tuple[str, Span, int]]] = []
    for directive in directives(code):
        rest = b" ".join(_SPLICE.sub(b"", directive.rest).split()).decode("utf-8", "replace")
        condition = "" if directive.name == "else" else directive.condition_of(rest)
        start = directive.start + len(directive.rest) - len(directive.rest.lstrip())
        arm = (condition, directive.span, start)
        if directive.name in ("if", "ifdef", "ifndef"):
            stack.append([arm])
        elif stack and directive.name != "endif":
            stack[-1].append(arm)
        elif stack:
            branches = _branches(stack.pop(), directive.span)
            found.append(Conditional(branches, Span(branches[0].directive.start, directive.span.end)))
    return tuple(found)


def _branches(arms: list[tuple[str, Span, int]], end: Span) -> tuple[Branch, ...]:
    """Each directive with the code up to the next one; `end` is where the last one's ends."""
    return tuple(
        Branch(condition, Span(directive.end, following.start), directive, begin)
        for (condition, directive, begin), (_, following, _) in itertools.pairwise([*arms, ("", end, 0)])
    )
