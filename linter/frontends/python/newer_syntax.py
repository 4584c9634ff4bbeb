"""Length-preserving masking of syntax that is newer than the oldest Python that guardfix runs on (3.10)."""

from __future__ import annotations

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper

from ...facts import Span


def plain_syntax(module: cst.Module) -> bytes:
    """The module's text with f-strings, t-strings, type parameters and aliases, and new kinds of `*` overwritten."""
    finder = _NewSyntax()
    MetadataWrapper(module, unsafe_skip_copy=True).visit(finder)
    masked = bytearray(module.code.encode())
    for span in finder.strings:
        _overwrite(masked, Span(span.start + 3, span.end - 3) if span.end - span.start >= 6 else span, b"x")
        if span.end - span.start >= 6:
            masked[span.start : span.start + 3] = masked[span.end - 3 : span.end] = b'"""'
        else:  # `f""`, `f"x"`: without newlines
            masked[span.start] = masked[span.end - 1] = ord('"')
    for span in (*finder.parameters, *finder.stars):
        _overwrite(masked, span, b" ")
    for span in finder.aliases:
        _overwrite(masked, span, b" ")
        masked[span.start : span.start + 4] = b"pass"
    return bytes(masked)


def _overwrite(masked: bytearray, span: Span, filler: bytes) -> None:
    for index in range(*span):
        if masked[index] not in b"\r\n" or filler == b" ":
            masked[index] = filler[0]


class _NewSyntax(cst.CSTVisitor):
    METADATA_DEPENDENCIES = (ByteSpanPositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self.strings: list[Span] = []
        self.parameters: list[Span] = []
        self.aliases: list[Span] = []
        self.stars: list[Span] = []

    def _add(self, spans: list[Span], node: cst.CSTNode) -> None:
        found = self.get_metadata(ByteSpanPositionProvider, node)
        spans.append(Span(found.start, found.start + found.length))

    def visit_FormattedString(self, node: cst.FormattedString) -> bool:
        self._add(self.strings, node)
        return False

    def visit_TemplatedString(self, node: cst.TemplatedString) -> bool:
        self._add(self.strings, node)
        return False

    def visit_TypeParameters(self, node: cst.TypeParameters) -> bool:
        self._add(self.parameters, node)
        return False

    def visit_TypeAlias(self, node: cst.TypeAlias) -> bool:
        # A small statement's own span takes in the semicolon after it.
        start = self.get_metadata(ByteSpanPositionProvider, node).start
        value = self.get_metadata(ByteSpanPositionProvider, node.value)
        self.aliases.append(Span(start, value.start + value.length))
        return False

    def visit_ExceptStarHandler(self, node: cst.ExceptStarHandler) -> None:
        blank = self.get_metadata(ByteSpanPositionProvider, node.whitespace_after_except)
        self._add_star(blank.start + blank.length)

    def visit_Annotation(self, node: cst.Annotation) -> None:
        if isinstance(node.annotation, cst.StarredElement):
            self._add_star(self.get_metadata(ByteSpanPositionProvider, node.annotation).start)

    def visit_Index(self, node: cst.Index) -> None:
        if node.star:
            self._add_star(self.get_metadata(ByteSpanPositionProvider, node).start)

    def _add_star(self, at: int) -> None:
        self.stars.append(Span(at, at + 1))
