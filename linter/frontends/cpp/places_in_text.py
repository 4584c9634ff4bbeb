"""What the text itself shows of a place: which braces are open there, and where a variable's name occurs."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING

from ...facts import Span
from ...lazy_regex import lazy_regex
from .byte_words import words

if TYPE_CHECKING:
    from tree_sitter import Node

    from .tree_reading import Reading

_QUALIFIES = lazy_regex(rb"\s*::")


def variable_spans(
    reading: Reading, name: str, declared: Span, scope: Span, most: int | None = None
) -> tuple[Span, ...]:
    """Where a variable's name is in its scope; the first `most` places."""
    around = Span(min(declared.start, scope.start), scope.end)
    known = reading.names.get(name)
    if known is None or not known[0].holds(around):  # guards in one block often have one name
        known = reading.names[name] = around, _spans_of_name(reading, name, around)
    spans = known[1]
    low, high = (bisect_left(spans, place, key=itemgetter(0)) for place in (declared.start, scope.end))
    return spans[low : high if most is None else min(high, low + most)]


def _spans_of_name(reading: Reading, name: str, within: Span) -> tuple[Span, ...]:
    low, high = within.start - reading.shift, within.end - reading.shift
    code, word = reading.code, name.encode()
    return tuple(
        Span(place + reading.shift, place + len(word) + reading.shift)
        for place in words(word, code, low, high)
        if not code[max(0, place - 2) : place].endswith((b".", b"->", b"::"))
        and _QUALIFIES.match(code, place + len(word)) is None
    )


_NAMESPACE_HEAD = lazy_regex(rb"\b(?:namespace|extern)\b")


def is_outside_functions(reading: Reading, node: Node) -> bool:
    """Whether only namespaces are open here by the text's own braces: a lost parser lifts statements out of bodies."""
    starts, outside = _outside_functions(reading.code)
    index = bisect_left(starts, node.start_byte) - 1
    return index < 0 or outside[index]


@lru_cache(maxsize=2)
def _outside_functions(code: bytes) -> tuple[list[int], list[bool]]:
    """(where each brace is, whether only namespaces are open after it)."""
    starts: list[int] = []
    outside: list[bool] = []
    opened: list[bool] = []
    inner = 0  # how many of the open braces aren't a namespace's
    balanced = True
    previous = 0
    for match in re.finditer(rb"[{};()]", code):
        if match.group() == b"{":
            opened.append(_NAMESPACE_HEAD.search(code, previous, match.start()) is not None)
            inner += not opened[-1]
        elif match.group() == b"}":
            balanced = balanced and bool(opened)
            inner -= bool(opened) and not opened.pop()
        if match.group() in b"{}":
            starts.append(match.start())
            outside.append(balanced and not inner)
        previous = match.end()
    return starts, outside
