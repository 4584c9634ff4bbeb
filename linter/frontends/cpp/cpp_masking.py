"""Length-preserving masking of what tree-sitter's C++ grammar cannot parse.

A preprocessor macro that is where the grammar knows no token loses the parser, often for a whole
class. Such macros are overwritten by blanks, byte for byte, so that every offset into the masked text is an
offset into the real one. Masked text is for the parser alone: names and edits come from the real text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from ...facts import Span
from ...lazy_regex import lazy_regex
from .byte_words import begins_word

# Attribute-like macros: they expand to nothing, to an attribute or to a calling convention.
_ATTRIBUTES = rb"""
    TORCH_(?:API|CUDA_API|CUDA_CPP_API|CUDA_CU_API|HIP_API|XPU_API|PYTHON_API|EXTENSION_API)
    | C10_(?:API|API_ENUM|EXPORT|IMPORT|HIDDEN|CUDA_API|HIP_API|UNUSED|NODISCARD|ALWAYS_INLINE
        |ALWAYS_INLINE_UNLESS_MOBILE|NOINLINE|NORETURN|HOST_DEVICE|HOST|DEVICE|RESTRICT|FALLTHROUGH|MAYBE_UNUSED|USED)
    | CAFFE2_(?:API|CUDA_API) | AT_(?:API|CUDA_API|CPP_CUDA_API|HOST_DEVICE)
    | VISION_API | TORCHAUDIO_API | FBGEMM_API | SPHINX_API | DLL_(?:PUBLIC|EXPORT|LOCAL|IMPORT)
    | THP?_(?:API|CLASS) | THP(?:CppFunction|Utils)?_API | PYBIND11_(?:EXPORT|NOINLINE|DEPRECATED)
    | HANDLE_TH_ERRORS(?:_PYBIND|_RET)? | END_HANDLE_TH_ERRORS(?:_PYBIND|_RET\([^()\n]*\))?
    | NS_(?:ASSUME_NONNULL_BEGIN|ASSUME_NONNULL_END) | FOUNDATION_EXPORT | UI_EXTERN
    | JNIEXPORT | JNICALL | (?:__host__|__device__|__global__|__forceinline__|__noinline__|__restrict__)
    | __(?:forceinline|declspec\([^()\n]*\)|attribute__\s*\(\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)\))
"""
_ATTRIBUTE = lazy_regex(rb"(?:" + re.sub(rb"\s+", b"", _ATTRIBUTES) + rb")(?![A-Za-z0-9_])")

# `class FOO_API Name`, `struct MY_EXPORT Name final : Base {`: two names after the keyword, the first one shouting.
_CLASS_HEAD = lazy_regex(
    rb"(?:class(?<!\wclass)|struct(?<!\wstruct))\s+(?P<macro>[A-Z][A-Z0-9_]{2,}(?:\([^()\n]*\))?)\s+(?=[A-Za-z_]\w*\s*(?:final\s*)?[:{;])"
)

# Statement macros of ATen that people write without a semicolon.
_STATEMENT_MACRO = lazy_regex(
    rb"(?:AT_(?:DISPATCH|PRIVATE|FORALL)_\w{1,80}|RECORD_FUNCTION|NPU_CHECK_ERROR|C10_LOG_API_USAGE_ONCE"
    rb"|TORCH_CHECK\w{0,80}|TORCH_WARN\w{0,80}|TORCH_INTERNAL_ASSERT\w{0,80}|AT_ASSERT\w{0,80}|AT_ERROR)\s*\("
)

# `class at::Guard g;`: an elaborated type. `struct Name {`, `struct Name : Base` and `struct Name;` define or declare.
_ELABORATED = lazy_regex(
    rb"(?:class(?<!\wclass)(?<!enum class)|struct(?<!\wstruct)(?<!enum struct))"
    rb"(?=\s+(?:::)?(?:\w+::)*Auto\w+\s+[A-Za-z_]\w*\s*[({;])(?!\s+\w+\s+final\b)"
)

# `#if __has_include(<header>)`: to the grammar `<` is an operator.
_HAS_INCLUDE = lazy_regex(rb"__has_include(?:_next)?\s*\([^()\n]*\)")

_HINTS = (b"_API", b"_EXPORT", b"C10_", b"AT_", b"TH_ERRORS", b"__", b"DLL_", b"NS_", b"TORCH_", b"JNI")


_DEFINE = lazy_regex(rb"^[ \t]*#[ \t]*define\b[^\n\\]*(?:\\(?:\r?\n)?[^\n\\]*)*", re.MULTILINE)
_COMMENT = lazy_regex(rb'//[^\n]*|/\*.*?\*/|"[^"\\\n]*(?:\\.[^"\\\n]*)*"', re.DOTALL)


_LONE_RETURN = lazy_regex(rb"\r(?!\n)")


_DIGRAPH = lazy_regex(rb"^([ \t]*)%:", re.MULTILINE)

_SPLICE = rb"\\[ \t\v\f]*\r?\n"
"""A backslash at the end of a line: the preprocessor joins the two lines before it looks for anything in them. To GCC
and Clang, blanks may follow the backslash."""
_SPACED_SPLICE = lazy_regex(rb"\\([ \t\v\f]+)(?=\r?\n)")
_SPLICED = lazy_regex(_SPLICE)
_PARTED = lazy_regex(
    rb"(?P<slash>/)(?P<in_opener>(?:%(S)b)+)(?P<opens>[/*])|(?P<star>\*)(?P<in_closer>(?:%(S)b)+)(?=/)"
    rb"|(?<!\\)(?P<backslashes>\\+)(?P<behind>(?:%(S)b)+)|(?P<percent>%%)(?P<in_digraph>(?:%(S)b)+)(?=:)"
    rb"|(?P<head>#(?:[ \t\v\f]|/\*[^*\\\n]*\*/|%(S)b)*(?:\w+(?:%(S)b)*)*)" % {b"S": _SPLICE}
)


def with_plain_lines(text: bytes) -> bytes:
    """The text as grammar and patterns know it, of the same length.

    Every lone CR, the line end of old Macs, is LF, and directives begin with `#`, not with the digraph `%:`. No
    backslash at the end of a line parts a `/*`, a `//`, a `*/` or the `#if` of a directive: it goes before or after.
    """
    if b"\r" in text and text.count(b"\r") != text.count(b"\r\n"):
        text = _LONE_RETURN.sub(b"\n", text)
    if b"\\" in text:
        text = _SPACED_SPLICE.sub(rb"\1\\", _with_whole_tokens(text))
    return _DIGRAPH.sub(rb"\1# ", text) if b"%:" in text else text


def _with_whole_tokens(text: bytes) -> bytes:
    """The text without splices in tokens; only lines that are joined by splices are looked at, which takes a tenth."""
    pieces, done = [], 0
    for splice in _SPLICED.finditer(text):
        if splice.start() < done:
            continue
        start, end = text.rfind(b"\n", 0, splice.start()) + 1, splice.end()
        while (line := _LINE.match(text, end)) is not None and line.end() > end:
            end = line.end()
            if not line.group().rstrip().endswith(b"\\"):
                break
        pieces += [text[done:start], _PARTED.sub(_joined, text[start:end])]
        done = end
    return b"".join([*pieces, text[done:]]) if pieces else text


_LINE = lazy_regex(rb"[^\n]*\n?")


def _joined(parted: re.Match[bytes]) -> bytes:
    """A token with the line splices that part it after it; those after a backslash go before that."""
    if parted["slash"]:
        return b"/" + parted["opens"] + parted["in_opener"]
    if parted["star"]:
        return parted["in_closer"] + b"*"
    if parted["percent"]:
        return parted["in_digraph"] + b"%"
    if parted["backslashes"]:
        return parted["behind"] + parted["backslashes"]
    splices = b"".join(_SPLICED.findall(parted["head"]))
    return _SPLICED.sub(b"", parted["head"]) + splices


def mask_define_comments(text: bytes) -> bytes:
    """Blank comments inside `#define`: to the grammar a macro's body ends at the first one."""
    if b"define" not in text or b"/*" not in text:
        return text
    masked: bytearray | None = None
    for define in _DEFINE.finditer(text):
        if b"/*" not in define.group():
            continue
        masked = masked if masked is not None else bytearray(text)
        for comment in _COMMENT.finditer(text, *define.span()):
            if comment.group().startswith(b"/*"):
                blank(masked, *comment.span())
    return text if masked is None else bytes(masked)


def mask_macros(text: bytes) -> bytes:
    """Blank attribute-like macros and close statement macros that have no semicolon."""
    text = _open_statement_arguments(mask_test_heads(mask_define_comments(text)))
    text = _HAS_INCLUDE.sub(lambda match: b"1".ljust(len(match.group())), text)
    text = _ELABORATED.sub(lambda match: b" " * len(match.group()), text)
    if not any(hint in text for hint in _HINTS) and not _CLASS_HEAD.search(text):
        return text
    masked = bytearray(text)
    for match in _ATTRIBUTE.finditer(text):
        if begins_word(text, match.start()) and not _on_define_line(text, match.start()):
            blank(masked, match.start(), match.end())
    for match in _CLASS_HEAD.finditer(text):
        blank(masked, *match.span("macro"))
    for match in _STATEMENT_MACRO.finditer(text):
        if not begins_word(text, match.start()):
            continue
        end = closing(text, match.end() - 1)
        if end is not None and text[end : end + 1] in (b"\n", b" ", b"\r") and _statement_ends(text, end):
            masked[end] = ord(";")
    return bytes(masked)


_TEST_HEAD = lazy_regex(
    rb"(?P<case>TEST_CASE|SCENARIO|TEST_CASE_METHOD|TEST_CASE_FIXTURE|TEMPLATE_TEST_CASE)(?=\s*\()"
    rb"|(?P<block>SECTION|SUBCASE|GIVEN|WHEN|THEN|AND_WHEN|AND_THEN)(?=\s*\()"
)


def mask_test_heads(text: bytes) -> bytes:
    """Let the tests of Catch2 and doctest, whose names are strings, read as functions and their sections as `if`s.

    `TEST_CASE("adds", "[m]") {` becomes `TEST_CASE(             ) {`, and `SECTION("twice") {` `if     ("twice") {`.
    """
    if b"TEST_CASE" not in text and b"SCENARIO" not in text:
        return text
    masked = bytearray(text)
    for match in _TEST_HEAD.finditer(text):
        opening = text.index(b"(", match.end())
        end = closing(text, opening)
        if end is None or not begins_word(text, match.start()) or _on_define_line(text, match.start()):
            continue
        if not text[end : end + 200].lstrip().startswith(b"{") or text[opening + 1 : end - 1].lstrip()[:1] == b")":
            continue
        if match["case"]:
            blank(masked, opening + 1, end - 1)
        else:
            masked[match.start() : match.end()] = b"if".ljust(match.end() - match.start())
    return bytes(masked)


# A macro's call where a statement begins; comments in between are read as part of the one before.
_MACRO_STATEMENT = lazy_regex(rb"(?:[;{})]|\A)\s*(?P<name>[A-Z](?<!\w[A-Z])[A-Z0-9_]{2,}\s*)\(")
_MAY_BE_GUARD = lazy_regex(rb"(?:Auto|No|Inference)\w{0,80}(?:Mode|Guard|Autograd|View)\b")
_FARTHEST = 20_000
"""Bytes of an argument that are looked at: longer ones are rare, and arguments of nested calls are looked at again."""


def _open_statement_arguments(text: bytes) -> bytes:
    """Let a macro's argument that is statements with a guard read as a block: `PROTECT( … )` becomes `       { … }`."""
    masked: bytearray | None = None
    guard = _MAY_BE_GUARD.search(text)
    start = 0
    while guard is not None and (call := _MACRO_STATEMENT.search(text, start)):
        start = call.end() - 1
        if guard.start() < start:
            guard = _MAY_BE_GUARD.search(text, start)
        if guard is None or guard.start() - start > _FARTHEST or _on_define_line(text, call.start("name")):
            continue
        length = closing(text[start : start + _FARTHEST], 0) or 0
        if guard.start() < start + length and _has_statement(text, start + 1, start + length - 1):
            masked = bytearray(text) if masked is None else masked
            blank(masked, *call.span("name"))
            masked[start], masked[start + length - 1] = ord("{"), ord("}")
        start += 1
    return text if masked is None else bytes(masked)


def _has_statement(text: bytes, start: int, end: int) -> bool:
    """Whether a semicolon is there outside of brackets and literals."""
    while start < end:
        mark = _MARK.search(text, start, end)
        if mark is None or mark.group() == b";":
            return mark is not None
        token = mark.group()
        start = (closing(text, mark.start()) or end) if token in (b"(", b"[", b"{") else mark.end()
    return False


def _on_define_line(text: bytes, offset: int) -> bool:
    """Whether the offset is the name that a `#define` gives."""
    start = text.rfind(b"\n", 0, offset) + 1
    return re.match(rb"[ \t]*#[ \t]*(?:define|undef|ifdef|ifndef)[ \t]+$", text[start:offset]) is not None


def _statement_ends(text: bytes, offset: int) -> bool:
    """Whether what follows cannot continue the expression that ends at `offset`."""
    following = re.compile(rb"\s*").match(text, offset)
    after = text[following.end() : following.end() + 1] if following else b""
    return after.isalnum() or after in (b"}", b"_")


_BLANKS = bytes(byte if byte in b"\r\n" else 0x20 for byte in range(256))


def blank(masked: bytearray, start: int, end: int) -> None:
    """Overwrite by blanks, keeping line ends."""
    masked[start:end] = masked[start:end].translate(_BLANKS)


def blanked(text: bytes, spans: Iterable[Span]) -> bytes:
    """The text with blanks in these places, which are sorted and may hold one another; line ends are kept."""
    spans = list(spans)
    if not spans:
        return text
    masked = bytearray(text)
    end = 0
    for span in spans:
        if span.end > end:
            blank(masked, span.start, span.end)
            end = span.end
    return bytes(masked)


_TOKEN = lazy_regex(
    rb"//[^\n\\]*(?:\\(?:\r?\n)?[^\n\\]*)*|/\*(?:.*?\*/|.*)"
    rb'|R"(?:(?<!\wR")|(?<=\b[LUu]R")|(?<=\bu8R"))(?P<tag>[^()\\\s]{0,16})\((?:.*?\)(?P=tag)"|.*)'
    rb'|"[^"\\\n]*(?:\\(?:\r\n|.)[^"\\\n]*)*(?:"|\Z|(?=\n))'
    rb"|'(?<![0-9A-Fa-f]')(?!')[^'\\\n]*(?:\\(?:\r\n|.)[^'\\\n]*)*(?:'|\Z|(?=\n))|\(|\)|\[|\]|\{|\}",
    re.DOTALL,
)
"""Comments, literals and brackets. What nothing ends is a comment or raw string up to the end of the text, and a string
or character up to the end of its line, as compilers read them before they complain."""


_MARK = lazy_regex(_TOKEN.pattern + rb"|;", re.DOTALL)
_LITERAL = lazy_regex(_TOKEN.pattern.removesuffix(rb"|\(|\)|\[|\]|\{|\}"), re.DOTALL)


def closing(text: bytes, opening: int) -> int | None:
    """The offset just after the bracket that closes the one at `opening`; None when nothing does."""
    depth = 0
    for match in _TOKEN.finditer(text, opening):
        if match.start() > opening + _NEAR and opening in (closings := _closings(text)):
            return closings[opening]
        token = match.group()
        if len(token) > 1:
            continue
        if token in b"([{":
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                return match.end()
    return None


_NEAR = 2000
"""Bytes after a bracket in which its partner is searched for. Beyond, all brackets of the text are matched at once, as
many may end far away, or nowhere."""


@lru_cache(maxsize=2)
def _closings(text: bytes) -> dict[int, int | None]:
    """The offset just after its partner, by the offset of each opening bracket."""
    found: dict[int, int | None] = {}
    opened: list[int] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        if len(token) > 1:
            continue
        if token in b"([{":
            opened.append(match.start())
            found[match.start()] = None
        elif opened:
            found[opened.pop()] = match.end()
    return found


def mask_block_comments(text: bytes) -> bytes:
    """The text with `/* … */` blanked; a `//` comment or a literal may hold one that is none."""
    masked = bytearray(text)
    for match in _LITERAL.finditer(text):
        if match.group().startswith(b"/*"):
            blank(masked, *match.span())
    return bytes(masked)


def mask_unended_comment(text: bytes) -> bytes:
    """The text with what follows a `/*` blanked, if nothing ends that."""
    for match in _LITERAL.finditer(text) if b"/*" in text else ():
        if match.group().startswith(b"/*") and (len(match.group()) < 4 or not match.group().endswith(b"*/")):
            return blanked(text, [Span(*match.span())])
    return text


def cpp_comments(text: bytes) -> Iterator[Span]:
    """The comments, where they are in no literal."""
    for match in _LITERAL.finditer(text):
        if text[match.start()] == 0x2F:  # /
            yield Span(*match.span())


def code_only(text: bytes) -> bytes:
    """The text with comments and the contents of literals blanked; it parses as the text does.

    A raw string can span lines, which no other literal can: it becomes a `0` and blanks. So does the end of a line in a
    comment that a directive goes on after. A lone CR becomes LF.
    """
    text = with_plain_lines(text)
    code = _LITERAL.sub(_hidden, text)
    return _with_whole_directives(text, code) if _may_part_directives(text) else code


_FIRST_LINE_OF_COMMENT = lazy_regex(rb"/\*(?:[^*\n]|\*(?!/))*")
_SIGN = lazy_regex(rb"^[ \t\v\f]*#", re.MULTILINE)
_LOGICAL_LINE = lazy_regex(rb"[^\n\\]*(?:\\(?:\r?\n)?[^\n\\]*)*")


def _may_part_directives(text: bytes) -> bool:
    """Whether a comment of several lines may begin in a directive."""
    for comment in _FIRST_LINE_OF_COMMENT.finditer(text) if b"/*" in text else ():
        start = text.rfind(b"\n", 0, comment.start()) + 1
        if text[comment.end() : comment.end() + 1] == b"\n" and (
            b"#" in text[start : comment.start()] or text[max(0, start - 3) : start].endswith((b"\\\n", b"\\\r\n"))
        ):
            return True
    return False


def _with_whole_directives(text: bytes, code: bytes) -> bytes:
    """The code without line ends in the comments of directives: `#if /*`, an end of line, `*/ 0` is one directive."""
    comments = [span for span in cpp_comments(text) if text.startswith(b"/*", span.start)]
    comments = [span for span in comments if b"\n" in text[span.start : span.end]]
    masked = bytearray(code)
    following = 0
    end = 0
    for sign in _SIGN.finditer(code):
        if sign.start() < end:
            continue
        end = sign.end()
        while (line := _LOGICAL_LINE.match(code, end)) is not None:
            end = line.end()
            while following < len(comments) and comments[following].end <= end:
                following += 1
            if following == len(comments) or comments[following].start >= end:
                break
            start, end = comments[following]
            masked[start:end] = b" " * (end - start)
    return bytes(masked)


def _hidden(literal: re.Match[bytes]) -> bytes:
    written = literal.group()
    blanks = written.translate(_BLANKS)
    if written[0] == 0x2F:  # /
        return blanks
    if written[0] == 0x52:  # R
        return b"0" + blanks[1:]
    if written[-1] != written[0] or len(written) == 1:  # nothing ends it
        return written[:1] + blanks[1:]
    return written[:1] + blanks[1:-1] + written[-1:]
