"""The functions that a file declares and doesn't define: what it may call or register that another file defines."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts import Span
from ...facts.spans import Nested
from ...lazy_regex import lazy_regex
from ...named_tuples import NamedTuple
from .cpp_masking import closing

_PART = lazy_regex(rb"[^;{}]*[;{}]")
"""Matches wherever it is tried, so that no text is gone through twice."""
_DIRECTIVE = lazy_regex(rb"(?m)^[ \t]*#.*$")
_LABEL = lazy_regex(rb"\b(?:public|protected|private|signals)\s*:(?!:)")
_NAME = lazy_regex(rb"(?P<name>(?<![\w:])[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*)\s*\Z")
_TYPE = lazy_regex(rb"[\w:<>,&*\[\]\s\"]*[\w>&*\]\"]\Z")
"""What stands in front of the name: a type, with attributes, `extern "C"` and `template <…>`."""
_NO_TYPE = lazy_regex(rb"\b(?:return|throw|else|new|delete|case|goto|do|operator|co_return|co_await|co_yield|using)\b")
_BEHIND = lazy_regex(rb"(?:const|noexcept|override|final|volatile|=|0|default|&|->[\w:<>,&*\s]+|\s)*;\Z")
_SCOPE = lazy_regex(rb"\b(?P<kind>namespace|class|struct)\b(?P<head>[^;{}()=]*)\{")
_BASES = lazy_regex(rb"(?<!:):(?!:)")
_WORD = lazy_regex(rb"[A-Za-z_]\w*")


class _Scope(NamedTuple):
    span: Span
    names: tuple[str, ...]


def declared_functions(code: bytes) -> tuple[tuple[str, ...], ...]:
    """The qualified names of functions and methods that are declared without a body; `code` is without comments.

    What is declared in an unnamed namespace is left out: no other file defines it.
    """
    scopes: Nested[_Scope] | None = None
    found: dict[tuple[str, ...], None] = {}
    for statement in _PART.finditer(code.replace(b"{}", b"  ")):  # a default argument
        text = statement.group()
        if text[-1] != 0x3B:  # ';'
            continue
        opening, end = text.find(b"("), text.rfind(b")")
        if opening < 0 or end < opening or not _BEHIND.match(text, end + 1):
            continue
        head = text[:opening]
        if b":" in head or b"#" in head:
            head = _LABEL.split(_DIRECTIVE.sub(b"", head))[-1]
        name = _NAME.search(head)
        if name is None:
            continue
        type_ = head[: name.start()].strip()
        builds = not type_ or type_ == b"explicit"  # a constructor, or else a call
        if not builds and (not _TYPE.match(type_) or _NO_TYPE.search(head)):
            continue
        if scopes is None:
            scopes = Nested(_scopes(code), lambda scope: scope.span)
        place = Span(statement.start() + opening, statement.end())
        around = [scope.names for scope in scopes.around(place)]
        own = tuple(word.decode() for word in _WORD.findall(name["name"]))
        if () not in around and (not builds or own in around[:1]):
            found[(*(part for names in reversed(around) for part in names), *own)] = None
    return tuple(found)


def _scopes(code: bytes) -> Iterator[_Scope]:
    """The namespaces and classes, each with its names; an unnamed namespace has none."""
    for match in _SCOPE.finditer(code):
        end = closing(code, match.end() - 1)
        if end is None:
            continue
        is_class = match["kind"] != b"namespace"
        head = _BASES.split(match["head"])[0] if is_class else match["head"]
        words = [word.decode() for word in _WORD.findall(head) if word != b"final"]
        yield _Scope(Span(match.start(), end), tuple(words[-1:] or [""] if is_class else words))
