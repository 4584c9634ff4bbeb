"""`--compat`: the new guard for torch 1.9 and newer, and the old one, as it was written, for torch before that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from guardfix.linter.facts import Span

from ..fix import Edit
from ..site import Site
from .statements import line_end, line_start, newline_of

CONDITION = "__has_include(<c10/core/InferenceMode.h>)"
"""True from torch 1.9 on, which brought all three new guards; needs no header, and no version macro."""
_COMMENT = "  // torch 1.9 and newer"


def gated_edits(site: Site, edits: Iterable[Edit]) -> list[Edit] | None:
    """The edits with those of the guard's own statement in one branch of an `#if`, and its old lines in the other.

    Of a guard in a macro these are the lines of its `#define`. None where that cannot be written: in a macro with
    several guards, beside other code on the line, or where edits elsewhere in the file would not compile with old
    torch. An edit that only takes something out, such as an argument, suits both.
    """
    text = site.text
    lines = _own_lines(site)
    if lines is None:
        return None
    start, end = lines
    own = [edit for edit in edits if lines.holds(edit.span)]
    others = [edit for edit in edits if not lines.holds(edit.span)]
    if not own or any(edit.content and not _is_include(edit) for edit in others):
        return None
    newline = newline_of(text, start).decode()
    old = text[start:end].decode("utf-8", "surrogateescape")
    ended = old if old.endswith(("\n", "\r")) else old + newline
    new = _applied(text, lines, own)
    new = new if new.endswith(("\n", "\r")) else new + newline
    gate = f"#if {CONDITION}{_COMMENT}{newline}{new}#else{newline}{ended}#endif"
    gate += newline if old.endswith(("\n", "\r")) else ""
    return [Edit(lines, gate), *(_gated_include(edit, newline) if _is_include(edit) else edit for edit in others)]


def _own_lines(site: Site) -> Span | None:
    """The lines that hold the guard's statement, or its macro, and nothing else; None where other code shares them."""
    use, text = site.use, site.text
    if use.macro is None:
        lines = Span(line_start(text, use.span.start), line_end(text, use.span.end))
        return lines if _stands_alone(site, lines) else None
    macro = next((one for one in site.facts.macros if one.body.holds(use.type_span)), None)
    if macro is None or sum(macro.body.holds(other.type_span) for other in site.facts.guard_uses) > 1:
        return None
    return Span(line_start(text, macro.span.start), line_end(text, macro.body.end))


def _stands_alone(site: Site, lines: Span) -> bool:
    """Whether nothing but the guard and comments is on its lines."""
    use, text = site.use, site.text
    if text[lines.start : use.span.start].strip():
        return False
    after = text[use.span.end : lines.end].strip()
    return not after or any(comment.span.start >= use.span.end for comment in use.comments)


def _applied(text: bytes, lines: Span, edits: Sequence[Edit]) -> str:
    found = text[slice(*lines)]
    for edit in sorted(edits, reverse=True):
        start, end = edit.span.start - lines.start, edit.span.end - lines.start
        found = found[:start] + edit.content.encode() + found[end:]
    return found.decode("utf-8", "surrogateescape")


def _is_include(edit: Edit) -> bool:
    return edit.content.strip().startswith(("#include", "#import"))


def _gated_include(edit: Edit, newline: str) -> Edit:
    line = edit.content.strip()
    gate = f"#if {CONDITION}{newline}{line}{newline}#endif"
    return Edit(edit.span, edit.content.replace(line, gate))
