"""The functions that a file declares and doesn't define: what it may call or register that another file defines."""

from __future__ import annotations

from ...lazy_regex import lazy_regex

_PART = lazy_regex(rb"[^;{}]+(?:[;{}]|\Z)|[;{}]")
"""Matches wherever it is tried, so that no text is gone through twice."""
_DEFAULT = lazy_regex(rb"=\s*\{\s*\}")
_DIRECTIVE = lazy_regex(rb"(?m)^[ \t]*#.*$")
_LABEL = lazy_regex(rb"\b(?:public|protected|private|signals)\s*:(?!:)")
_NAME = lazy_regex(rb"(?P<name>(?<![\w:])[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*)\s*\Z")
_TYPE = lazy_regex(rb"[\w:<>,&*\[\]\s\"]*[\w>&*\]\"]\Z")
"""What is in front of the name: a type, with attributes, `extern "C"` and `template <…>`."""
_NO_TYPE = lazy_regex(rb"\b(?:return|throw|else|new|delete|case|goto|do|operator|co_return|co_await|co_yield|using)\b")
_BEHIND = lazy_regex(
    rb"(?:const|noexcept|override|final|volatile|&|\s)*(?:->[\w:<>,&*\s]+)?(?:=\s*(?:0|default)\s*)?;\Z"
)
"""No text can be matched in two ways: trying all of them would take forever."""
_SCOPE = lazy_regex(rb"\b(?P<kind>namespace|class|struct)\b(?P<head>[^()=]*)\{\Z")
_LINKAGE = lazy_regex(rb"\bextern\s*\"[^\"]*\"\s*\{\Z")
_BASES = lazy_regex(rb"(?<!:):(?!:)")
_WORD = lazy_regex(rb"[A-Za-z_]\w*")

_Scope = tuple[str, ...] | None
"""The names of a namespace or a class; None for a body, and for an unnamed namespace: no other file defines what is
declared there."""


def declared_functions(code: bytes) -> tuple[tuple[str, ...], ...]:
    """The qualified names of functions and methods that are declared without a body; `code` is without comments."""
    found: dict[tuple[str, ...], None] = {}
    around: list[_Scope] = []
    hidden = 0
    for part in _PART.finditer(_DEFAULT.sub(b"=0", code)):
        text = part.group()
        if text[-1] == 0x7B:  # '{'
            scope = _scope(text) if not hidden else None
            hidden += scope is None
            around.append(scope)
        elif text[-1] == 0x7D:  # '}'
            hidden -= bool(around) and around.pop() is None
        elif not hidden and (name := _declared(text, around[-1] if around else ())):
            found[(*(each for scope in around for each in scope or ()), *name)] = None
    return tuple(found)


def _scope(text: bytes) -> _Scope:
    """What a brace opens, by what is before it."""
    match = _SCOPE.search(text, max(map(text.rfind, (b"(", b")", b"="))) + 1)
    if match is None:
        return () if _LINKAGE.search(text) else None
    is_class = match["kind"] != b"namespace"
    head = _BASES.split(match["head"])[0] if is_class else match["head"]
    words = tuple(word.decode() for word in _WORD.findall(head) if word != b"final")
    return (words[-1:] if is_class else words) or None


def _declared(text: bytes, around: _Scope) -> tuple[str, ...]:
    """The name that a statement declares a function by, in a namespace or class; empty for another statement."""
    opening, end = text.find(b"("), text.rfind(b")")
    if opening < 0 or end < opening or not _BEHIND.match(text, end + 1):
        return ()
    head = text[:opening]
    if b":" in head or b"#" in head:
        head = _LABEL.split(_DIRECTIVE.sub(b"", head))[-1]
    match = _NAME.search(head)
    if match is None:
        return ()
    name = tuple(word.decode() for word in _WORD.findall(match["name"]))
    type_ = head[: match.start()].strip()
    if not type_ or type_ == b"explicit":  # a constructor, or else a macro
        return name if name == around else ()
    return name if _TYPE.match(type_) and not _NO_TYPE.search(head) else ()
