"""Masking of Objective-C++ syntax, byte for byte, into C++ that the grammar parses.

What matters is that C++ statements inside methods, message arguments and blocks stay where they are and
become visible to the parser; what a message send means does not. So

    - (NSArray*)predict:(void*)buffer {        void  predict()                {
    [self log:@"x" at:1]                       (self       , "x"   , 1)
    [queue run:^{ f(); }]                      (queue   ,[]{ f(); })
    @autoreleasepool { … }                                     { … }

Reference: The Objective-C Programming Language (Apple), chapters on messages, blocks and literals.
"""

from __future__ import annotations

import re

from ...lazy_regex import lazy_regex
from .cpp_masking import blank, closing, mask_unended_comment

_SKIPPED = rb"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'"""
_NEXT = lazy_regex(
    _SKIPPED.replace(rb"|'", rb"|(?<![0-9A-Fa-f])'")
    + rb"""|(?P<block>\^\s*(?=[({]))|(?P<bracket>\[)|(?P<at>@(?:[A-Za-z_]+|["(\[{]|(?=\d)))"""
    + rb"""|(?P<method>^[ \t]*[-+][ \t]*\([^;{}]*?(?=[;{]))|(?P<for>\bfor\s*\()""",
    re.DOTALL | re.MULTILINE,
)
_QUALIFIERS = lazy_regex(
    rb"\b(?:__weak|__strong|__block|__bridge(?:_transfer|_retained)?|__unsafe_unretained|__nullable|__nonnull|_Nullable|_Nonnull"
    rb"|nullable|nonnull|__kindof|NS_\w+(?:\([^()\n]*\))?|API_AVAILABLE\([^()]*\)|IBAction|IBOutlet)\b"
)
_LABEL = lazy_regex(rb"[A-Za-z_]\w*\s*:(?!:)|:(?!:)")
_DECLARED_METHOD = lazy_regex(rb"^[ \t]*[-+][ \t]*\([^{}]*?;", re.MULTILINE | re.DOTALL)


def mask_objective_c(text: bytes) -> bytes:
    """C++ of the same length; see the module's docstring."""
    text = mask_unended_comment(
        text
    )  # what looks like a method's head after it would be rewritten, its opening included
    masked = bytearray(text)
    _mask_region(masked, text, 0, len(text))
    for match in _QUALIFIERS.finditer(bytes(masked)):
        blank(masked, *match.span())
    return bytes(masked)


def _mask_region(masked: bytearray, text: bytes, start: int, end: int) -> None:
    position = start
    while (match := _NEXT.search(text, position, end)) is not None:
        position = match.end()
        if match.lastgroup == "block":
            _mask_block(masked, match.start())
        elif match.lastgroup == "bracket":
            _mask_message(masked, text, match.start())
        elif match.lastgroup == "at":
            position = _mask_at(masked, text, match)
        elif match.lastgroup == "method":
            _mask_method(masked, match.start(), match.end(), text)
        elif match.lastgroup == "for":
            _mask_for_in(masked, text, match.end() - 1)


def _mask_block(masked: bytearray, start: int) -> None:
    # `^{` and `^(…){` become lambdas; the introducer needs two characters, and a blank beside `^` is one.
    if bytes(masked[start + 1 : start + 2]) in (b" ", b"\t"):
        masked[start : start + 2] = b"[]"
    elif start and bytes(masked[start - 1 : start]) in (b" ", b"\t"):
        masked[start - 1 : start + 1] = b"[]"
    else:
        masked[start] = 0x20


def _mask_message(masked: bytearray, text: bytes, start: int) -> None:
    before = text[:start].rstrip()[-1:]
    if before.isalnum() or before in (b"_", b"]"):
        # A subscript, unless a keyword is there. (After `)` comes a cast or the head of a loop.)
        word = re.search(rb"([A-Za-z_]\w*)$", text[max(0, start - 64) : start].rstrip())
        if word is None or word.group(1) not in (b"return", b"in", b"else", b"case"):
            return
    end = closing(text, start)
    if end is None:
        return
    inner = text[start + 1 : end - 1]
    if re.match(rb"\s*(?:[&=]|this\b|\w+\s*(?:,|=(?!=)|$)|$|\[)", inner) and not re.match(rb"\s*\[", inner):
        return  # a lambda's capture list, an attribute or an array bound
    if re.match(rb"\s*\[\s*[a-z_]+\s*\]\s*$", inner):
        return  # [[attribute]]
    spans = _top_level(text, start + 1, end - 1)
    receiver_end = _receiver_end(text, start + 1, end - 1)
    if receiver_end is None:
        return
    masked[start] = ord("(")
    masked[end - 1] = ord(")")
    labels = [
        label
        for low, high in spans
        for label in _LABEL.finditer(text, max(low, receiver_end), high)
        if not _in_conditional(text, receiver_end, label.end() - 1)
    ]
    if not labels:
        blank(masked, receiver_end, end - 1)  # a unary selector
        return
    for label in labels:
        blank(masked, *label.span())
        masked[label.start()] = ord(",")


def _in_conditional(text: bytes, start: int, colon: int) -> bool:
    """Whether the colon belongs to a `? :` of the same argument."""
    return b"?" in text[start:colon].rsplit(b",", 1)[-1].rsplit(b":", 1)[-1]


def _top_level(text: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """The stretches of text[start:end] outside brackets and strings."""
    spans = []
    position = low = start
    pattern = re.compile(_SKIPPED + rb"|[(\[{]", re.DOTALL)
    while (match := pattern.search(text, position, end)) is not None:
        spans.append((low, match.start()))
        stop = closing(text, match.start()) if match.group() in (b"(", b"[", b"{") else match.end()
        position = low = min(end, stop if stop is not None else end)
    spans.append((low, end))
    return spans


def _receiver_end(text: bytes, start: int, end: int) -> int | None:
    """Where the receiver of a message ends: after a name, a call or a nested message."""
    match = re.compile(rb"\s*").match(text, start)
    position = match.end() if match else start
    if text[position : position + 1] == b"(":  # a cast, or a parenthesised receiver
        stop = closing(text, position)
        if stop is None or stop > end:
            return None
        position = stop
    if text[position : position + 1] == b"[":
        stop = closing(text, position)
        if stop is None or stop > end:
            return None
        position = stop
    else:
        name = re.compile(rb"@?\"?[A-Za-z_][\w:]*(?:(?:\.|->)[A-Za-z_]\w*)*\"?").match(text, position)
        if name is not None:
            position = name.end()
            generic = re.compile(rb"<[\w\s*,:<>]*>(?=\s+\w)").match(text, position)
            position = generic.end() if generic is not None else position
            while text[position : position + 1] in (b"(", b"["):
                stop = closing(text, position)
                if stop is None or stop > end:
                    break
                position = stop
    rest = text[position:end]
    # A message has a selector after its receiver; anything else is not a message.
    if not re.match(rb"\s*[A-Za-z_]\w*\s*(?::|$)", rest) and not re.match(rb"\s*:", rest):
        return None
    return position


def _mask_at(masked: bytearray, text: bytes, match: re.Match[bytes]) -> int:
    start, word = match.start(), match.group()[1:]
    masked[start] = 0x20
    if word in (b"try", b"catch", b"(", b'"', b""):
        return start + 1
    if word in (b"[", b"{"):
        stop = closing(text, start + 1)
        if stop is not None:
            masked[start + 1], masked[stop - 1] = ord("("), ord(")")
            for low, high in _top_level(text, start + 2, stop - 1):
                for index in range(low, high):
                    if text[index : index + 1] == b":" and b"::" not in text[index - 1 : index + 2]:
                        masked[index] = ord(",")
        return start + 2
    if word in (b"implementation", b"class", b"import", b"property", b"synthesize", b"dynamic"):
        line_end = text.find(b"{" if word == b"implementation" else b";", start)
        newline = text.find(b"\n", start)
        newline = newline if newline >= 0 else len(text)
        stop = newline if word == b"implementation" and not 0 <= line_end < newline else line_end
        if stop < 0:
            stop = newline
        blank(masked, start, stop)
        return stop
    if word in (b"interface", b"protocol"):
        return _mask_interface(masked, text, start)
    blank(masked, start, match.end())
    if word in (b"selector", b"encode", b"available", b"synchronized"):
        opening = text.find(b"(", match.end())
        stop = closing(text, opening) if opening >= 0 else None
        if stop is not None:
            if word == b"synchronized":
                blank(masked, opening, stop)
            else:
                blank(masked, opening + 1, stop - 1)
                masked[start] = ord("0")
                blank(masked, opening, stop)
            return stop
    return match.end()


def _mask_interface(masked: bytearray, text: bytes, start: int) -> int:
    """Blank a declaration up to `@end`, but for the instance variables, which may be C++ objects."""
    end = text.find(b"@end", start)
    newline = text.find(b"\n", start)
    header_end = newline if newline >= 0 else len(text)
    if end < 0 or re.match(rb"@protocol\s*[\w, ]+;|@protocol\s*\(", text[start:header_end]):
        blank(masked, start, header_end)
        return header_end
    brace = text.find(b"{", start, end)
    stop = closing(text, brace) if brace >= 0 else None
    if stop is not None and not _DECLARED_METHOD.search(text, start, brace):
        blank(masked, start, brace)
        for keyword in re.finditer(rb"@(?:private|protected|public|package)", text[brace:stop]):
            blank(masked, brace + keyword.start(), brace + keyword.end())
        blank(masked, stop, end + 4)
    else:
        blank(masked, start, end + 4)
    return end + 4


def _mask_method(masked: bytearray, start: int, end: int, text: bytes) -> None:
    name = re.search(rb"\)\s*([A-Za-z_]\w*)", text[start:end])
    body = end < len(text) and text[end : end + 1] == b"{"
    blank(masked, start, end)
    if not body or name is None:
        if end < len(text):
            masked[end] = 0x20 if not body else masked[end]
        return
    head = b"void " + name.group(1) + b"()"
    room = text[start:end]
    free = end - start
    newline = room.find(b"\n")
    if newline >= 0:
        free = newline
    for candidate in (head, b"void f()", b"f()"):
        if len(candidate) <= free:
            masked[start : start + len(candidate)] = candidate
            return


def _mask_for_in(masked: bytearray, text: bytes, opening: int) -> None:
    stop = closing(text, opening)
    if stop is None or b";" in text[opening:stop]:
        return
    word = re.search(rb"\s(in)\s", text[opening:stop])
    if word is not None:
        at = opening + word.start(1)
        masked[at : at + 2] = b": "
