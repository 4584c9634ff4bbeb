"""Masked text -> syntax tree, with the grammar that fits the file."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import TYPE_CHECKING, Any

from ...facts import Span
from ...lazy_regex import lazy_regex
from ...named_tuples import NamedTuple
from .body_pruning import guard_places
from .byte_words import words
from .cpp_masking import blanked, code_only, mask_macros, with_plain_lines
from .dead_branches import without_dead_branches
from .inner_conditionals import inner_conditionals

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser, Tree

CUDA_SUFFIXES = (".cu", ".cuh", ".hip")


@cache
def language(name: str) -> Language:
    """The grammar: `cpp` or `cuda`."""
    from tree_sitter import Language

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return Language(_grammar(f"tree_sitter_{name}").language())


def _grammar(package: str) -> Any:
    """The compiled module of a grammar's package, without the package.

    The package imports `importlib.resources` for queries that aren't used here, and with it as many modules as make a
    tenth of the time that a file with one guard takes.
    """
    folder = PathFinder.find_spec(package)
    found = PathFinder.find_spec(f"{package}._binding", folder.submodule_search_locations if folder else None)
    if found is None or found.loader is None:  # not installed in a folder, or laid out in another way
        return import_module(package)
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


@cache
def _parser(name: str) -> Parser:
    from tree_sitter import Parser

    return Parser(language(name))


def grammar_for(path: str) -> str:
    return "cuda" if path.endswith(CUDA_SUFFIXES) else "cpp"


def is_objective_c(path: str, text: bytes) -> bool:
    """Whether the file is Objective-C++: by suffix, or for headers by what is in it."""
    if path.endswith((".mm", ".m", ".M")):
        return True
    return path.endswith((".h", ".hh", ".hpp")) and (b"@interface" in text or b"@protocol" in text)


def masked_text(path: str, text: bytes) -> bytes:
    """The text as the grammar can read it, without disabled code; every offset stays."""
    text = without_dead_branches(with_plain_lines(text))
    if is_objective_c(path, text):
        from .objective_c import mask_objective_c

        text = mask_objective_c(text)
    return mask_macros(text)


def parse_cpp(masked: bytes, grammar: str = "cpp") -> Tree:
    return _parser(grammar).parse(masked)


_BLANK_STRETCH = lazy_regex(rb"(?<=\n)\s{64,}(?=\n)")


def parse_sparse(masked: bytes, grammar: str = "cpp") -> Tree:
    """The tree of a text that is blank for the most part: blank stretches are not even lexed.

    Offsets are those of the whole text; rows and columns of the nodes are not filled in. The line ends around a
    stretch stay, as directives end there.
    """
    from tree_sitter import Parser, Point, Range

    origin = Point(0, 0)
    ranges, start = [], 0
    for stretch in _BLANK_STRETCH.finditer(masked):
        if stretch.start() > start:
            ranges.append(Range(origin, origin, start, stretch.start()))
        start = stretch.end()
    if start < len(masked) or not ranges:
        ranges.append(Range(origin, origin, start, len(masked)))
    parser = Parser(language(grammar))
    parser.included_ranges = ranges
    return parser.parse(masked)


class ParsedText(NamedTuple):
    """A tree, and the text that it is the tree of."""

    tree: Tree
    masked: bytes
    blanked: tuple[Span, ...] = ()
    """What was overwritten because the grammar could not read it."""


def parse_errors(path: str, text: bytes) -> tuple[int, int]:
    """How many places of a file's text the grammar cannot read, and, where there are some, of the unmasked text."""
    masked, grammar = masked_text(path, text), grammar_for(path)
    count = error_count(read_through(masked, code_only(masked), grammar=grammar).tree.root_node)
    if not count or is_objective_c(path, text):
        return count, 0
    return count, error_count(parse_cpp(with_plain_lines(text), grammar).root_node)


def read_through(
    masked: bytes, code: bytes, watched: Iterable[str] = (), grammar: str = "cpp", *, sparse: bool = False
) -> ParsedText:
    """The tree of a masked text; where the grammar is lost, without the conditionals that lose it.

    `code` is the text without comments and strings. That of guards and of what is `watched` is kept.
    """
    parse = parse_sparse if sparse else parse_cpp
    tree = parse(masked, grammar)
    if not tree.root_node.has_error or b"#" not in code:
        return ParsedText(tree, masked)
    also = sorted(place for name in watched for place in words(name.encode(), code))
    lost = inner_conditionals(code, sorted(guard_places(code)), also)
    if not lost:
        return ParsedText(tree, masked)
    text = blanked(masked, lost)
    again = parse(text, grammar)
    if error_count(again.root_node) >= error_count(tree.root_node):
        return ParsedText(tree, masked)
    return ParsedText(again, text, tuple(lost))


def error_count(node: Node) -> int:
    """How many places of the tree the grammar could not read: ERROR and missing nodes."""
    if not node.has_error:
        return 0
    count = 0
    stack = [node]
    while stack:
        current = stack.pop()
        if current.is_error or current.is_missing:
            count += 1
        stack.extend(child for child in current.children if child.has_error or child.is_missing)
    return count
