"""What holds for every text that guardfix is given, looked at with other means than its own."""

from __future__ import annotations

import io
import re
import time
import tokenize
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

from reduction import smaller  # type: ignore[import-not-found]

import guardfix
from guardfix.codemods.apply.settling import settle

SLOWEST = 5.0
"""Processor seconds that a small text may take."""
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_PIECE = re.compile(
    rb"//(?:[^\n\\]|\\.)*|/\*.*?(?:\*/|\Z)"
    rb'|(?:(?<!\w)|(?<=\b[LuU])|(?<=\bu8))R"(?P<tag>[^()\\\s]{0,16})\(.*?(?:\)(?P=tag)"|\Z)'
    rb"|\"(?:[^\"\\\n]|\\.)*(?:\"|(?=\n)|\Z)|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+(?:'|(?=\n)|\Z)",
    re.DOTALL,
)


def broken(name: str, text: bytes, *, unsafe: bool = True, twice: bool = False) -> str:
    """What does not hold for the text; empty when all does. `twice` asks whether a second run changes something."""
    start = time.process_time()
    try:
        fixed = _fixed(name, text, unsafe)
        again = _fixed(name, fixed, unsafe) if twice and fixed != text else fixed
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if time.process_time() - start > SLOWEST * (1 + twice):
        return f"takes {time.process_time() - start:.1f} s"
    if fixed == text:
        return ""
    if again != fixed:
        return "a second run changes something"
    for what, holds in _CHECKS.items():
        if not holds(name, text, fixed):
            return what
    return ""


def _fixed(name: str, text: bytes, unsafe: bool) -> bytes:
    report = guardfix.check(
        name,
        options=guardfix.Options(workers=1, max_file_size=0),
        choice=guardfix.FixChoice(unsafe=unsafe),
        workspace=guardfix.Workspace.in_memory({name: text}),
    )
    for rewritten in settle(report).rewrites:
        if not rewritten.refused:
            return rewritten.source.encode(rewritten.text)
    return text


def _is_cpp(name: str) -> bool:
    return not name.endswith(".py")


def _plain(text: bytes) -> bytes:
    """The text as UTF-8 with line feeds."""
    if text[:2] == b"\xff\xfe":
        text = text[2:].decode("utf-16-le", "replace").encode("utf-8", "replace")
    elif text[:2] == b"\xfe\xff":
        text = text[2:].decode("utf-16-be", "replace").encode("utf-8", "replace")
    elif not _is_utf8(text):
        text = text.decode("latin-1").encode("utf-8")
    return re.sub(rb"\r\n?", b"\n", text)


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


@cache
def _parser(name: str) -> Any:
    from tree_sitter import Language, Parser

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        if name.endswith((".cu", ".cuh")):
            import tree_sitter_cuda as grammar
        else:
            import tree_sitter_cpp as grammar
        return Parser(Language(grammar.language()))


def _errors(name: str, text: bytes) -> int:
    count, stack = 0, [_parser(name).parse(_plain(text)).root_node]
    while stack:
        node = stack.pop()
        count += node.is_error or node.is_missing
        stack += [child for child in node.children if child.has_error or child.is_missing]
    return count


_STATEMENTS = re.compile(rb"\b[A-Z]\w*\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*;\s*)\)")
_DIRECTIVE = re.compile(rb"^[ \t]*#(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)


def _no_new_error(name: str, before: bytes, after: bytes) -> bool:
    """By the grammar alone, over the text as it is, without any mask."""
    if name.endswith((".mm", ".m")) or not _is_cpp(name):
        return True
    if _errors(name, after) <= _errors(name, before):
        return True
    # A conditional that parts a function, and statements as a macro's argument, lose the parser, which then counts at
    # random.
    before, after = (_STATEMENTS.sub(rb"{\1}", _DIRECTIVE.sub(b"", _plain(text))) for text in (before, after))
    return _errors(name, after) <= _errors(name, before)


def _compiles(text: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "mutant.py", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _still_compiles(name: str, before: bytes, after: bytes) -> bool:
    return _is_cpp(name) or not _compiles(before) or _compiles(after)


def _comments_stay(name: str, before: bytes, after: bytes) -> bool:
    if _is_cpp(name) or not _compiles(before) or not _compiles(after):
        return True
    try:
        return _python_comments(before) == _python_comments(after)
    except (tokenize.TokenError, SyntaxError, UnicodeDecodeError):
        return True


def _python_comments(text: bytes) -> list[str]:
    """The comments, sorted, without those that may go with a guard; two that end one line may be one."""
    tokens = tokenize.tokenize(io.BytesIO(re.sub(rb"\r\n?", b"\n", text)).readline)
    comments = (token.string for token in tokens if token.type == tokenize.COMMENT)
    pieces = (piece.strip() for comment in comments for piece in re.split(r"(?=#)", comment))
    return sorted(piece for piece in pieces if piece and not _GOES_ALONG_IN_PYTHON.search(piece))


_GOES_ALONG_IN_PYTHON = re.compile(r"(?i)grad|inference|guardfix|noqa|#\Z")


def _same_mark(name: str, before: bytes, after: bytes) -> bool:
    return all(before.startswith(mark) == after.startswith(mark) for mark in _BOMS)


def _ends(text: bytes) -> set[bytes]:
    return set(re.findall(rb"\r\n|\r|\n", text))


def _same_ends(name: str, before: bytes, after: bytes) -> bool:
    if before[:2] in _BOMS:
        return True
    ends = _ends(before)
    return _ends(after) <= (ends or {b"\n"})


def _same_last_end(name: str, before: bytes, after: bytes) -> bool:
    if before[:2] in _BOMS or not after:
        return True
    return _last_end(before) == _last_end(after)


def _last_end(text: bytes) -> bytes:
    return (re.findall(rb"(?:\r\n|\r|\n)\Z", text) or [b""])[0]


def _same_characters(name: str, before: bytes, after: bytes) -> bool:
    """No byte that is not ASCII comes, goes, or becomes another one."""
    if before[:2] in _BOMS:
        return True
    if _is_cpp(name):
        before, after = (_PIECE.sub(_if_it_stays, text.replace(b"\r", b"\n")) for text in (before, after))
    if _others(before) == _others(after):
        return True
    before, after = (_GUARD_VARIABLE.sub(rb"\1", text) for text in (before, after))
    return _others(before) == _others(after)


def _others(text: bytes) -> bytes:
    return re.sub(rb"[\x00-\x7f]+", b"", text)


_GUARD_VARIABLE = re.compile(rb"((?:Guard|Mode|Autograd|View)\s+)[\w\x80-\xff]+")
"""A guard's own variable may go with it."""


def _if_it_stays(piece: re.Match[bytes]) -> bytes:
    return b"" if _GOES_ALONG.match(piece.group()) else piece.group()


_GOES_ALONG = re.compile(
    rb"/\*\s*(?:\w+\s*=|enabled)\s*\*/\Z|(?i:/[/*].*?(?:\bgrad(?:ient|s)?\b|gradient|guardfix:))", re.DOTALL
)
"""Comments that may go with a guard: the name of its argument, and what says nothing but that it is there."""


def _dead(text: bytes) -> list[bytes]:
    """Comments, literals, and what stands between `#if 0` and its `#endif`, sorted: a comment may move."""
    text = _plain(text)
    pieces = [b" ".join(match.group().split()) for match in _PIECE.finditer(text)]
    pieces = [piece for piece in pieces if not _GOES_ALONG.match(piece)]
    code = _PIECE.sub(lambda match: re.sub(rb"[^\n]", b" ", match.group()), text)
    depth, goes_on = 0, False
    for line in code.split(b"\n"):
        word = re.match(rb"\s*#\s*(if|ifdef|ifndef|endif|else|elif)\b\s*(.*?)\s*$", line)
        if goes_on:  # a part of the line before, such as a macro's body
            word = None
        goes_on = line.rstrip().endswith(b"\\")
        if depth:
            pieces.append(b" ".join(line.split()))
            if word is not None and word[1].startswith(b"if"):
                depth += 1
            elif word is not None and (word[1] == b"endif" or (depth == 1 and word[1].startswith(b"el"))):
                depth -= 1
        elif word is not None and word[1] == b"if" and word[2] in _NEVER:
            depth = 1
    return sorted(pieces)


_NEVER = {b"0", b"0x0", b"0L", b"0u", b"0b0", b"false", b"!1", b"defined(X) && 0", b"(0)", b"1 - 1", b"X && 0"}


def _dead_code_stays(name: str, before: bytes, after: bytes) -> bool:
    return not _is_cpp(name) or _dead(before) == _dead(after)


_CHECKS: dict[str, Callable[[str, bytes, bytes], bool]] = {
    "a place that cannot be parsed is new": _no_new_error,
    "it does not compile any more": _still_compiles,
    "a comment of Python changed": _comments_stay,
    "the byte order mark changed": _same_mark,
    "a line end is new": _same_ends,
    "the last line's end changed": _same_last_end,
    "a character that is not ASCII changed": _same_characters,
    "a comment, a literal or dead code changed": _dead_code_stays,
}


def reduced(name: str, text: bytes, what: str, *, twice: bool) -> bytes:
    """A smaller text of which the same does not hold."""
    return smaller(text, lambda candidate: broken(name, candidate, twice=twice)[:30] == what[:30])
