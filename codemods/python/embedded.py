"""GF105: the edits of C++ that stands in a literal, written as the literal has to have them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from functools import lru_cache

from guardfix.linter.analysis.project import Project
from guardfix.linter.facts import Facts, GuardUse, Span
from guardfix.linter.files.sources import Source
from guardfix.linter.findings import Applicability, Edit, Finding, Fix
from guardfix.linter.frontends.embedded.embedded_cpp import Literal, Piece, find_literals, lay_out
from guardfix.linter.frontends.python.python_parsing import parse_python

from ..legacy_guard import Site, fixes_for


def fix_in_literal(
    finding: Finding, use: GuardUse, facts: Facts, project: Project, source: Source
) -> tuple[Fix | None, tuple[Fix, ...]]:
    """(the fix, further fixes) for the old guard in a string or a code block."""
    piece = _pieces(facts).get(use.type_span)
    if piece is None:
        return None, ()
    if facts.language == "docs":
        fix, _ = fixes_for(Site(finding, use, piece, project, source.text))
        shown = replace(fix, applicability=Applicability.DISPLAY, edits=_in_block(fix, piece)) if fix else None
        return shown, ()
    literals = _literals(source)
    index = bisect_right(literals, use.type_span.start, key=lambda one: one.span.start) - 1
    if index < 0 or not literals[index].span.holds(use.type_span):
        return None, ()
    literal = literals[index]
    fix, more = fixes_for(Site(finding, use, piece, project, _laid_in_file(source, index)))
    written = [_written(one, literal, use, piece) for one in (fix, *more) if one is not None]
    if fix is None or written[0] is None:
        return None, ()
    return written[0], tuple(one for one in written[1:] if one is not None)


# Findings come file by file and in the file's order: what the last one asked for serves the next.


@lru_cache(maxsize=1)
def _pieces(facts: Facts) -> dict[Span, Facts]:
    """The piece in which each use stands."""
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


def _in_block(fix: Fix, piece: Facts) -> tuple[Edit, ...]:
    return tuple(edit for edit in fix.edits if not _is_include(edit, piece))


def _is_include(edit: Edit, piece: Facts) -> bool:
    """An include that is added to code that has none: a fragment, whose includes are somewhere else."""
    return "#include" in edit.content and not piece.includes


def _written(fix: Fix, literal: Literal, use: GuardUse, piece: Facts) -> Fix | None:
    edits = []
    for edit in fix.edits:
        if _is_include(edit, piece):
            continue
        written = _in_literal(edit, literal, use)
        if written is None:
            return None
        edits.append(written)
    if piece.partial and fix.applicability is Applicability.SAFE:
        message = f"{fix.message}; the template hides a part of the code"
        return replace(fix, message=message, applicability=Applicability.UNSAFE, edits=tuple(edits))
    return replace(fix, edits=tuple(edits))


def _in_literal(edit: Edit, literal: Literal, use: GuardUse) -> Edit | None:
    """An edit of the C++ as an edit of the literal; None where it would cross the literal's own punctuation."""
    home = literal.piece_at(edit.span)
    if home is not None:
        return Edit(edit.span, escaped(edit.content, home, literal))
    home = literal.piece_at(use.type_span)
    if home is None or edit.content:
        return None
    # What is taken out reaches over the ends of one of several literals side by side.
    span = Span(max(edit.span.start, home.content.start), min(edit.span.end, home.content.end))
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
