"""Whether `ast` and libcst read a file alike: every construct that could be reported, not only what is.

The product asks libcst only about findings. This asks about everything, for tests and for measurements on many files.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import libcst as cst

from guardfix.linter.facts import Span
from guardfix.linter.facts.python_model import Disagreement
from guardfix.linter.files.sources import Source
from guardfix.linter.frontends.python.libcst_confirmation import Confirmation
from guardfix.linter.frontends.python.libcst_tree import LibcstTree, LibcstTrees
from guardfix.linter.frontends.python.parsed_module import Module
from guardfix.linter.frontends.python.python_extraction import python_facts
from guardfix.linter.frontends.python.python_parsing import parse_python
from guardfix.linter.frontends.python.python_reading import ModuleReading
from guardfix.linter.named_tuples import NamedTuple


class Agreement(NamedTuple):
    """How many constructs of a file were compared, and which of them the parsers read differently."""

    compared: int
    disagreements: tuple[Disagreement, ...]


def compare_parsers(source: Source, watched: Iterable[str] = ()) -> Agreement:
    """What the two parsers make of one file. `watched` are further names that are taken for guards."""
    tree = parse_python(source.text.decode("utf-8"))
    trees = LibcstTrees(source)
    whole = trees.whole()
    everything = Span(0, len(source.text))
    if tree is None or whole is None:
        if tree is None and whole is None:
            return Agreement(0, ())
        readers = ("a module", "no module") if whole is None else ("no module", "a module")
        return Agreement(1, (Disagreement(everything, *readers),))
    module = Module(source, tree, watched)
    reading = ModuleReading(module, everything=True)
    reading.read()
    facts = python_facts(module, reading)
    found = list(Confirmation(source, facts).everything())
    names, confirmed = set(_names_of_ast(module)), set(_names_of_libcst(whole, module.words))
    found += [Disagreement(span, kind, "no such name") for span, kind in sorted(names - confirmed)]
    found += [Disagreement(span, "no such name", kind) for span, kind in sorted(confirmed - names)]
    return Agreement(len(names | confirmed) + len(facts.uses), tuple(found))


def _names_of_ast(module: Module) -> Iterator[tuple[Span, str]]:
    called = {id(node.func) for node in ast.walk(module.tree) if isinstance(node, ast.Call)}
    for node in ast.walk(module.tree):
        last = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if last in module.words:
            yield module.span(node), "called name" if id(node) in called else "name"


def _names_of_libcst(tree: LibcstTree, words: Iterable[str]) -> Iterator[tuple[Span, str]]:
    values = (node for node in tree.nodes(cst.Name) if _stands_for_a_value(tree, node))
    for node, last in (
        *((node, node.value) for node in values),
        *((node, node.attr.value) for node in tree.nodes(cst.Attribute) if not _names_a_module(tree, node)),
    ):
        if last in words:
            parent = tree.parent(node)
            called = isinstance(parent, cst.Call) and parent.func is node
            yield tree.span(node), "called name" if called else "name"


def _names_a_module(tree: LibcstTree, node: cst.Attribute) -> bool:
    """Whether it is of the path in an import, where `ast` has a text: `from _pytest.raises import RaisesExc`."""
    holder = tree.parent(node)
    while isinstance(holder, cst.Attribute):
        holder = tree.parent(holder)
    return isinstance(holder, (cst.ImportFrom, cst.ImportAlias))


def _stands_for_a_value(tree: LibcstTree, node: cst.Name) -> bool:
    """Whether a name is an expression, and not one of an attribute, parameter, definition, keyword or capture."""
    parent = tree.parent(node)
    if isinstance(parent, cst.Attribute):
        return parent.value is node and not _names_a_module(tree, parent)
    if isinstance(parent, cst.Arg):
        return parent.value is node
    if isinstance(parent, cst.Param):
        return parent.default is node
    if isinstance(parent, (cst.NameItem, cst.ImportAlias, cst.TypeVar, cst.TypeVarTuple, cst.ParamSpec)):
        return False
    if isinstance(parent, (cst.FunctionDef, cst.ClassDef)):
        return False
    if isinstance(parent, (cst.MatchAs, cst.MatchStar, cst.MatchKeywordElement, cst.MatchMapping)):
        return False
    if isinstance(parent, cst.MatchClass):
        return parent.cls is node
    if isinstance(parent, cst.AsName):
        holder = tree.parent(parent)
        return isinstance(holder, cst.WithItem)
    return not isinstance(parent, (cst.ImportFrom, cst.TypeParam))
