"""Text from outside, as it may be printed: names of files, code, comments, settings, commits, what programs say.

All text that is printed counts as foreign, except what `own` marks: colors, links, commands to a CI server. A mark
holds a number that is drawn when the process starts, so no file can contain one. `printed` is where the two part. It
runs in the streams themselves, so that no `print` gets around it.
"""

from __future__ import annotations

import os
import re
from functools import cache

from guardfix.linter.lazy_regex import lazy_regex

_PREFIX = f"\x1b{os.urandom(8).hex()}"
_START, _END = f"{_PREFIX}(", f"{_PREFIX})"

_UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls: all but the tab and the line feed
    "\u202a-\u202e\u2028\u2029"  # what turns the direction of text (Trojan Source), and ends of lines, for some
    # Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties.txt: nothing to be seen, by definition.
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\u2800\ufff9-\ufffc\U00016fe4\U0001d159"  # glyphs that are empty, and what stands for or around something else
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"  # half of a character, and no character
)

_JOINERS = "\u200c\u200d\ufe0e\ufe0f"
_JOINED = (
    r"[\u0600-\u061b\u061d-\u109f\u1780-\u17b3\u17b6-\u180a\u1810-\u18af\u1900-\u1aff\u1b00-\u1c7f"
    r"\u2194-\u21ff\u2300-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001fbff]"
)
"""Persian, the scripts of India, and emoji need joiners and the two last variation selectors, but only after these."""


def readable(text: str) -> str:
    """A text with paths in it as UTF-8, whatever the locale, with a mark for bytes that are not: for data."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def printable(text: str) -> str:
    """A text on one line, with nothing that ends a line, moves the cursor or hides: for people."""
    if text.isascii() and text.isprintable():
        return text
    return _visible(readable(text)).replace("\n", "\N{SYMBOL FOR LINE FEED}")


def same_length(text: str) -> str:
    """A text of one line in which each character keeps its place: what can't be seen is a picture, or a mark."""
    if text.isascii() and text.isprintable():
        return text
    return _unseen().sub(lambda found: one if len(one := _picture(found)) == 1 else "\N{REPLACEMENT CHARACTER}", text)


def printed_page(html: str) -> str:
    """The text of an HTML page, in which what can't be seen is written as a character reference."""
    html = _unseen().sub(lambda found: _reference(ord(found[0])), html)
    return _COMMAND_OF_GITHUB.sub(r"\1&#58;:", _COMMAND_ANYWHERE.sub("&#35;#", html))


def own(text: str) -> str:
    """A text that is printed as it is. Nothing from outside may be in it."""
    return f"{_START}{text}{_END}"


def printed(text: str) -> str:
    """A text over one or more lines as a stream gets it: what is own as it is, the rest made harmless."""
    if _START not in text:
        return _harmless(text)
    parts = _own_parts().split(text)
    line = ""  # what precedes a part on its line
    for place in range(0, len(parts), 2):
        foreign = parts[place]
        parts[place] = _harmless(foreign, goes_on=bool(line) and not line.isspace())
        line = (line + foreign).rpartition("\n")[2]
    return "".join(parts)


def printed_code(line: str) -> str:
    """A line of a diff, to be printed as `own`. Unlike prose, code often has `::` at the beginning of a line."""
    body = line.rstrip("\r\n")
    return _COMMAND_OF_GITHUB.sub(r"\1\\::", _COMMAND_ANYWHERE.sub(r"#\\#", _visible(body))) + line[len(body) :]


def _harmless(text: str, *, goes_on: bool = False) -> str:
    """The text made harmless; `goes_on` says that its first line has begun already."""
    text = _visible(text)
    if "##" in text:
        text = _COMMAND_ANYWHERE.sub(r"#\\#", text)
    if "::" in text:
        first, end, others = text.partition("\n") if goes_on else ("", "", text)
        text = first + end + _COMMAND_IN_LINE.sub(r"\1\\::", others)
    return text


# What CI servers read as commands from whatever a step prints: `::name …::` of GitHub at the beginning of a line, and
# anywhere `##[name …]` of its older runners, `##vso[…]` of Azure and `##teamcity[…]`.
_COMMAND_IN_LINE = lazy_regex(r"^([^\S\n]*)::", re.MULTILINE)
_COMMAND_ANYWHERE = lazy_regex(r"##(?=\w*\[)")
_COMMAND_OF_GITHUB = lazy_regex(
    r"^([ +-]?[^\S\n]*)::(?=(?:(?:set|save|add|remove|stop|internal)-[a-z-]+|error|warning|notice|debug"
    r"|group|endgroup|echo)(?:\s[^\n]*)?::)",
    re.IGNORECASE | re.MULTILINE,
)


def _visible(text: str) -> str:
    return text if text.isascii() and text.isprintable() else _unseen().sub(_picture, text)


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\N{SYMBOL FOR DELETE}"
    return f"<U+{code:04X}>"


def _reference(code: int) -> str:
    allowed = code >= 0xA0 and not 0xD800 <= code < 0xE000
    return f"&#{code};" if allowed or code == 0x0D else "\N{REPLACEMENT CHARACTER}"


@cache
def _unseen() -> re.Pattern[str]:
    return re.compile(f"[{_UNSEEN}](?<!{_JOINED}[{_JOINERS}])(?<!\ufe0f(?=\u20e3))")


@cache
def _own_parts() -> re.Pattern[str]:
    return re.compile(f"{re.escape(_START)}(.*?){re.escape(_END)}", re.DOTALL)
