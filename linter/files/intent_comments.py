"""Comments that declare what a guard is for: `// guardfix: kernel`, `# guardfix: inference`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ..facts import Span
from ..facts.intents import PURPOSES, Intent

_DIRECTIVE = re.compile(rb"\bguardfix:[ \t]*(?P<word>[A-Za-z][\w-]*)")
_OPENER = re.compile(rb"/[/*]+[!<]*|#+")
_BLANK = re.compile(rb"\s*")
_LINE = re.compile(rb"[^\r\n]*")
_OTHERS = frozenset({"ignore-file"})


class IntentComments(NamedTuple):
    """What a file's comments declare."""

    intents: tuple[Intent, ...] = ()
    notes: tuple[str, ...] = ()
    """Words that declare nothing."""


def find_intents(text: bytes, row: Callable[[int], int], comments: Callable[[bytes], Iterable[Span]]) -> IntentComments:
    """The declarations in a text's comments; `row` gives the row of an offset.

    A comment on a line of its own is about the code below it, with no blank line between.
    """
    if b"guardfix:" not in text:
        return IntentComments()
    spans = sorted(Span(*span) for span in comments(text))
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
        last = _row_of_code_below(text, spans, index, row) if _is_alone(text, span) else row(span.end - 1)
        found.append(Intent(purpose, span, range(row(span.start), last + 1), _says_more(text, span, match)))
    return IntentComments(tuple(found), tuple(notes))


def _is_alone(text: bytes, span: Span) -> bool:
    begin = max(text.rfind(b"\n", 0, span.start), text.rfind(b"\r", 0, span.start)) + 1
    return not text[begin : span.start].strip() and not text[span.end : _end(_LINE, text, span.end)].strip()


def _row_of_code_below(text: bytes, spans: list[Span], index: int, row: Callable[[int], int]) -> int:
    """The row of the first code below the comment, further comments and `#if`s left out.

    Its own row where a blank line follows.
    """
    here = row(spans[index].end - 1)
    end = spans[index].end
    while True:
        at = _end(_BLANK, text, end)
        if at >= len(text) or row(at) > row(end - 1) + 1:
            return here
        if text.startswith(b"#", at) and text[at + 1 : at + 3].lstrip()[:1] in (b"i", b"e"):
            # The guard may stand in a branch of a condition.
            end = _end(_LINE, text, at)
            index = max((place for place, span in enumerate(spans) if span.start < end), default=index)
        elif index + 1 < len(spans) and spans[index + 1].start == at:
            index += 1
            end = spans[index].end
        else:
            return row(at)


def _end(pattern: re.Pattern[bytes], text: bytes, offset: int) -> int:
    match = pattern.match(text, offset)
    return match.end() if match is not None else offset


def _says_more(text: bytes, span: Span, match: re.Match[bytes]) -> bool:
    opener = _OPENER.match(text, *span)
    before = text[opener.end() if opener is not None else span.start : match.start()]
    behind = text[match.end() : span.end].replace(b"*/", b"")
    return bool(before.strip() or behind.strip(b" \t\r\n.\\"))
