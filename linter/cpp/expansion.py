"""What a file's own macros expand to, as far as registrations and generated functions need it.

Arguments are put in, `#` and `##` carried out, and the result is read again for further macros ([cpp.rescan]), which
is what lists of the form `FOR_EACH_OP(REGISTER)` need. Conditionals are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..facts import Invocation, Span
from .mask import closing, code_only

_DEFINE = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)(?:\((?P<parameters>[^()\n]*)\))?(?P<body>(?:\\\r?\n|[^\n])*)",
    re.MULTILINE,
)
_DIRECTIVE = re.compile(rb"^[ \t]*#(?:\\\r?\n|[^\n])*", re.MULTILINE)
_COMMENT = re.compile(rb'(?P<literal>"(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/|\\\r?\n', re.DOTALL)
_TOKEN = re.compile(rb'"(?:\\.|[^"\\\n])*"|(?<!#)#(?!#)\s*(?P<text>\w+)|(?P<word>\w+)')
_PASTE = re.compile(rb"\s*##\s*")
_DEPTH = 6
_SIZE = 200_000
"""A macro that grows beyond this is left as it is written."""


class Definition(NamedTuple):
    """A macro; `parameters` is None for one without brackets."""

    parameters: tuple[bytes, ...] | None
    body: bytes


Macros = Mapping[bytes, Definition]


def definitions(text: bytes, code: bytes) -> dict[bytes, Definition]:
    """The file's macros by their names; `code` is `text` with comments and string contents blanked."""
    found = {}
    for match in _DEFINE.finditer(code):
        given = match["parameters"]
        names = None if given is None else tuple(piece.strip() for piece in given.split(b",") if piece.strip())
        found[match["name"]] = Definition(names, _plain(text[slice(*match.span("body"))]))
    return found


def without_definitions(code: bytes) -> bytes:
    """The code with every `#define` blanked."""
    return _DEFINE.sub(lambda match: bytes(byte if byte in b"\r\n" else 0x20 for byte in match.group()), code)


def _plain(body: bytes) -> bytes:
    """The body in one line, without comments."""
    return _COMMENT.sub(lambda match: match["literal"] or b" ", body).strip()


def expansions(text: bytes, code: bytes, span: Span, macros: Macros) -> Iterator[tuple[Span, bytes]]:
    """(where it stands, what it becomes) of every macro that the span invokes outside directives."""
    names = _names_of(macros)
    if names is None:
        return
    directives = [match.span() for match in _DIRECTIVE.finditer(code, *span)]
    for place, name, arguments in _invocations(text, code, span, names, macros):
        if not any(low <= place.start < high for low, high in directives):
            yield place, _expand(name, arguments, macros, frozenset(), [])


def invocations(text: bytes, code: bytes, wanted: frozenset[str], macros: Macros) -> tuple[Invocation, ...]:
    """With which arguments the file invokes the wanted macros, whether they are its own, directly or through others."""
    known = {**{name.encode(): Definition((), b"") for name in wanted}, **macros}
    names = _names_of(known)
    if names is None:
        return ()
    directives = [match.span() for match in _DIRECTIVE.finditer(code)]
    found = []
    for place, name, arguments in _invocations(text, code, Span(0, len(code)), names, known):
        if any(low <= place.start < high for low, high in directives):
            continue
        made: list[tuple[bytes, tuple[bytes, ...]]] = []
        _expand(name, arguments, known, frozenset(), made)
        found += [
            Invocation(macro.decode(), tuple(argument.decode("utf-8", "replace") for argument in given), place)
            for macro, given in made
            if macro.decode() in wanted
        ]
    return tuple(found)


def _names_of(macros: Macros) -> re.Pattern[bytes] | None:
    if not macros:
        return None
    return re.compile(rb"\b(?:" + b"|".join(map(re.escape, sorted(macros, key=len, reverse=True))) + rb")\b")


def _invocations(
    text: bytes, code: bytes, span: Span, names: re.Pattern[bytes], macros: Macros
) -> Iterator[tuple[Span, bytes, tuple[bytes, ...]]]:
    position = span.start
    while (match := names.search(code, position, span.end)) is not None:
        position = match.end()
        if macros[match.group()].parameters is None:
            yield Span(*match.span()), match.group(), ()
            continue
        opening = re.compile(rb"\s*\(").match(code, match.end())
        end = closing(code, opening.end() - 1) if opening is not None else None
        if opening is None or end is None:
            continue  # without brackets it is no invocation
        pieces = split_arguments(code, opening.end(), end - 1)
        yield Span(match.start(), end), match.group(), tuple(_plain(text[slice(*piece)]) for piece in pieces)
        position = end


def _expand(
    name: bytes,
    arguments: tuple[bytes, ...],
    macros: Macros,
    within: frozenset[bytes],
    made: list[tuple[bytes, tuple[bytes, ...]]],
) -> bytes:
    """What an invocation becomes; every invocation on the way is added to `made`."""
    made.append((name, arguments))
    definition = macros[name]
    result = _substitute(definition, arguments)
    within = within | {name}
    rest = {other: macro for other, macro in macros.items() if other not in within}
    names = _names_of(rest)
    if names is None or len(within) > _DEPTH or len(result) > _SIZE:
        return result
    code = code_only(result)
    pieces, end = [], 0
    for place, inner, given in _invocations(result, code, Span(0, len(result)), names, rest):
        pieces += [result[end : place.start], _expand(inner, given, rest, within, made)]
        end = place.end
        if sum(map(len, pieces)) > _SIZE:
            break
    return b"".join([*pieces, result[end:]])


def _substitute(definition: Definition, arguments: tuple[bytes, ...]) -> bytes:
    parameters = definition.parameters or ()
    values = dict(zip(parameters, arguments, strict=False))
    if parameters and parameters[-1] == b"...":
        values[b"__VA_ARGS__"] = b", ".join(arguments[len(parameters) - 1 :])

    def replaced(match: re.Match[bytes]) -> bytes:
        if match["word"] is not None:
            return values.get(match["word"], match["word"])
        if match["text"] in values:
            return b'"' + values[match["text"]].replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'
        return match.group()

    return _PASTE.sub(b"", _TOKEN.sub(replaced, definition.body))


def pasted(name: str, parameters: tuple[str, ...], arguments: tuple[str, ...]) -> str:
    """A name that a macro makes, for the arguments of one invocation: `op##_autograd` -> `add_autograd`."""
    definition = Definition(tuple(map(str.encode, parameters)), name.encode())
    return _substitute(definition, tuple(map(str.encode, arguments))).decode("utf-8", "replace")


def split_arguments(code: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """The spans of the comma-separated pieces of code[start:end]; angle brackets are not counted."""
    pieces = []
    low = position = start
    pattern = re.compile(rb"[(\[{,]")
    while (match := pattern.search(code, position, end)) is not None:
        if match.group() == b",":
            pieces.append((low, match.start()))
            low = position = match.end()
        else:
            stop = closing(code, match.start())
            position = min(end, stop) if stop is not None else end
    if code[low:end].strip():
        pieces.append((low, end))
    return pieces
