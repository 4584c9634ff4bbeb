"""GF002: the codes are taken out of the comment, and a comment that says nothing else with them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from guardfix.linter.facts import Span
from guardfix.linter.frontends.frontend import frontend_named
from guardfix.linter.lazy_regex import lazy_regex

from ..fix import Edit, Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()

_LIST = lazy_regex(rb"\((?P<brackets>[^)\n]*)\)|:[ \t]*(?P<plain>[^\n]*)")
_NOTHING = lazy_regex(rb"(?://+|/\*+|#+|\*+/|[\s:.,;-])*")


@FIX.fix
def take_out(site: Site) -> Fix | None:
    codes = site.finding.variable.split(",")
    comment = next((one for one in site.facts.suppressions if one.places[:1] == (site.finding.span,)), None)
    if comment is None:
        return None
    edits = [_without_codes(site, place, codes) for place in comment.places]
    if any(edit is None for edit in edits):
        return None
    return site.fix(f"take {', '.join(codes)} out of the comment", [edit for edit in edits if edit is not None])


def _without_codes(site: Site, place: Span, codes: Sequence[str]) -> Edit | None:
    """The edit that takes codes out of the comment that is at `place`; None where it is in no comment."""
    text = site.text
    comment = next((one for one in frontend_named(site.facts.language).comments(text) if one.holds(place)), None)
    written = _LIST.search(text, place.start, place.end)
    if comment is None or written is None:
        return None
    group = "brackets" if written["brackets"] is not None else "plain"
    given = re.findall(rb"[^,\s]+", written[group])
    left = [one for one in given if one.decode("utf-8", "replace") not in codes]
    if left:
        separator = b", " if re.search(rb",\s", written[group]) or group == "plain" else b","
        return Edit(Span(*written.span(group)), separator.join(left).decode("utf-8"))
    line_end = text.find(b"\n", place.start, comment.end)
    rest = text[comment.start : place.start] + text[place.end : comment.end]
    if _NOTHING.fullmatch(rest):
        return _whole_comment(text, comment)
    # What else the comment says stays, without what led to the directive.
    end = place.end + len(re.match(rb"[ \t]*[:-]?[ \t]*", text[place.end : comment.end]).group())  # type: ignore[union-attr]
    start = place.start
    if line_end == -1 and not text[end : comment.end].strip():
        start -= len(text[comment.start : start]) - len(text[comment.start : start].rstrip(b" \t:;,-#/"))
    return Edit(Span(max(start, comment.start), end), "")


def _whole_comment(text: bytes, comment: Span) -> Edit:
    """The comment goes, with the blanks before it; with its line, where it is alone on it."""
    start, end = comment
    while end > start and text[end - 1 : end] in (b"\n", b"\r"):
        end -= 1
    first = start - len(text[:start]) + len(text[:start].rstrip(b" \t"))
    before = text[first - 1 : first] if first else b""
    alone = before in (b"", b"\n", b"\r") and text[end : end + 1] in (b"", b"\n", b"\r")
    if alone:
        return Edit(Span(first, end + len(re.match(rb"\r?\n|\r|", text[end:]).group())), "")  # type: ignore[union-attr]
    last = text[end : end + 1] in (b"", b"\n", b"\r", b" ", b"\t")
    return Edit(Span(first if last else start, end), "")
