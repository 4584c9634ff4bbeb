"""From what a person pastes to a row of `message_table`: a log, a message, a part of one, or a few of its words."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from typing import NamedTuple

from .message_table import KnownMessage, known_messages

_LEAST_SHARED = 0.6
"""How much of what is asked must be among a message's words, the rare ones counting more."""
_LEAST_WORDS = 2
_AS_GOOD = 0.9
"""What comes so close to the best is named beside it."""


class FoundMessage(NamedTuple):
    message: KnownMessage
    exact: bool
    """The text holds the message, or is a part of it; else only words agree."""
    start: int = 0
    """Where the message is in the text, with each run of blanks as one character."""


def message_in(text: str) -> KnownMessage | None:
    """What PyTorch says in a log or a traceback; of several messages the last, which ended the program."""
    found = [(place, row) for row, place in _held(_plain(text))]
    return max(found, key=lambda pair: pair[0])[1] if found else None


def find_messages(text: str) -> list[FoundMessage]:
    """The rows that a text may mean, the likeliest first; several only where they are as likely."""
    plain = _plain(text)
    held = sorted(_held(plain), key=lambda pair: -pair[1])
    if held:
        return [FoundMessage(held[0][0], True, held[0][1])]
    words = _words(plain)
    if len(words) >= _LEAST_WORDS:
        asked = {plain, re.sub(r"\b\d+\b", "{}", plain)}
        parts = [
            row
            for row in known_messages().values()
            if any(part in _plain(text.words) for text in row.texts for part in asked)
        ]
        if parts:
            return [FoundMessage(row, True) for row in parts]
    return [FoundMessage(row, False) for row in _alike(words)]


def _held(plain: str) -> list[tuple[KnownMessage, int]]:
    """The rows whose messages a text holds, and where the last one begins."""
    found = []
    for row in known_messages().values():
        places = [match.start() for pattern in _patterns(row.key) for match in pattern.finditer(plain)]
        if places:
            found.append((row, max(places)))
    return found


@cache
def _patterns(key: str) -> tuple[re.Pattern[str], ...]:
    """The first sentence of each wording: the rest is often cut off."""
    found = []
    for text in known_messages()[key].texts:
        begun = re.split(r"(?<=\w\w)\. |(?<=allowed)\.(?=You)", text.words)[0].rstrip(".")
        pieces = [re.escape(_plain(piece)) for piece in begun.split("{}")]
        found.append(re.compile(r".{0,120}?".join(piece.replace(r"\ ", r"\s?") for piece in pieces)))
    return tuple(found)


def _plain(text: str) -> str:
    """Without what varies between terminals and compilers: colors, blanks, quotation marks, capitals."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return re.sub(r"\s+", " ", text.translate(_QUOTES)).strip().lower()


_QUOTES = str.maketrans(dict.fromkeys("\u2018\u2019`", "'") | dict.fromkeys("\u201c\u201d", '"'))


def _words(plain: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z_]{2,}", plain)) - _COMMON


_COMMON = frozenset("a an and are be by can does for from has have in is it not of on or that the this to with".split())


@cache
def _words_of_rows() -> dict[str, frozenset[str]]:
    return {
        row.key: frozenset().union(*(_words(_plain(text.words)) for text in row.texts))
        for row in known_messages().values()
    }


@cache
def _weights() -> dict[str, float]:
    """A word that is in few messages says more."""
    rows = _words_of_rows()
    counts = Counter(word for words in rows.values() for word in words)
    return {word: math.log(1 + len(rows) / count) for word, count in counts.items()}


def _alike(words: frozenset[str]) -> list[KnownMessage]:
    weights = _weights()
    unknown = math.log(1 + len(_words_of_rows()) / 2)
    whole = sum(weights.get(word, unknown) for word in words)
    scores: dict[str, float] = {}
    for key, known in _words_of_rows().items():
        shared = words & known
        if len(shared) >= _LEAST_WORDS:
            scores[key] = sum(weights[word] for word in shared) / whole
    best = max(scores.values(), default=0.0)
    if best < _LEAST_SHARED:
        return []
    close = [key for key, score in scores.items() if score >= best * _AS_GOOD]
    return [known_messages()[key] for key in sorted(close, key=lambda key: -scores[key])]
