"""Python: decorators that are taken off, and statements that become decorators."""

from __future__ import annotations

from guardfix.linter.facts import Span
from guardfix.linter.facts.python_model import Kind, PythonUse
from guardfix.linter.findings import Applicability
from guardfix.linter.lazy_regex import lazy_regex

from ..fix import Edit, Fix, insertion
from ..site import Site
from .statements import line_start

_BLANK_LINES = lazy_regex(rb"[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n|\r)((?:[ \t]*(?:\r\n|\n|\r))*)")


def made_decorator(site: Site) -> Fix | None:
    """A guard that is a statement just before a `def` becomes its decorator; None where no such `def` follows."""
    found = site.python_use
    if found is None or found.following is None:
        return None
    start, end = found.use.span
    following = found.following
    # Above `@property` a guard would make a function of it.
    plain = following.kind in (Kind.FUNCTION, Kind.GENERATOR) and not following.descriptor
    alone = _BLANK_LINES.match(site.text, end)
    if not plain or alone is None or site.text[line_start(site.text, start) : start].strip():
        return None
    edits = [insertion(start, "@")]
    if not found.called:
        edits.append(insertion(found.call_span.end, "()"))
    if alone[1] and alone.end() <= following.start:
        edits.append(Edit(Span(*alone.span(1)), ""))
    message = f"make it the decorator `@{found.use.written}()`; the guard, which had no effect, takes effect"
    return site.fix(message, edits, at_most=Applicability.UNSAFE)


def decorator_removal(text: bytes, found: PythonUse) -> list[Edit] | None:
    """The decorator goes with its line; a comment after it stays. None where something else is on the line."""
    span = found.use.span
    start = line_start(text, span.start)
    if text[start : span.start].strip():
        return None
    end = span.end
    while text[end : end + 1] in (b" ", b"\t"):
        end += 1
    if text[end : end + 1] == b"#":
        return [Edit(Span(span.start, end), "")]
    if text[end : end + 2] == b"\r\n":
        return [Edit(Span(start, end + 2), "")]
    return [Edit(Span(start, end + 1), "")] if text[end : end + 1] in (b"\n", b"\r") else None
