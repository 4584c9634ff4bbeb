"""Comments that declare what a guard is for: `// guardfix: kernel`, `# guardfix: inference`."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable

from ..facts import Span
from ..facts.intents import PURPOSES, Intent
from ..lazy_regex import lazy_regex
from ..named_tuples import NamedTuple

_DIRECTIVE = lazy_regex(rb"\bguardfix:[ \t]*(?P<word>[A-Za-z][\w-]*)")
_OPENER = lazy_regex(rb"/[/*]+[!<]*|#+")
_BLANK = lazy_regex(rb"\s*")
_LINE = lazy_regex(rb"[^\r\n]*")
_OTHERS = frozenset({"ignore-file"})


class IntentComments(NamedTuple):
    """What a file's comments declare."""

    intents: tuple[Intent, ...] = ()
    notes: tuple[str, ...] = ()
    """Words that declare nothing."""


def find_intents(text: bytes, row: Callable[[int], int], comments: Callable[[bytes], Iterable[Span]]) -> IntentComments:
    """The declarations in a text's comments; `row` gives the row of an offset.

    A comment on its own line is about the code below it, with no blank line between.
    """
    if b"guardfix:" not in text:
        return IntentComments()
    spans = sorted(Span(*span) for span in comments(text))
    below = _CodeBelow(text, spans, row)
    found: list[Intent] = []
    notes: list[str] = []
    for index, span in enumerate(spans):
        match = _DIRECTIVE.search(text, *span)
        if match is None or (word := match["word"].decode()) in _OTHERS:
            continue
        purpose = PURPOSES.get(word.lower())
        if purpose is None:
            known = ", ".join(sorted(purpose.value for purpose in set(PURPOSES.values())))
            notes.append(f"line {row(match.start())}: `guardfix: {word}` declares nothing; the words are {known}")
            continue
        code = below.row_behind(index) if _is_alone(text, span) else None
        last = code if code is not None else row(span.end - 1)
        found.append(Intent(purpose, span, range(row(span.start), last + 1), _says_more(text, span, match)))
    return IntentComments(tuple(found), tuple(notes))


def _is_alone(text: bytes, span: Span) -> bool:
    begin = max(text.rfind(b"\n", 0, span.start), text.rfind(b"\r", 0, span.start)) + 1
    return not text[begin : span.start].strip() and not text[span.end : _end(_LINE, text, span.end)].strip()


class _CodeBelow:
    """Where the first code below a comment is; many comments may be above the same code."""

    def __init__(self, text: bytes, spans: list[Span], row: Callable[[int], int]) -> None:
        self._text, self._spans, self._row = text, spans, row
        self._starts = [span.start for span in spans]
        self._known: dict[int, int | None] = {}

    def row_behind(self, index: int) -> int | None:
        """The row of the first code below that comment, further comments and `#if`s left out.

        None where a blank line or nothing follows.
        """
        passed, end = [], self._spans[index].end
        found: int | None = None
        while True:
            if end in self._known:
                found = self._known[end]
                break
            passed.append(end)
            at = _end(_BLANK, self._text, end)
            if at >= len(self._text) or self._row(at) > self._row(end - 1) + 1:
                break
            if self._text.startswith(b"#", at) and self._text[at + 1 : at + 3].lstrip()[:1] in (b"i", b"e"):
                # The guard may be in a branch of a condition.
                end = _end(_LINE, self._text, at)
                index = bisect_left(self._starts, end) - 1
            elif index + 1 < len(self._spans) and self._starts[index + 1] == at:
                index += 1
                end = self._spans[index].end
            else:
                found = self._row(at)
                break
        self._known |= dict.fromkeys(passed, found)
        return found


def _end(pattern: re.Pattern[bytes], text: bytes, offset: int) -> int:
    match = pattern.match(text, offset)
    return match.end() if match is not None else offset


def _says_more(text: bytes, span: Span, match: re.Match[bytes]) -> bool:
    opener = _OPENER.match(text, *span)
    before = text[opener.end() if opener is not None else span.start : match.start()]
    after = text[match.end() : span.end].replace(b"*/", b"")
    return bool(before.strip() or after.strip(b" \t\r\n.\\"))
