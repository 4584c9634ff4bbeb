"""GF401, GF402, GF403: decorators that should be `with` statements, and statements that should be decorators."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby

import libcst as cst

from guardfix.linter.facts import Facts, Form, Span
from guardfix.linter.facts.python_model import Decorated, Kind, PythonUse
from guardfix.linter.files.suppressions import is_suppressed
from guardfix.linter.findings import Applicability, Edit, Fix
from guardfix.linter.rules.gf401_guard_on_async_def import RULE as GF401
from guardfix.linter.rules.gf401_guard_on_async_def import stacks

from ..edits.libcst_regions import Statement, indent_unit, rewrite_statements, wrap
from ..edits.statements import line_start
from .site import PythonSite

_DEEPEST_WITH = 8
"""CPython refuses more than 20 blocks within one another, and each item of a `with` is one."""


def guard_inside(site: PythonSite) -> Fix | None:
    """GF401: the decorator becomes a `with` around the body, where the body does not pause.

    Guards above the same function go together, in their order: apart, the upper one would come to stand inside.
    """
    found, decorated = site.found, site.found.decorated
    assert decorated is not None
    guard = _call_text(site.text, found)
    if decorated.pauses:
        message = f"guard what computes between the pauses: `with {guard}:` inside `{decorated.name}`"
        return Fix(message, Applicability.DISPLAY, ())
    stack = _unsilenced(site.facts).get(decorated.span, [found])
    if found is not stack[-1]:
        return Fix(
            f"use `with {guard}:` inside `{decorated.name}`, as the fix of the guard below does it",
            Applicability.DISPLAY,
            (),
        )
    guards = [text for text, _ in groupby(_call_text(site.text, one) for one in stack)]
    edits = None
    if len(guards) <= _DEEPEST_WITH:
        edits = body_under_guard(site.text, decorated, [one.use.span for one in stack], ", ".join(guards))
    if edits is None:
        return Fix(f"use `with {guard}:` inside `{decorated.name}`", Applicability.DISPLAY, ())
    acts = "the guard did nothing, and acts" if len(guards) == 1 else "the guards did nothing, and act"
    return Fix(
        f"put `with {', '.join(guards)}:` inside `{decorated.name}`; {acts} from then on",
        Applicability.UNSAFE,
        tuple(edits),
    )


@lru_cache(maxsize=1)
def _unsilenced(facts: Facts) -> dict[Span, list[PythonUse]]:
    """The guards above each `async def` that no comment says to leave alone."""
    kept = {
        span: [one for one in stack if not _is_silenced(one.use.span, facts)] for span, stack in stacks(facts).items()
    }
    return {span: stack for span, stack in kept.items() if stack}


def _is_silenced(span: Span, facts: Facts) -> bool:
    return bool(facts.suppressions) and is_suppressed(facts.suppressions, facts.rows(span), GF401.code, GF401.name)


def _call_text(text: bytes, found: PythonUse) -> str:
    written = text[slice(*found.call_span)].decode("utf-8")
    return written if found.called else f"{written}()"


def body_under_guard(text: bytes, decorated: Decorated, decorators: Sequence[Span], guard: str) -> list[Edit] | None:
    """The edits that take decorators away and put `with guard:` around the function's body."""
    taken: list[Edit] = []
    comments: list[tuple[bytes, bytes]] = []
    for decorator in decorators:
        line = _DECORATOR_LINE.match(text, decorator.end)
        start = line_start(text, decorator.start)
        if line is None or text[start : decorator.start].strip():
            return None
        taken.append(Edit(Span(start, line.end()), ""))
        if line["comment"]:
            comments.append((line["space"], line["comment"]))
    header = cst.TrailingWhitespace()
    if comments:
        comment = b"  ".join(comment for _, comment in comments)
        header = cst.TrailingWhitespace(cst.SimpleWhitespace(comments[0][0].decode()), cst.Comment(comment.decode()))

    def rewriting(statements: Sequence[Statement]) -> Sequence[Statement] | None:
        function = statements[0]
        if len(statements) != 1 or not isinstance(function, cst.FunctionDef):
            return None
        if not isinstance(function.body, cst.IndentedBlock):
            return None
        body = list(function.body.body)
        docstring = 1 if function.get_docstring(clean=False) is not None else 0
        inside = [_statement(node) for node in body[docstring:]]
        if not inside:
            return None
        guarded = wrap(inside, guard, indent_unit(text), header)
        return [function.with_changes(body=function.body.with_changes(body=[*body[:docstring], guarded]))]

    edits = rewrite_statements(text, Span(decorated.definition, decorated.span.end), rewriting)
    return None if edits is None else [*taken, *edits]


_DECORATOR_LINE = re.compile(rb"(?P<space>[ \t]*)(?P<comment>#[^\r\n]*)?(?:\r\n|\n|\r)")


def _statement(node: cst.BaseStatement) -> Statement:
    assert isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
    return node


_BLANK_LINES = re.compile(rb"[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n|\r)((?:[ \t]*(?:\r\n|\n|\r))*)")


def make_decorator(site: PythonSite) -> Fix | None:
    """GF402, GF403: a statement just before a `def` becomes its decorator."""
    found, following = site.found, site.found.following
    written = found.use.written
    plain = (
        following is not None
        and following.kind in (Kind.FUNCTION, Kind.GENERATOR)
        and not following.descriptor  # above `@property` a guard would make a function of it
    )
    alone = _BLANK_LINES.match(site.text, found.use.span.end)
    if not plain or following is None or alone is None or not _begins_line(site):
        if found.use.form is Form.TEMPORARY:
            return Fix(f"put `with {written}():` around the code it is for", Applicability.DISPLAY, ())
        return None
    start = found.use.span.start
    edits = [Edit(Span(start, start), "@")]
    if not found.called:
        edits.append(Edit(Span(found.call_span.end, found.call_span.end), "()"))
    if alone[1] and alone.end() <= following.start:
        edits.append(Edit(Span(*alone.span(1)), ""))
    message = f"make it the decorator `@{written}()`; the guard did nothing, and acts from then on"
    return Fix(message, Applicability.UNSAFE, tuple(edits))


def _begins_line(site: PythonSite) -> bool:
    start = site.found.use.span.start
    return site.text[max(site.text.rfind(b"\n", 0, start), site.text.rfind(b"\r", 0, start)) + 1 : start].strip() == b""


def uncalled(site: PythonSite) -> Fix | None:
    """GF403: `with` has its edit from the rule; a statement before a `def` becomes a decorator."""
    return site.finding.fix if site.found.use.form is Form.WITH else make_decorator(site)
