"""The second cheap look: whether a Python file that holds a guard's name can have a finding at all.

Most uses of guards are right, and are in one of a few shapes (`with torch.no_grad():` in a file that neither yields
nor awaits nor starts a thread, `@torch.no_grad()` above a `def`). A file with nothing else is passed over
without being parsed. Imported by the path that answers pre-commit, so it imports `re` and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ...files import prefilter_table
from ...lazy_regex import lazy_regex

_NAME_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_SUSPENSIONS = (b"yield", b"await", b"async ")
_ASKS_GRADIENTS = (b"backward(", b"autograd.grad(", b"def training_step(", b"compute_loss(")
"""In a file with one of these, gradients may be asked for under a guard (GF502)."""
_SCRIPTS = lazy_regex(
    rb"jit\.script\s*[(\r\n#]|script_method|jit import[ \t]*(?:\([^)]{0,1000}|[^(\r\n]{0,1000})\bscript\b"
)
"""In a file with this, guards may be dropped or refused by TorchScript (GF411)."""
_THREADS = tuple(
    b"Thread( Thread) ThreadPool .dummy run_in_executor to_thread run_in_threadpool start_new_thread Timer(".split()
)
"""What hands work to another thread: `Thread` also among a class's bases."""
_GRAD = rb"(?:torch\.)?(?:no_grad|enable_grad)\(\)"
_WITH = rb"[ \t]*(?P<with>with) " + _GRAD + rb":"
_DECORATOR_LINE = rb"[ \t]*@" + _GRAD + rb"[ \t]*\r?\n"
_DECORATED = _DECORATOR_LINE + rb"(?:[ \t]*@[\w.]+(?:\([^()\n]*\))?[ \t]*\r?\n)*[ \t]*def "
_COMMENT = rb"[ \t]*#"
_DECORATOR = lazy_regex(_DECORATOR_LINE)
_FINE = lazy_regex(_WITH + rb"|" + _DECORATED + rb"|" + _COMMENT)


def name_places(text: bytes, words: Iterable[str]) -> Iterator[int]:
    """Where the words are as whole names, word by word. (`find` for each is many times faster than `re` for all.)"""
    for word in words:
        needle = word.encode()
        at = text.find(needle)
        while at >= 0:
            end = at + len(needle)
            if (at == 0 or text[at - 1] not in _NAME_BYTES) and (end == len(text) or text[end] not in _NAME_BYTES):
                yield at
            at = text.find(needle, end)


def may_matter(
    text: bytes,
    watched: Iterable[str] = (),
    *,
    always: Iterable[bytes] = prefilter_table.ALWAYS["python"],
    shapes: Iterable[tuple[bytes, bytes]] = prefilter_table.SHAPES["python"],
    words: Iterable[str] = prefilter_table.WORDS["python"],
) -> bool:
    """Whether some rule could have a finding in the text (UTF-8), or another file could import a guard from it.

    `watched` are names under which other files of the project export guards. One of `always` matters wherever it
    is, a guard of `words` only in a shape that is not ordinary.
    """
    if standing(always, shapes, text) or next(name_places(text, watched), None) is not None:
        return True
    entered = found = False
    before = line = 0
    first = last = 0  # of the decorators that were found to be fine: each line of a long stack is looked at once
    for at in name_places(text, words):
        found = True
        if at < before:
            before = line = 0  # the next word
        line, before = (text.rfind(b"\n", before, at) + 1) or line, at
        if first <= line < last and _DECORATOR.match(text, line) is not None:
            continue
        shape = _FINE.match(text, line)
        if shape is None or not (shape.end() > at or shape.group().endswith(b"#")):
            return True
        entered = entered or shape["with"] is not None
        first, last = shape.span()
    if found and (any(asks in text for asks in _ASKS_GRADIENTS) or _SCRIPTS.search(text) or starts_threads(text)):
        return True
    return entered and any(pause in text for pause in _SUSPENSIONS)


def standing(needles: Iterable[bytes], shapes: Iterable[tuple[bytes, bytes]], text: bytes) -> list[bytes]:
    """Those of the texts that rules look for which are in a file, in a shape in which they matter."""
    found = [needle for needle in needles if needle in text]
    asked = dict(shapes) if found else {}
    return [needle for needle in found if needle not in asked or re.search(asked[needle], text) is not None]


def starts_threads(text: bytes) -> bool:
    """Whether something in the text may hand work to another thread."""
    return any(word in text for word in _THREADS)
