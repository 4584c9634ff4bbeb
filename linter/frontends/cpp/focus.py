"""What of a file has to be parsed: the function bodies that hold what a rule looks for, and all outside of bodies.

Parsing and reading a whole file costs many times what looking for the guards in it costs, and most functions of a
file that holds a guard have nothing to do with it. What rules look for is the guards of the table, and the calls or
other text that a rule names in its declaration. The other functions are overwritten by blanks, byte for byte, so that
every offset stays. A file whose braces do not balance is left whole.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator

from ... import guards
from ...facts import Function, Span
from ...lazy_regex import lazy_regex
from ...named_tuples import NamedTuple
from .byte_words import line_before, places, places_by_word, words
from .cpp_masking import blank

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
_MARK = lazy_regex(rb"[{}#]")
_LOGICAL_LINE = lazy_regex(rb"[^\n\\]*(?:\\(?:\r?\n)?[^\n\\]*)*")
_BEHIND_PARAMETERS = lazy_regex(rb"\)\s*(?:(?:const|noexcept|override|final)\s*)*(?:->[^;{}()=]*)?\Z")
_INITIALIZERS = lazy_regex(rb"\)\s*(?:noexcept\s*)?:(?!:)")
_NEXT = lazy_regex(rb"\s*([,{])")
_NAME = lazy_regex(rb"([A-Za-z_]\w*)\s*\(")
_WORD_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
_NO_NAMES = frozenset(
    b"void int bool char float double auto decltype alignas noexcept __attribute__ if for while".split()
)
"""What stands before a bracket in a function's type: `std::function<void(int)> make() {`."""
_DEFINITION = lazy_regex(rb"([A-Za-z_]\w*)\s*\([^;{}]*\)[^;{}()=]*\{")
_SPACE_WORD = lazy_regex(rb"\b(?:namespace|extern|class|struct|union)\b")


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
    """Where one of the pieces stands that rules look for besides guards, in comments and strings as well."""
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
    whose work may stand in any function.
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


class Focus(NamedTuple):
    """What is left of a file, and what was left out."""

    code: bytes
    functions: tuple[Function, ...]
    """The functions that were blanked: where they stand and what they are called, no more."""


def focused(code: bytes, places: Iterable[int], named: Collection[str] = ()) -> Focus:
    """The code with every outermost function blanked that holds none of the places, and has none of the names.

    A function that is called behind such a place is left as well: what a guard covers may stand there.
    """
    wanted = sorted(places)
    masked = bytearray(code)
    functions = []
    bodies = _bodies(code)
    called = _called_behind(wanted, bodies, code)
    for head, start, end in bodies:
        if _any_between(wanted, head, end):
            continue
        name = _name_in(code, head, start)
        if name in called or name in named:
            continue
        # A function goes with its head; of what is none, or may be none, only what the braces hold.
        if not _ends_parameters(code[head : start - 1].rstrip()):
            blank(masked, start, end)
            continue
        blank(masked, head, end + 1)
        functions.append(Function(name, (name,), Span(head, end + 1), Span(start - 1, end + 1), is_read=False))
    return Focus(bytes(masked), tuple(functions))


def _called_behind(wanted: list[int], bodies: Iterable[tuple[int, int, int]], code: bytes) -> frozenset[str]:
    """The names before a bracket between the first wanted place of a body and the body's end."""
    found: set[bytes] = set()
    for _, start, end in bodies:
        index = bisect_left(wanted, start)
        if index < len(wanted) and wanted[index] < end:
            found.update(_NAME.findall(code, wanted[index], end))
    return frozenset(name.decode("utf-8", "replace") for name in found - _NO_NAMES)


def function_names(code: bytes) -> frozenset[str]:
    """What the outermost functions with a body are called, without their classes and namespaces."""
    bodies = _bodies(code)
    if not bodies and b"{" in code:
        # Braces that do not balance: both arms of an `#if` open a block.
        return frozenset(match[1].decode("utf-8", "replace") for match in _DEFINITION.finditer(code))
    return frozenset(filter(None, (_name_in(code, head, start) for head, start, _ in bodies)))


def _name_in(code: bytes, head: int, start: int) -> str:
    """The name in a function's head: what stands before the first bracket that is none of its type's."""
    bracket = code.find(b"(", head, start)
    while bracket >= 0:
        before = code[head:bracket].rstrip()
        name = before[len(before.rstrip(_WORD_BYTES)) :].lstrip(b"0123456789")
        if name and name not in _NO_NAMES:
            return name.decode("utf-8", "replace")
        bracket = code.find(b"(", bracket + 1, start)
    return ""


def _ends_parameters(head: bytes) -> bool:
    return head.endswith(b")") or _BEHIND_PARAMETERS.search(head) is not None


def _opens_space(head: bytes) -> bool:
    """Whether a namespace or a class begins: what stands in it is looked at one by one."""
    return b"(" not in head and b"=" not in head and _SPACE_WORD.search(head) is not None


def _any_between(places: list[int], start: int, end: int) -> bool:
    index = bisect_left(places, start)
    return index < len(places) and places[index] < end


def _bodies(code: bytes) -> list[tuple[int, int, int]]:
    """(where its head begins, where it begins, where it ends) of every outermost block.

    Namespaces and classes aren't blocks of their own. Empty when the braces do not balance.
    """
    found: list[tuple[int, int, int]] = []
    open_spaces = 0
    depth = 0  # inside a block
    head = start = previous = skipped = 0
    constructor: int | None = None  # where the head began, of which an initialiser in braces was passed
    for match in _MARK.finditer(code):
        place = match.start()
        if place < skipped:
            continue
        mark = code[place]
        if mark == 0x7B:  # {
            if depth:
                depth += 1
                continue
            previous = code.rfind(b";", previous, place) + 1 or previous
            if constructor is not None:
                depth, head, start, constructor = 1, constructor, place + 1, None
            elif _opens_space(code[previous:place]):
                open_spaces += 1
            else:
                depth, head, start = 1, previous, place + 1
            previous = place + 1
        elif mark == 0x7D:  # }
            if depth:
                depth -= 1
                if depth == 0 and _NEXT.match(code, place + 1) and _INITIALIZERS.search(code, head, start):
                    constructor = head  # `Net(int n) : size_{n}, data_{n} { … }`
                elif depth == 0:
                    found.append((head, start, place))
            elif open_spaces:
                open_spaces -= 1
            else:
                return []
            previous = place + 1
        elif line_before(code, place) is not None:  # a directive: its braces are its own
            line = _LOGICAL_LINE.match(code, place)
            previous = skipped = line.end() if line is not None else place + 1
    return found if depth == 0 and open_spaces == 0 else []
