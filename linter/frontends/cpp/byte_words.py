"""Looking for words and directives in bytes.

A pattern that begins with `\\b` or `^` is tried at every byte; one that begins with a letter is looked for many times
faster, and `bytes.find` faster still. So matches are asked afterwards whether they begin a word or a line.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Set

from ...lazy_regex import lazy_regex

_FEW = 64
"""Up to so many names are each looked for on their own."""
_WHOLE_WORD = lazy_regex(rb"[\w\x80-\xff]+")
"""Letters that are not ASCII belong to a word. No program has other characters of that kind beside a name."""
_WORD = lazy_regex(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")


def places(needle: bytes, text: bytes, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Every place of the needle in the text, or in a part of it. An empty one (a name that is missing) has none."""
    place = text.find(needle, start, end) if needle else -1
    while place >= 0:
        yield place
        place = text.find(needle, place + len(needle), end)


def words(word: bytes, text: bytes, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Where the word is whole."""
    for place in places(word, text, start, end):
        if begins_word(text, place) and not _is_letter(text[place + len(word) : place + len(word) + 1]):
            yield place


def places_by_word(text: bytes) -> dict[bytes, list[int]]:
    """Where each word of the text occurs."""
    found: dict[bytes, list[int]] = defaultdict(list)
    for match in _WHOLE_WORD.finditer(text):
        found[match[0]].append(match.start())
    return found


def any_of(names: Set[str], text: bytes) -> list[tuple[int, str]]:
    """(place, name) wherever one of the names is as a whole word, by place; the longest name where several do."""
    if len(names) > _FEW:
        # As many names as a file has functions: then every word of the text is looked up once.
        found_words = ((match.start(), match[0].decode("utf-8", "replace")) for match in _WORD.finditer(text))
        return [(start, word) for start, word in found_words if word in names]
    found = sorted((place, -len(name), name) for name in names for place in words(name.encode(), text))
    kept: list[tuple[int, str]] = []
    end = 0
    for place, length, name in found:
        if place >= end:
            kept.append((place, name))
            end = place - length
    return kept


def begins_word(text: bytes, offset: int) -> bool:
    return not _is_letter(text[offset - 1 : offset])


def _is_letter(character: bytes) -> bool:
    return character.isalnum() or character == b"_" or character >= b"\x80"


def line_before(text: bytes, offset: int) -> int | None:
    """Where the line begins, if nothing but blanks is in it before `offset`."""
    start = text.rfind(b"\n", 0, offset) + 1
    if text[start:offset].strip(b" \t\v\f") or _continues(text, start):
        return None
    return start


_SPLICED_LINE = (b"\\\n", b"\\\r\n")


def _continues(text: bytes, start: int) -> bool:
    """Whether a backslash ends the line before, and something is in front of that."""
    while start and text[max(0, start - 3) : start].endswith(_SPLICED_LINE):
        before = text.rfind(b"\n", 0, start - 1) + 1
        if text[before:start].strip(b" \t\v\f\r\n\\"):
            return True
        start = before
    return False
