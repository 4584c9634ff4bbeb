"""What of a file guards and their tensors can reach, by the names in its text.

The functions in which a guard is, those that call them, those that call these, and so on; and all that any of them
calls or names. The methods of a class that holds a guard, or whose name is in reached code, go together.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from functools import cached_property

from ...facts.spans import Nested, Span
from ...lazy_regex import lazy_regex
from ...named_tuples import NamedTuple
from .byte_words import places_by_word, words
from .outermost_blocks import ClassSpace, OuterBlock, outermost_blocks

_WORD = lazy_regex(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_CALL = lazy_regex(rb"\s*(?:<[^;{}()]{0,200}>\s*)?\(")
_DEFINE = lazy_regex(rb"#[ \t]*define[ \t]+(?P<name>\w+)[^\n\\]*(?:\\(?:\r?\n)?[^\n\\]*)*")
STORED = lazy_regex(rb"(?:\.|->)([A-Za-z_]\w*)\s*=\s*\[")
"""A lambda that a member of another object is given: `loop.body = [`."""
_REGISTERS = (b"TORCH_LIBRARY", b"PYBIND11_")
"""How blocks begin that hand functions on and call none of them."""
_LARGEST_CLASS = 32_000
"""Bytes of methods."""
_FEW = 100
"""Names that are each looked for by themselves; for more of them, the words of the file are listed once."""


class Reach(NamedTuple):
    blocks: tuple[OuterBlock, ...]
    """Those that are reached, in the order of the text."""
    others: tuple[OuterBlock, ...]
    names: Set[bytes]
    """Of the file's blocks and classes those that reached code mentions."""
    loose: tuple[int, ...]
    """The places from which the search began that are in no block, sorted."""
    is_known: bool
    """False when the braces do not balance: then all of the file is reached."""

    def holds(self, offset: int) -> bool:
        """Whether a place of the text is in reached code."""
        if not self.is_known:
            return True
        index = bisect_right(self.blocks, offset, key=lambda block: block.head) - 1
        return index >= 0 and offset <= self.blocks[index].end

    def begins_in(self, span: Span) -> bool:
        """Whether the search began there, outside of blocks."""
        index = bisect_left(self.loose, span.start)
        return index < len(self.loose) and self.loose[index] < span.end

    def names_class(self, name: bytes) -> bool:
        return not self.is_known or name in self.names


def reach_in(code: bytes, places: Iterable[int], named: Collection[str] = ()) -> Reach:
    """What is reached from these places; functions and classes that are `named` are as well, though not what they call.

    So are functions that store a lambda in a member of such a name.

    `code` has no comments and strings.
    """
    blocks, classes = outermost_blocks(code)
    if not blocks and b"{" in code:
        return Reach((), (), frozenset(), (), False)
    search = _Search(code, blocks, classes)
    search.go_up(places)
    search.go_down()
    names = {name.encode() for name in named}
    if names:
        stores = (search.block_at(match.start()) for match in STORED.finditer(code) if match[1] in names)
        search.found.update(index for index in stores if index is not None)
    kept: list[OuterBlock] = []
    others: list[OuterBlock] = []
    for index, block in enumerate(blocks):
        (kept if index in search.found or block.name in names else others).append(block)
    mentioned = search.mentioned | names.intersection(space.name for space in classes)
    return Reach(tuple(kept), tuple(others), mentioned, tuple(sorted(search.loose)), True)


class _Search:
    def __init__(self, code: bytes, blocks: tuple[OuterBlock, ...], classes: tuple[ClassSpace, ...]) -> None:
        self._code = code
        self._blocks = blocks
        self._by_name: dict[bytes, list[int]] = defaultdict(list)
        self._by_owner: dict[bytes, list[int]] = defaultdict(list)
        self._classes: dict[bytes, list[ClassSpace]] = defaultdict(list)
        for index, block in enumerate(blocks):
            for name in filter(None, (block.name, block.variable)):
                self._by_name[name].append(index)
            if block.owner:
                self._by_owner[block.owner].append(index)
        for space in classes:
            self._classes[space.name].append(space)
        self._heads = [block.head for block in blocks]
        self._all_classes = classes
        self._callers: set[int] = set()
        """Those in which a guard is, and those that call them."""
        self._sought: set[bytes] = set()
        self._waiting: list[tuple[bytes, bool]] = []
        """(a name, whether only its calls count) that is still to be looked for."""
        self._known = {*self._by_name, *self._by_owner, *self._classes}
        self._by_word: dict[bytes, list[int]] | None = None
        self.found: set[int] = set()
        self.mentioned: set[bytes] = set()
        self.loose: list[int] = []

    def block_at(self, place: int) -> int | None:
        index = bisect_right(self._heads, place) - 1
        return index if index >= 0 and place <= self._blocks[index].end else None

    def _methods_of(self, owner: bytes) -> Sequence[int]:
        """A class's methods, which go together; of a large class each goes alone."""
        methods = self._by_owner.get(owner, ())
        size = sum(self._blocks[index].end - self._blocks[index].start for index in methods)
        return methods if size <= _LARGEST_CLASS else ()

    # -- those that call

    def go_up(self, places: Iterable[int]) -> None:
        """The blocks and classes in which the places are, and what calls or names them."""
        for place in places:
            index = self.block_at(place)
            if index is not None:
                self._add_caller(index)
                # What has no function's name is the initialiser of a member.
                self._add_class(self._blocks[index].owner, is_sought=not self._blocks[index].name)
            else:
                self.loose.append(place)
                self._add_class(self._class_at(place))
                self._seek(self._macro_at(place))
        while self._waiting:
            name, is_called = self._waiting.pop()
            for place in self._places_of(name):
                index = self.block_at(place)
                if index is None:
                    if not is_called:
                        self._add_class(self._class_at(place))
                elif index not in self._callers and self._uses(place, name, index, is_called=is_called):
                    self._add_caller(index)

    def _add_caller(self, index: int) -> None:
        self.found.add(index)
        self._callers.add(index)
        block = self._blocks[index]
        if block.owner and block.name in (block.owner, b"forward", b"operator"):
            # What makes an object, `Net net;`, runs the constructor, and `net(x)` may be its `forward`.
            self._seek(block.owner)
            self._seek(block.owner.removesuffix(b"Impl"))
        self._seek(block.name or block.variable, is_called=True)

    def _add_class(self, name: bytes, *, is_sought: bool = True) -> None:
        """A class goes with its methods, and with what makes it or derives from it, where it holds a guard itself."""
        if name and name not in self.mentioned:
            self.mentioned.add(name)
            self.found.update(self._methods_of(name))
        if is_sought:
            self._seek(name)

    def _seek(self, name: bytes, *, is_called: bool = False) -> None:
        if name and name not in self._sought:
            self._sought.add(name)
            self._waiting.append((name, is_called))

    def _uses(self, place: int, name: bytes, index: int, *, is_called: bool) -> bool:
        """Whether a block calls what it names there."""
        block = self._blocks[index]
        if block.name_place == place or block.name.startswith(_REGISTERS):
            return False
        return not is_called or _CALL.match(self._code, place + len(name)) is not None

    def _places_of(self, name: bytes) -> Iterable[int]:
        if len(self._sought) > _FEW and self._by_word is None:
            self._by_word = places_by_word(self._code)
        return words(name, self._code) if self._by_word is None else self._by_word.get(name, ())

    def _class_at(self, place: int) -> bytes:
        """The innermost class around a place outside of blocks."""
        space = next(self._spaces.around(Span(place, place)), None)
        return space.name if space is not None else b""

    def _macro_at(self, place: int) -> bytes:
        """The macro in whose definition a place is."""
        define = next(self._defines.around(Span(place, place)), None)
        return define[0] if define is not None else b""

    @cached_property
    def _spaces(self) -> Nested[ClassSpace]:
        return Nested(self._all_classes, lambda space: Span(space.head, space.end))

    @cached_property
    def _defines(self) -> Nested[tuple[bytes, Span]]:
        """The macros that the file defines, each with its name."""
        found = ((define["name"], Span(*define.span())) for define in _DEFINE.finditer(self._code))
        return Nested(found, lambda define: define[1])

    # -- what they call

    def go_down(self) -> None:
        """What the blocks that were found call or name, and what that calls or names."""
        waiting = sorted(self.found)
        for owner in sorted(self.mentioned):
            waiting += self._name_all(self._pieces_of(owner))
        while waiting:
            block = self._blocks[waiting.pop()]
            own_name = block.name_place + len(block.name)  # which may be a macro's: `TEST`
            named = [(block.head, block.name_place), (own_name, block.end)]
            if block.owner and block.owner not in self.mentioned:
                self.mentioned.add(block.owner)
                waiting += self._new(self._methods_of(block.owner))
                named += self._pieces_of(block.owner)
            waiting += self._name_all(named)

    def _name_all(self, pieces: Iterable[tuple[int, int]]) -> list[int]:
        """Note what these pieces of the text mention; gives the blocks that this reaches."""
        reached: list[int] = []
        waiting = list(pieces)
        while waiting:
            new = self._known.intersection(_WORD.findall(self._code, *waiting.pop())) - self.mentioned
            self.mentioned |= new
            for name in new & self._by_name.keys():
                reached += self._new(self._by_name[name])
            for name in new & self._classes.keys():
                waiting += self._pieces_of(name)
            for name in new & self._by_owner.keys():
                reached += self._new(self._methods_of(name))
        return reached

    def _new(self, indices: Iterable[int]) -> Iterator[int]:
        for index in indices:
            if index not in self.found:
                self.found.add(index)
                yield index

    def _pieces_of(self, name: bytes) -> list[tuple[int, int]]:
        return [piece for space in self._classes.get(name, ()) for piece in space.pieces]
