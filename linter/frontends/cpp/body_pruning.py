"""What of a file has to be parsed: the function bodies that hold what a rule looks for, and all outside of bodies.

Parsing and reading a whole file costs many times what looking for the guards in it costs, and most functions of a
file that holds a guard have nothing to do with it. What rules look for is the guards of the table, and the calls or
other text that a rule names in its declaration. The other functions are overwritten by blanks, byte for byte, so that
every offset stays. A file whose braces do not balance is left whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ... import guards
from ...facts import Function, Span
from ...lazy_regex import lazy_regex
from ...named_tuples import NamedTuple
from .byte_words import places, places_by_word, words
from .cpp_masking import blank
from .guard_reach import Reach
from .outermost_blocks import outermost_blocks

_GRADIENT_GUARDS = guards.GuardNames(guards.CPP, guards.gradient_guards)
_ALIAS_HEAD = lazy_regex(rb"\b(?:using\s+(?P<using>\w+)\s*=|typedef\b)[\w:\s]*\Z")
_FEW = 100
"""Names that are each looked for by themselves; where a file gives guards more aliases, its words are listed once."""
_ALIAS_LENGTH = 200
"""How far in front of the guard's name an alias's declaration may begin."""
_TYPEDEF_TAIL = lazy_regex(rb"\s+(\w+)\s*;")
_HEAP_HEAD = lazy_regex(rb"\b(?:new|make_unique|make_shared)\b[\s<]*[\w:]*\Z")
_HEAP_LENGTH = 200
_STARTS_THREADS = lazy_regex(rb"\bstd::(?:j?thread|async)\b")
_CALLED = lazy_regex(rb"(?<!\w)([A-Za-z_]\w*)\s*\(")
_STATEMENT = lazy_regex(rb"[;}]")


def guard_places(code: bytes) -> list[int]:
    """Where guards, or aliases that the file gives them, are named; `code` has no comments and strings."""
    found: list[int] = []
    names = {name for guard in _GRADIENT_GUARDS for name in (guard, *guards.CPP[guard].companions)}
    waiting = [name.encode() for name in sorted(names)]
    known = set(waiting)
    by_word: dict[bytes, list[int]] | None = None
    while waiting:
        name = waiting.pop()
        if len(known) > _FEW and by_word is None:
            by_word = places_by_word(code)
        for place in words(name, code) if by_word is None else by_word.get(name, ()):
            found.append(place)
            alias = _alias_at(place, place + len(name), code)
            if alias and alias not in known:
                known.add(alias)
                waiting.append(alias)
    return found


def text_places(text: bytes, pieces: Iterable[bytes]) -> Iterator[int]:
    """Where the texts are that rules look for besides guards, in comments and strings as well."""
    for piece in pieces:
        at = text.find(piece)
        while at >= 0:
            yield at
            at = text.find(piece, at + max(1, len(piece)))


def _alias_at(start: int, end: int, code: bytes) -> bytes | None:
    """The name that `using name = at::G;` or `typedef at::G name;` around the guard's name gives it."""
    head = _ALIAS_HEAD.search(code, max(0, start - _ALIAS_LENGTH), start)
    if head is None:
        return None
    if head["using"]:
        return head["using"]
    tail = _TYPEDEF_TAIL.match(code, end)
    return tail[1] if tail else None


def needs_all(code: bytes) -> bool:
    """Whether the rules must know the whole file, and not only the functions that hold a guard.

    So it is for the old guard, for guards in autograd Functions, for guards on the heap, and where threads are started,
    whose work may be in any function.
    """
    if guards.LEGACY_API.encode() in code or (b"AutoDispatchBelow" in code and b"AutogradContext" in code):
        return True
    if _STARTS_THREADS.search(code):
        return True
    return any(
        _HEAP_HEAD.search(code, max(0, place - _HEAP_LENGTH), place) is not None
        for name in _GRADIENT_GUARDS
        for place in places(name.encode(), code)
    )


class BodyPruning(NamedTuple):
    """What is left of a file, and what was left out."""

    code: bytes
    functions: tuple[Function, ...]
    """The functions that were blanked: where they are and what they are called, no more."""


def focused(code: bytes, reach: Reach) -> BodyPruning:
    """The code with every outermost function blanked that is not reached."""
    masked = bytearray(code)
    functions = []
    for block in reach.others:
        # A function goes with its head; of what is none, or may be none, only what the braces hold.
        if not block.ends_parameters:
            blank(masked, block.start, block.end)
            continue
        head, end = block.head, block.end + 1
        blank(masked, head, end)
        name = block.name.decode("utf-8", "replace")
        functions.append(Function(name, (name,), Span(head, end), Span(block.start - 1, end), is_read=False))
    return BodyPruning(bytes(masked), tuple(functions))


def function_names(code: bytes) -> frozenset[str]:
    """What the outermost functions with a body are called, without their classes and namespaces."""
    blocks, _ = outermost_blocks(code)
    if not blocks and b"{" in code:
        # Braces that do not balance: both arms of an `#if` open a block.
        return frozenset(_defined_before_braces(code))
    return frozenset(block.name.decode("utf-8", "replace") for block in blocks if block.name)


def _defined_before_braces(code: bytes) -> Iterator[str]:
    """The names in `name(…) … {`, one for each brace."""
    for block in code.split(b"{")[:-1]:
        head = _STATEMENT.split(block)[-1]
        end = head.rfind(b")")
        called = (
            _CALLED.search(head, 0, end) if end >= 0 and b"(" not in head[end:] and b"=" not in head[end:] else None
        )
        if called is not None:
            yield called[1].decode("utf-8", "replace")
