"""What of a file guards and their tensors can reach, by the names in its text.

The functions in which a guard stands, those that call them, those that call these, and so on; and all that any of them
calls or names. The methods of a class that holds a guard, or whose name stands in reached code, go together.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence, Set

from ...lazy_regex import lazy_regex
from ...named_tuples import NamedTuple
from .byte_words import places_by_word, words
from .outermost_blocks import ClassSpace, OuterBlock, outermost_blocks

_WORD = lazy_regex(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_CALL = lazy_regex(rb"\s*(?:<[^;{}()]{0,200}>\s*)?\(")
_DEFINE = lazy_regex(rb"[ \t]*#[ \t]*define[ \t]+(\w+)")
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
    is_known: bool
    """False when the braces do not balance: then all of the file is reached."""

    def holds(self, offset: int) -> bool:
        """Whether a place of the text stands in reached code."""
        if not self.is_known:
            return True
        index = bisect_right(self.blocks, offset, key=lambda block: block.head) - 1
        return index >= 0 and offset <= self.blocks[index].end

    def names_class(self, name: bytes) -> bool:
        return not self.is_known or name in self.names


def reached(code: bytes, places: Iterable[int], named: Collection[str] = ()) -> Reach:
    """What is reached from these places; functions that are `named` are reached as well, though not what they call.

    `code` has no comments and strings.
    """
    blocks, classes = outermost_blocks(code)
    if not blocks and b"{" in code:
        return Reach((), (), frozenset(), False)
    search = _Search(code, blocks, classes)
    search.go_up(places)
    search.go_down()
    names = {name.encode() for name in named}
    kept: list[OuterBlock] = []
    others: list[OuterBlock] = []
    for index, block in enumerate(blocks):
        (kept if index in search.found or block.name in names else others).append(block)
    return Reach(tuple(kept), tuple(others), search.mentioned, True)


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
        self._spaces = sorted(classes, key=lambda space: (space.head, -space.end))
        self._known = {*self._by_name, *self._by_owner, *self._classes}
        self._by_word: dict[bytes, list[int]] | None = None
        self.found: set[int] = set()
        self.mentioned: set[bytes] = set()

    def _block_at(self, place: int) -> int | None:
        index = bisect_right(self._heads, place) - 1
        return index if index >= 0 and place <= self._blocks[index].end else None

    def _methods_of(self, owner: bytes) -> Sequence[int]:
        """A class's methods, which go together; of a large class each goes alone."""
        methods = self._by_owner.get(owner, ())
        size = sum(self._blocks[index].end - self._blocks[index].start for index in methods)
        return methods if size <= _LARGEST_CLASS else ()

    # -- those that call

    def go_up(self, places: Iterable[int]) -> None:
        """The blocks and classes in which the places stand, and what calls or names them."""
        owners: set[bytes] = set()
        names: set[bytes] = set()
        for place in places:
            index = self._block_at(place)
            if index is None:
                owners |= self._class_at(place)
                names |= self._macro_at(place)
            else:
                self.found.add(index)
                owners.add(self._blocks[index].owner)
        owners.discard(b"")
        waiting = [*names, *owners]
        for owner in owners:
            self.found.update(self._methods_of(owner))
        waiting += {name for index in self.found if (name := self._blocks[index].name)}
        passed = set(waiting)
        while waiting:
            name = waiting.pop()
            is_function = name not in owners and name not in names
            for place in self._places_of(name, len(passed)):
                index = self._block_at(place)
                if index is None:
                    around = set() if is_function else self._class_at(place) - owners
                    owners |= around
                    waiting += around - passed
                    passed |= around
                    for owner in around:
                        self.found.update(self._methods_of(owner))
                elif index not in self.found and self._uses(place, name, index, is_function=is_function):
                    self.found.add(index)
                    caller = self._blocks[index].name
                    if caller and caller not in passed:
                        passed.add(caller)
                        waiting.append(caller)
        self.mentioned |= owners

    def _uses(self, place: int, name: bytes, index: int, *, is_function: bool) -> bool:
        """Whether a block calls what it names there."""
        block = self._blocks[index]
        if block.name_place == place or block.name.startswith(_REGISTERS):
            return False
        return not is_function or _CALL.match(self._code, place + len(name)) is not None

    def _places_of(self, name: bytes, known: int) -> Iterable[int]:
        if known > _FEW and self._by_word is None:
            self._by_word = places_by_word(self._code)
        return words(name, self._code) if self._by_word is None else self._by_word.get(name, ())

    def _class_at(self, place: int) -> set[bytes]:
        """The innermost class around a place outside of blocks."""
        index = bisect_right(self._spaces, place, key=lambda space: space.head) - 1
        for space in reversed(self._spaces[max(0, index - _FEW) : index + 1]):
            if place < space.end:
                return {space.name}
        return set()

    def _macro_at(self, place: int) -> set[bytes]:
        """The macro in whose definition a place stands."""
        start = self._code.rfind(b"\n", 0, place) + 1
        while start > 1 and self._code[:start].rstrip(b"\r\n").endswith(b"\\"):
            start = self._code.rfind(b"\n", 0, start - 1) + 1
        define = _DEFINE.match(self._code, start)
        return {define[1]} if define is not None else set()

    # -- what they call

    def go_down(self) -> None:
        """What the blocks that were found call or name, and what that calls or names."""
        waiting = sorted(self.found)
        for owner in sorted(self.mentioned):
            waiting += self._name_all(self._pieces_of(owner))
        while waiting:
            block = self._blocks[waiting.pop()]
            named = [(block.head, block.end)]
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
