"""What a file's own macros expand to, as far as registrations and generated functions need it.

Arguments are put in, `#` and `##` carried out, and the result is read again for further macros ([cpp.rescan]), which
is what lists of the form `FOR_EACH_OP(REGISTER)` need. Conditionals are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from ...facts import Invocation, Span
from ...facts.macro_substitution import Definition, substituted
from ...lazy_regex import lazy_regex
from .byte_words import line_before, words
from .cpp_masking import blanked, closing, code_only

_DEFINE = lazy_regex(rb"#[ \t]*define[ \t]+(?P<name>\w+)(?:\((?P<parameters>[^()\n]*)\))?(?P<body>(?:\\\r?\n|[^\n])*)")
_DIRECTIVE = lazy_regex(rb"#(?:\\\r?\n|[^\n])*")
_WORD = lazy_regex(rb"[A-Za-z_]\w*")
_OPENING = lazy_regex(rb"\s*\(")
_COMMENT = lazy_regex(rb'(?P<literal>"(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/|\\\r?\n', re.DOTALL)
_DEPTH = 6
_SIZE = 50_000
_EXPANSIONS = 5_000
"""Macros can grow without bounds. Beyond so many levels, bytes and invocations they are left as they are written."""
_FEW, _LONG = 40, 4
"""Up to so many names are looked for one by one in a text of more bytes for each; else all its words are looked up."""


Macros = Mapping[bytes, Definition]


def definitions(text: bytes, code: bytes) -> dict[bytes, Definition]:
    """The file's macros by their names; `code` is `text` with comments and string contents blanked."""
    found = {}
    for match in _DEFINE.finditer(code):
        if line_before(code, match.start()) is None:
            continue
        given = match["parameters"]
        names = None if given is None else tuple(piece.strip() for piece in given.split(b",") if piece.strip())
        found[match["name"]] = Definition(names, _plain(text[slice(*match.span("body"))]))
    return found


def without_directives(code: bytes) -> bytes:
    """The code with every directive blanked, `#define` and all."""
    directives = (Span(*match.span()) for match in _DIRECTIVE.finditer(code))
    return blanked(code, (span for span in directives if line_before(code, span.start) is not None))


def _plain(body: bytes) -> bytes:
    """The body in one line, without comments."""
    return _COMMENT.sub(lambda match: match["literal"] or b" ", body).strip()


def expansions(
    text: bytes, code: bytes, span: Span, macros: Macros, sought: re.Pattern[bytes]
) -> Iterator[tuple[Span, bytes]]:
    """(where it is, what it becomes) of the macros invoked in the span that may become what is sought.

    `code` has neither directives nor comments.
    """
    reaching = _becoming(macros, sought)
    if not reaching:
        return
    work = _Work(macros)
    for place, name, arguments in _invocations(text, code, span, work):
        if _reaches(name, arguments, reaching):
            yield place, _expand(name, arguments, work, frozenset())


def invocations(text: bytes, code: bytes, wanted: frozenset[str], macros: Macros) -> tuple[Invocation, ...]:
    """With which arguments the file invokes the wanted macros, whether they are its own, directly or through others."""
    used = _words_of_bodies(macros)
    if len(wanted) > _FEW and not any(b"##" in macro.body for macro in macros.values()):
        # Of what the whole project wants, a file has little; only pasting makes names that are written nowhere.
        written = set(_WORD.findall(code)).union(*used.values())
        wanted = wanted.intersection(word.decode() for word in written)
    names = {name.encode() for name in wanted}
    work = _Work({**{name: Definition((), b"") for name in names}, **macros})
    reaching = _reaching(used, names)
    found = []
    for place, name, arguments in _invocations(text, code, Span(0, len(code)), work):
        if not _reaches(name, arguments, reaching):
            continue
        work.made.clear()
        _expand(name, arguments, work, frozenset())
        found += [
            Invocation(macro.decode(), tuple(argument.decode("utf-8", "replace") for argument in given), place)
            for macro, given in work.made
            if macro in names
        ]
    return tuple(found)


class Expander:
    """Expands single invocations of a file's macros, of those that may become what is sought."""

    def __init__(self, text: bytes, code: bytes, sought: re.Pattern[bytes]) -> None:
        macros = definitions(text, code)
        self._text = text
        self._code = code
        self._reaching = _becoming(macros, sought)
        self._work = _Work({name: macro for name, macro in macros.items() if name in self._reaching})
        self._all = _Work(macros)

    def expanded(self, span: Span) -> bytes | None:
        """What the invocation becomes that begins and ends the span; None where none is known."""
        for place, name, arguments in _invocations(self._text, self._code, span, self._work):
            if place == span and self._all.left > 0:
                return _expand(name, arguments, self._all, frozenset())
            break
        return None


class _Work:
    """The macros of one file, and how much was done with them."""

    def __init__(self, macros: Macros) -> None:
        self.macros = macros
        self.left = _EXPANSIONS
        self.made: list[tuple[bytes, tuple[bytes, ...]]] = []
        """(macro, arguments) of every invocation that was expanded."""


def _becoming(macros: Macros, sought: re.Pattern[bytes]) -> frozenset[bytes]:
    """The macros that become what is sought, directly or through others."""
    found = {name for name, macro in macros.items() if sought.search(macro.body)}
    return _reaching(_words_of_bodies(macros), found) if found else frozenset()


def _words_of_bodies(macros: Macros) -> dict[bytes, set[bytes]]:
    return {name: set(_WORD.findall(macro.body)) for name, macro in macros.items()}


def _reaching(words: Mapping[bytes, set[bytes]], names: set[bytes]) -> frozenset[bytes]:
    """These names, and the macros that become one of them directly or through others, by the words of their bodies."""
    found = set(names)
    size = 0
    while size != len(found):
        size = len(found)
        found |= {name for name, used in words.items() if not used.isdisjoint(found)}
    return frozenset(found)


def _reaches(name: bytes, arguments: tuple[bytes, ...], reaching: frozenset[bytes]) -> bool:
    """Whether an invocation is of such a macro, or hands one on: `FOR_EACH_OP(REGISTER)`."""
    return name in reaching or any(not reaching.isdisjoint(_WORD.findall(argument)) for argument in arguments)


def _invocations(
    text: bytes, code: bytes, span: Span, work: _Work, hidden: frozenset[bytes] = frozenset()
) -> Iterator[tuple[Span, bytes, tuple[bytes, ...]]]:
    position = span.start
    for start, name in _places(work.macros, code, span):
        if start < position or name in hidden:
            continue
        position = start + len(name)
        if work.macros[name].parameters is None:
            yield Span(start, position), name, ()
            continue
        opening = _OPENING.match(code, position)
        end = closing(code, opening.end() - 1) if opening is not None else None
        if opening is None or end is None:
            continue  # without brackets it is not an invocation
        pieces = split_arguments(code, opening.end(), end - 1)
        yield Span(start, end), name, tuple(_plain(text[slice(*piece)]) for piece in pieces)
        position = end


def _places(names: Collection[bytes], code: bytes, span: Span) -> Iterable[tuple[int, bytes]]:
    """(place, name) wherever one of the names occurs whole in the span, by place."""
    if len(names) <= _FEW and span.end - span.start > _LONG * len(names):
        return sorted((place, name) for name in names for place in words(name, code, *span))
    found = ((match.start(), match.group()) for match in _WORD.finditer(code, *span))
    return (place for place in found if place[1] in names)


def _expand(name: bytes, arguments: tuple[bytes, ...], work: _Work, within: frozenset[bytes]) -> bytes:
    """What an invocation becomes."""
    work.made.append((name, arguments))
    work.left -= 1
    result = substituted(work.macros[name], arguments)
    within = within | {name}
    if len(within) > _DEPTH or len(result) > _SIZE:
        return result
    code = code_only(result)
    pieces, end = [], 0
    for place, inner, given in _invocations(result, code, Span(0, len(result)), work, within):
        if work.left <= 0:
            break
        pieces += [result[end : place.start], _expand(inner, given, work, within)]
        end = place.end
    return b"".join([*pieces, result[end:]])


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
