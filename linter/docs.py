"""C++ in the code blocks of Markdown and reStructuredText files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from . import guards
from .facts import Facts, Span
from .python.strings import read_embedded, with_pieces
from .sources import Source
from .suppress import find_directives

NEEDLES = (guards.LEGACY.encode(),)

_LANGUAGE = rb"(?:c\+\+|cpp|cc|cxx|c|cuda|objc|objective-c|objectivec|objective-c\+\+)"
_FENCE = re.compile(
    rb"^(?P<indent>[ \t>]*)(?P<fence>`{3,}|~{3,})[ \t]*\{?\.?"
    + _LANGUAGE
    + rb"\b[^\n`]*\n(?P<code>.*?)^[ \t>]*(?P=fence)",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_DIRECTIVE = re.compile(
    rb"^(?P<indent>[ \t]*)\.\. (?:code-block|code|sourcecode|highlight)::[ \t]*" + _LANGUAGE + rb"[ \t]*\r?\n"
    rb"(?P<code>(?:(?P=indent)[ \t]+[^\n]*\n?|[ \t]*\r?\n)+)",
    re.MULTILINE | re.IGNORECASE,
)
_COMMENT = re.compile(rb"<!--.*?-->|^[ \t]*\.\.[ \t][^\n]*", re.MULTILINE | re.DOTALL)


def extract(source: Source) -> Facts:
    """The facts of a document: those of the C++ in its code blocks."""
    directives = find_directives(source.text, source.row, comments)
    facts = Facts(
        path=source.path,
        language="docs",
        notes=(*source.notes, *directives.notes),
        suppressions=directives.suppressions,
        line_starts=source.line_starts,
    )
    pieces = []
    for block in code_blocks(source):
        piece = read_embedded(source, block, source.text[slice(*block)], facts)
        if piece is not None:
            pieces.append(piece)
    return with_pieces(facts, pieces)


def comments(text: bytes) -> Iterator[Span]:
    """The document's own comments: `<!-- … -->`, and lines that begin with `..`."""
    for match in _COMMENT.finditer(text):
        yield Span(*match.span())


def code_blocks(source: Source) -> Iterator[Span]:
    """The insides of the C++ code blocks that hold the old guard."""
    pattern = _DIRECTIVE if source.path.lower().endswith(".rst") else _FENCE
    for match in pattern.finditer(source.text):
        span = Span(*match.span("code"))
        if guards.LEGACY.encode() in source.text[span.start : span.end]:
            yield span
