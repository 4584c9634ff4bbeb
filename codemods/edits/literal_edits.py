"""Edits of C++ that is in a Python literal, written as the literal has to have them."""

from __future__ import annotations

from guardfix.linter.facts import Span
from guardfix.linter.frontends.embedded.embedded_cpp import Literal, Piece

from ..fix import Edit


def edit_in_literal(edit: Edit, literal: Literal, home: Span) -> Edit | None:
    """An edit of the C++ as an edit of the literal; None where it would cross the literal's own punctuation.

    `home` is the place that the edit is about: what is taken out beyond its piece of the literal is cut off there.
    """
    piece = literal.piece_at(edit.span)
    if piece is not None:
        return Edit(edit.span, escaped(edit.content, piece, literal))
    piece = literal.piece_at(home)
    if piece is None or edit.content:
        return None
    # What is taken out reaches over the ends of one of several literals side by side.
    span = Span(max(edit.span.start, piece.content.start), min(edit.span.end, piece.content.end))
    return Edit(span, "") if span.start < span.end else None


def escaped(content: str, piece: Piece, literal: Literal) -> str:
    """C++ text as it is written in this literal."""
    if not piece.raw:
        content = content.replace("\\", "\\\\")
        if len(piece.quote) == 1:
            content = content.replace("\n", "\\n").replace(piece.quote.decode(), "\\" + piece.quote.decode())
    if piece.formatted or literal.format_template:
        content = content.replace("{", "{{").replace("}", "}}")
    if literal.percent_template:
        content = content.replace("%", "%%")
    return content
