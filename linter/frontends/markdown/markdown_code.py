"""C++ in the code blocks of Markdown and reStructuredText files."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from ... import guards
from ...facts import Facts, Span
from ...files.search_terms import SearchTerms, recorded
from ...files.sources import Source
from ...files.suppressions import find_directives
from ...lazy_regex import lazy_regex
from ..embedded.embedded_cpp import read_embedded, with_pieces

_CPP = frozenset("c++ cpp cc cxx c h hpp cuda cu objc objective-c objectivec objective-c++ objectivecpp".split())
_UNSAID = frozenset({"", "none", "default", "guess"})
_FENCE = lazy_regex(
    rb"(?P<before>[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?P<fence>`{3,}(?=[^`]*$)|~{3,})[ \t]*(?P<info>[^\r\n]*)"
)
_FIRST_WORD = lazy_regex(rb"[{. \t]*(?:code(?:-block)?\}[ \t]*)?(?P<word>[\w+#-]*)")
_DIRECTIVE = lazy_regex(rb"[ \t]*\.\.[ \t]+(?P<name>code-block|code|sourcecode|highlight)::[ \t]*(?P<word>[\w+#-]*)")
_OPTION = lazy_regex(rb"[ \t]+:[\w-]+:")
_LITERAL = lazy_regex(rb"(?![ \t]*\.\.(?:[ \t]|$))[^\r\n]*::[ \t]*$")
_QUOTE = lazy_regex(rb"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_COMMENT = lazy_regex(rb"<!--.*?-->|^[ \t]*\.\.[ \t][^\n]*", re.MULTILINE | re.DOTALL)


def extract_markdown(source: Source, terms: SearchTerms | None = None) -> Facts:
    """The facts of a document: those of the C++ in its code blocks.

    `terms` is what the rules look for, when that is not what is recorded.
    """
    wanted = guards_in_terms(terms or recorded("docs"))
    directives = find_directives(source.text, source.row, document_comments)
    facts = Facts(
        path=source.path,
        language="docs",
        notes=(*source.notes, *directives.notes),
        suppressions=directives.suppressions,
        line_starts=source.line_starts,
    )
    pieces = []
    for block in code_blocks(source, wanted):
        # Within a quotation each line has its mark.
        code = _QUOTE.sub(lambda match: b" " * len(match.group()), source.text[slice(*block)])
        piece = read_embedded(source, block, code, facts, wanted)
        if piece is not None:
            pieces.append(piece)
    return with_pieces(facts, pieces)


def document_comments(text: bytes) -> Iterator[Span]:
    """The document's own comments: `<!-- … -->`, and lines that begin with `..`."""
    for match in _COMMENT.finditer(text):
        yield Span(*match.span())


def guards_in_terms(terms: SearchTerms) -> frozenset[str]:
    """The guards of the table that rules look at in documents."""
    return frozenset(
        name for name in guards.CPP if name in terms.words or any(text in name.encode() for text in terms.always)
    )


def code_blocks(source: Source, wanted: Collection[str]) -> Iterator[Span]:
    """The insides of the C++ code blocks that hold one of these guards."""
    names = b"|".join(re.escape(name.encode()) for name in sorted(wanted))
    # What a block without a stated language has to contain: no other language has that line.
    like_cpp = re.compile(rb"(?:" + names + rb")\b[^\n]*;")
    blocks = _directives if source.path.lower().endswith(".rst") else _fences
    for word, span in blocks(source):
        text = source.text[slice(*span)]
        language = word.decode("utf-8", "replace").lower()
        if not any(name.encode() in text for name in wanted):
            continue
        if language in _CPP or (language in _UNSAID and like_cpp.search(text)):
            yield span


def _lines(source: Source) -> list[bytes]:
    starts = (*source.line_starts, len(source.text))
    return [source.text[start:end].rstrip(b"\r\n") for start, end in pairwise(starts)]


def _fences(source: Source) -> Iterator[tuple[bytes, Span]]:
    """(language, inside) of each fenced block (https://spec.commonmark.org/0.31.2/#fenced-code-blocks)."""
    starts = (*source.line_starts, len(source.text))
    opening: tuple[bytes, bytes, int] | None = None
    for row, line in enumerate(_lines(source)):
        if opening is None:
            match = _FENCE.match(line)
            if match is not None:
                word = _FIRST_WORD.match(match["info"])
                opening = match["fence"], word["word"] if word is not None else b"", starts[row + 1]
            continue
        fence, language, begin = opening
        bare = line.strip(b" \t>")
        if bare.startswith(fence) and not bare.strip(fence[:1]):
            yield language, Span(begin, starts[row])
            opening = None
    if opening is not None:  # a fence that is never closed holds the rest
        yield opening[1], Span(opening[2], len(source.text))


def _directives(source: Source) -> Iterator[tuple[bytes, Span]]:
    """(language, inside) of each `code-block` and each literal block after `::`.

    As https://docutils.sourceforge.io/docs/ref/rst/restructuredtext.html#literal-blocks has them.
    """
    starts = (*source.line_starts, len(source.text))
    lines = _lines(source)
    highlighted = b""
    row = 0
    while row < len(lines):
        line = lines[row]
        row += 1
        directive = _DIRECTIVE.match(line)
        if directive is None and not _LITERAL.match(line):
            continue
        if directive is not None and directive["name"] == b"highlight":
            highlighted = directive["word"]
            continue
        language = directive["word"] if directive is not None else b""
        while directive is not None and row < len(lines) and _OPTION.match(lines[row]):
            row += 1
        begin, indent = row, _indent(line)
        while row < len(lines) and (not lines[row].strip() or _indent(lines[row]) > indent):
            row += 1
        yield language or highlighted, Span(starts[begin], starts[row])


def _indent(line: bytes) -> int:
    return len(line.expandtabs()) - len(line.expandtabs().lstrip())
