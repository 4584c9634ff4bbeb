"""The nodes of a syntax tree that are read: the walk for short texts finds what the query finds."""

from __future__ import annotations

import pytest
from tree_sitter import Node, Parser

from guardfix.linter.frontends.cpp.cpp_parsing import language
from guardfix.linter.frontends.cpp.node_search import NODE_KINDS, queried, walked
from tests.fixture_files import FIXTURES

TEXTS = {
    "nothing": "",
    "a bare macro": "void f() { EXPAND; x; g(); /* c */ y /* d */; }",
    "a comment beside a bare name": "void f() { x /* c */; }",
    "two names": "void f() { a b; (c); }",
    "enums": "enum { A }; enum E { B }; enum class F : int { C }; enum G g;",
    "errors in errors": "void f( { ) ] int x = ; class",
    "all else": "namespace n { struct S : T { S() : x(1) {} int x; }; } namespace m = n; using n::S; using U = S;\n"
    "typedef S V;\n#define A 1\n#define B(x) x\nint main() { auto l = [] { return 1; }; delete p; x = l(); }",
}


def _found(nodes: dict[str, list[Node]]) -> dict[str, list[tuple[int, int, str]]]:
    return {name: sorted((one.start_byte, one.end_byte, one.type) for one in found) for name, found in nodes.items()}


@pytest.mark.parametrize("name", TEXTS)
def test_walk_and_query_find_the_same(name: str) -> None:
    root = Parser(language("cpp")).parse(TEXTS[name].encode()).root_node
    assert _found(walked(root)) == _found(queried(root, "cpp"))


def test_all_kinds_are_in_these_texts() -> None:
    roots = [Parser(language("cpp")).parse(text.encode()).root_node for text in TEXTS.values()]
    assert {name for root in roots for name in walked(root)} == set(NODE_KINDS.values())


def test_they_find_the_same_in_all_fixtures() -> None:
    paths = [path for suffix in ("cpp", "h", "cu") for path in FIXTURES.rglob(f"*.{suffix}")]
    assert len(paths) > 50
    for path in paths:
        root = Parser(language("cpp")).parse(path.read_bytes()).root_node
        assert _found(walked(root)) == _found(queried(root, "cpp")), path
