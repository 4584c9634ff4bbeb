"""The outermost blocks of a C++ text, found by their braces: functions, initialisers, and the classes around them."""

from __future__ import annotations

from functools import lru_cache

from ...lazy_regex import lazy_regex
from ...named_tuples import NamedTuple
from .byte_words import line_before

_MARK = lazy_regex(rb"[{}#]")
_LOGICAL_LINE = lazy_regex(rb"[^\n\\]*(?:\\(?:\r?\n)?[^\n\\]*)*")
_BEHIND_PARAMETERS = lazy_regex(rb"\)\s*(?:(?:const|noexcept|override|final)\s*)*(?:->[^;{}()=]*)?\Z")
_INITIALIZERS = lazy_regex(rb"\)\s*(?:noexcept\s*)?:(?!:)")
_NEXT = lazy_regex(rb"\s*([,{])")
_WORD_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
_NO_NAMES = frozenset(
    b"void int bool char float double auto decltype alignas noexcept __attribute__ if for while".split()
)
"""What is before a bracket in a function's type: `std::function<void(int)> make() {`."""
_SPACE_WORD = lazy_regex(rb"\b(?:namespace|extern|class|struct|union)\b")
_CLASS_NAME = lazy_regex(rb"\b(?:class|struct|union)\b(?P<names>(?:::|[^:{])*)")
_OF_OPERATORS = (b"operator", b"=", b"<", b">", b"!", b"+", b"-", b"*", b"/", b"%", b"&", b"|", b"^")
_TEMPLATE_ARGUMENTS = lazy_regex(rb"<[^<>]*(?:<[^<>]*>[^<>]*)*>")
_WORDS = lazy_regex(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")


class OuterBlock(NamedTuple):
    """A function, or an initialiser, an enumeration and the like."""

    head: int
    """Where what is in front of the brace begins."""
    start: int
    """Behind the brace."""
    end: int
    """Of the brace that closes it."""
    owner: bytes
    """The class in which it is, or that is in front of its name."""
    name: bytes
    """The function's: what is in front of the first bracket that is none of its type's; empty where none does."""
    name_place: int
    variable: bytes
    """What is given the block as its value, an enumeration's name and the like; empty for a function."""
    ends_parameters: bool
    """Parameters may end in front of the brace."""


class ClassSpace(NamedTuple):
    name: bytes
    head: int
    end: int
    pieces: tuple[tuple[int, int], ...]
    """Its head, and what of it is in no block and in no class within."""


class OuterBlocks(NamedTuple):
    blocks: tuple[OuterBlock, ...] = ()
    """In the order of the text; none when the braces do not balance."""
    classes: tuple[ClassSpace, ...] = ()


class _Space:
    """A namespace or a class whose end isn't reached yet."""

    def __init__(self, name: bytes, head: int, start: int) -> None:
        self.name = name
        self.head = head
        self.pieces: list[tuple[int, int]] = [(head, start)]


@lru_cache(maxsize=1)
def outermost_blocks(code: bytes) -> OuterBlocks:
    """Every outermost block; namespaces and classes don't count as blocks. `code` has no comments and strings."""
    blocks: list[OuterBlock] = []
    classes: list[ClassSpace] = []
    spaces: list[_Space] = []
    depth = 0  # inside a block
    head = start = previous = skipped = seen = 0
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
            if spaces:
                spaces[-1].pieces.append((seen, place))
            seen = place + 1
            previous = code.rfind(b";", previous, place) + 1 or previous
            if constructor is not None:
                depth, head, start, constructor = 1, constructor, place + 1, None
            elif _opens_space(written := code[previous:place]):
                spaces.append(_Space(_class_name(written), previous, place))
            else:
                depth, head, start = 1, previous, place + 1
            previous = place + 1
        elif mark == 0x7D:  # }
            if depth:
                depth -= 1
                if depth == 0 and _NEXT.match(code, place + 1) and _INITIALIZERS.search(code, head, start):
                    constructor = head  # `Net(int n) : size_{n}, data_{n} { … }`
                elif depth == 0:
                    blocks.append(_block(code, head, start, place, spaces[-1].name if spaces else b""))
                    seen = place + 1
            elif spaces:
                space = spaces.pop()
                space.pieces.append((seen, place))
                seen = place + 1
                if space.name:
                    classes.append(ClassSpace(space.name, space.head, place, tuple(space.pieces)))
            else:
                return OuterBlocks()
            previous = place + 1
        elif line_before(code, place) is not None:  # a directive: its braces are its own
            line = _LOGICAL_LINE.match(code, place)
            previous = skipped = line.end() if line is not None else place + 1
    return OuterBlocks(tuple(blocks), tuple(classes)) if depth == 0 and not spaces else OuterBlocks()


def _opens_space(head: bytes) -> bool:
    """Whether a namespace or a class begins: what is in it is looked at one by one."""
    return b"(" not in head and b"=" not in head and _SPACE_WORD.search(head) is not None


def _class_name(head: bytes) -> bytes:
    """`Net` of `class API Net final : public Base`, of `struct ns::Net<int>`; nothing for a namespace."""
    found = _CLASS_NAME.search(head)
    if found is None:
        return b""
    names = [name for name in _WORDS.findall(_TEMPLATE_ARGUMENTS.sub(b"", found["names"])) if name != b"final"]
    return names[-1] if names else b""


def _block(code: bytes, head: int, start: int, end: int, around: bytes) -> OuterBlock:
    ends_parameters = _ends_parameters(code[head : start - 1].rstrip())
    equals = code.find(b"=", head, start)
    if equals >= 0:
        bracket = code.find(b"(", head, equals)
        before = code[head:equals].rstrip() if bracket < 0 else b""
        if before and before.lstrip()[:8] != b"template" and not before.endswith(_OF_OPERATORS):
            variable = before.partition(b"[")[0].rstrip()
            name = variable[len(variable.rstrip(_WORD_BYTES)) :]
            return OuterBlock(head, start, end, around, b"", start, name, ends_parameters)
    owner, name, place = _name_in(code, head, start)
    words = _WORDS.findall(code, head, start - 1) if not name else ()
    return OuterBlock(head, start, end, owner or around, name, place, words[-1] if words else b"", ends_parameters)


def _name_in(code: bytes, head: int, start: int) -> tuple[bytes, bytes, int]:
    """A function's class as its head writes it, its name, and where that is."""
    bracket = code.find(b"(", head, start)
    while bracket >= 0:
        before = code[head:bracket].rstrip()
        qualifiers = before.rstrip(_WORD_BYTES)
        name = before[len(qualifiers) :].lstrip(b"0123456789")
        if name and name not in _NO_NAMES:
            return _last_qualifier(qualifiers), name, head + len(before) - len(name)
        bracket = code.find(b"(", bracket + 1, start)
    return b"", b"", start


def _last_qualifier(written: bytes) -> bytes:
    """`Net` of `ns::Net<T>::` and of `Net::~`."""
    written = written.rstrip(b"~ \t\r\n")
    if not written.endswith(b"::"):
        return b""
    words = _WORDS.findall(_TEMPLATE_ARGUMENTS.sub(b"", written[-200:]))
    return words[-1] if words else b""


def _ends_parameters(head: bytes) -> bool:
    return head.endswith(b")") or _BEHIND_PARAMETERS.search(head) is not None
