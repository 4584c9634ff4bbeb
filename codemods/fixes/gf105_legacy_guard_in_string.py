"""GF105: what GF101 does in C++, for C++ that is in a Python literal or in a code block of documentation."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache

from msgspec.structs import replace

from guardfix.linter.answered_once import answered_once
from guardfix.linter.facts import Facts, Span
from guardfix.linter.files.sources import Source
from guardfix.linter.findings import Applicability
from guardfix.linter.frontends.embedded.embedded_cpp import Literal, Piece, find_literals, lay_out
from guardfix.linter.frontends.python.python_parsing import parse_python

from ..fix import Edit, Fix
from ..fix_rule import FixRule
from ..site import Site
from .gf101_legacy_guard import migrate_cpp

FIX = FixRule()


@FIX.fix_in("docs")
def show_in_code_block(site: Site) -> Fix | None:
    """Shown only: what a document says about the old guard may be meant."""
    piece = _pieces(site.facts).get(site.use.type_span)
    fix = migrate_cpp(_in_piece(site, piece, site.text)) if piece is not None else None
    if piece is None or fix is None:
        return None
    return site.suggestion(fix.message, [edit for edit in fix.edits if not _is_include(edit, piece)])


@FIX.fix_in("python")
def rewrite_in_literal(site: Site) -> Fix | None:
    if site.choice.compat:
        return None
    piece = _pieces(site.facts).get(site.use.type_span)
    if piece is None:
        return None
    literals = _literals(site.source)
    index = bisect_right(literals, site.use.type_span.start, key=lambda one: one.span.start) - 1
    if index < 0 or not literals[index].span.holds(site.use.type_span):
        return None
    literal = literals[index]
    fix = migrate_cpp(_in_piece(site, piece, _laid_in_file(site.source, index)))
    return _written(fix, literal, site.use.type_span, piece) if fix is not None else None


def _in_piece(site: Site, piece: Facts, text: bytes) -> Site:
    """The site as C++ that is alone. A piece proves nothing about what bypasses the dispatcher."""
    choice = replace(site.choice, remove_redundant=False, compat=False)
    return replace(site, facts=piece, source=replace(site.source, text=text), choice=choice)


# Findings come file by file and in the file's order: what the last one asked for serves the next.


@answered_once
def _pieces(facts: Facts) -> dict[Span, Facts]:
    """The piece in which each use is."""
    return {use.type_span: piece for piece in facts.embedded for use in piece.guard_uses}


@lru_cache(maxsize=1)
def _literals(source: Source) -> list[Literal]:
    """The literals that may hold a guard, in the file's order."""
    tree = parse_python(source.text.decode("utf-8"))
    return sorted(find_literals(source, tree), key=lambda one: one.span) if tree is not None else []


@lru_cache(maxsize=1)
def _laid_in_file(source: Source, index: int) -> bytes:
    """A text as long as the file's, blank but for the C++ of one literal."""
    literal = _literals(source)[index]
    start, end = literal.span
    return b" " * start + lay_out(source.text, literal) + b" " * (len(source.text) - end)


def _is_include(edit: Edit, piece: Facts) -> bool:
    """An include that is added to code that has none: a fragment, whose includes are somewhere else."""
    return "#include" in edit.content and not piece.includes


def _written(fix: Fix, literal: Literal, home: Span, piece: Facts) -> Fix | None:
    """A fix of the C++ as a fix of the literal; None where one of its edits cannot be made there."""
    edits = []
    for edit in fix.edits:
        if _is_include(edit, piece):
            continue
        written = _edit_in_literal(edit, literal, home)
        if written is None:
            return None
        edits.append(written)
    further = [_written(one, literal, home, piece) for one in fix.further]
    result = replace(fix, edits=tuple(edits), further=tuple(one for one in further if one is not None))
    if piece.partial and fix.applicability is Applicability.SAFE:
        message = f"{fix.message}; the template hides part of the code"
        return replace(result, message=message, applicability=Applicability.UNSAFE)
    return result


def _edit_in_literal(edit: Edit, literal: Literal, home: Span) -> Edit | None:
    """An edit of the C++ as an edit of the literal; None where it would cross the literal's own punctuation.

    `home` is the place that the edit is about: what is taken out beyond its piece of the literal is cut off there.
    """
    piece = literal.piece_at(edit.span)
    if piece is not None:
        return Edit(edit.span, _escaped(edit.content, piece, literal))
    piece = literal.piece_at(home)
    if piece is None or edit.content:
        return None
    # What is taken out reaches over the ends of one of several literals side by side.
    span = Span(max(edit.span.start, piece.content.start), min(edit.span.end, piece.content.end))
    return Edit(span, "") if span.start < span.end else None


def _escaped(content: str, piece: Piece, literal: Literal) -> str:
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
