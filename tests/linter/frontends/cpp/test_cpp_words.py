"""Looking for words by `find`: the same places as an expression with `\\b` and `^` gives, in less time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guardfix.linter.files.sources import Source
from guardfix.linter.frontends.cpp.body_pruning import focused, needs_all
from guardfix.linter.frontends.cpp.byte_words import any_of, line_before, words
from guardfix.linter.frontends.cpp.cpp_extraction import extract_cpp, find_includes
from guardfix.linter.frontends.cpp.cpp_masking import code_only, mask_macros
from guardfix.linter.frontends.cpp.guard_reach import reach_in


def test_a_name_that_is_missing_has_no_places() -> None:
    assert list(words(b"", b"int ;")) == []


_BITS = ("Guard", "AutoGuard", "at::Guard", "Guard2", "_", " ", "\n", "::", "(", "x", "é", ";", "ß")


@given(st.lists(st.sampled_from(_BITS), max_size=30).map("".join))
def test_names_are_found_where_an_expression_finds_them(text: str) -> None:
    names = ["Guard", "AutoGuard", "at::Guard"]
    by_length = sorted(names, key=len, reverse=True)
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, by_length))})\b")
    expected = [(len(text[: match.start()].encode()), match.group()) for match in pattern.finditer(text)]
    assert any_of(names, text.encode()) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(b"Guard g; MyGuard h; Guard_ i; at::Guard(true)", [0, 34], id="whole words only"),
        pytest.param(b"GuardGuard", [], id="twice in one word"),
        pytest.param(b"x=Guard", [2], id="at the end of the text"),
        pytest.param(
            "éGuard Guardé \xa0Guard Guard".encode(),
            [len("éGuard Guardé \xa0Guard ".encode())],
            id="letters that are not ASCII",
        ),
    ],
)
def test_words(text: bytes, expected: list[int]) -> None:
    assert list(words(b"Guard", text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(b"#if 1", 0, id="first line"),
        pytest.param(b"int x;\n \t#if 1", 7, id="behind blanks"),
        pytest.param(b"x #if 1", None, id="behind code"),
    ],
)
def test_a_directive_is_the_first_of_its_line(text: bytes, expected: int | None) -> None:
    assert line_before(text, text.index(b"#")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("MY_TORCH_API int x;", "MY_TORCH_API int x;", id="the end of another macro's name"),
        pytest.param("TORCH_API int x;", "          int x;", id="at the start of the text"),
        pytest.param("TORCH_API2 int x;", "TORCH_API2 int x;", id="the start of another macro's name"),
        pytest.param("subclass FOO_API Name {};", "subclass FOO_API Name {};", id="a word that ends in class"),
        pytest.param("struct FOO_API Name {};", "struct         Name {};", id="a class's head"),
        pytest.param("enum class AutoKind kind;", "enum class AutoKind kind;", id="an enumeration"),
        pytest.param("class AutoGradMode mode;", "      AutoGradMode mode;", id="an elaborated type"),
        pytest.param("MY_TORCH_CHECK(x) y", "MY_TORCH_CHECK(x) y", id="a project's own statement macro"),
        pytest.param(
            "{ PROTECT(NoGradGuard g; f(x);) }", "{        {NoGradGuard g; f(x);} }", id="statements as an argument"
        ),
        pytest.param(
            "{ TRY(f([] { NoGradGuard g; h(); })); }",
            "{ TRY(f([] { NoGradGuard g; h(); })); }",
            id="statements of a lambda in an argument",
        ),
        pytest.param(
            "#define PROTECT(x) NoGradGuard g; x\n", "#define PROTECT(x) NoGradGuard g; x\n", id="a macro's definition"
        ),
        pytest.param("x = PROTECT(NoGradGuard g;);", "x = PROTECT(NoGradGuard g;);", id="a macro that gives a value"),
        pytest.param("{ PROTECT(f(x);) }", "{ PROTECT(f(x);) }", id="statements without a guard"),
    ],
)
def test_macros_are_masked_as_whole_words(text: str, expected: str) -> None:
    assert mask_macros(text.encode()) == expected.encode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("int x = 1'000'000; // it's", "int x = 1'000'000;        ", id="digit separators aren't literals"),
        pytest.param("f('{', '\\'', L'x')", "f(' ', '  ', L' ')", id="characters"),
        pytest.param('R"(a\n{)" "b"', '0   \n    " "', id="a raw string over two lines"),
        pytest.param('x/* { */y "/*" z', 'x       y "  " z', id="a comment, and a string that looks like one"),
    ],
)
def test_literals_and_comments_are_blanked(text: str, expected: str) -> None:
    assert code_only(text.encode()) == expected.encode()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param(b"auto* g = new at::NoGradGuard();", True, id="new"),
        pytest.param(b"auto g = std::make_unique< at::NoGradGuard>();", True, id="make_unique"),
        pytest.param(b"renew at::NoGradGuard;", False, id="a word that ends in new"),
        pytest.param(b"auto g = new Net(); at::NoGradGuard guard;", False, id="new of something else"),
        pytest.param(b"at::AutoNonVariableTypeMode g(true);", True, id="the old guard"),
    ],
)
def test_what_needs_the_whole_file(code: bytes, expected: bool) -> None:
    assert needs_all(code) is expected


@pytest.mark.parametrize(
    ("code", "names"),
    [
        pytest.param(b"void f() { a(); }\nvoid g() { GUARD; }\n", ["f"], id="the function without the guard"),
        pytest.param(b"int x;\nvoid f() { for (;;) { a(); } }\nGUARD;\n", ["f"], id="nested blocks"),
        pytest.param(b"#define B {\nvoid f() { a(); }\nGUARD;\n", ["f"], id="a directive's brace is its own"),
        pytest.param(b"#define B a; \\\n {\nvoid f() { a(); }\nGUARD;\n", ["f"], id="on a continued line too"),
        pytest.param(b"#define S x;\nvoid f() { a(); }\nGUARD;\n", ["f"], id="a directive ends what stands before"),
        pytest.param(b"void f() { a #b; }\nGUARD;\n", ["f"], id="a hash that begins no line is not a directive"),
        pytest.param(b"void f() { a(); } }\nGUARD;\n", [], id="braces that do not balance"),
    ],
)
def test_functions_without_a_guard_are_left_out(code: bytes, names: list[str]) -> None:
    found = focused(code, reach_in(code, [code.index(b"GUARD")]))
    assert [function.name for function in found.functions] == names
    assert len(found.code) == len(code)
    assert found.code.endswith(code[code.index(b"GUARD") :])


def test_includes_stand_at_the_start_of_a_line() -> None:
    text = b'#include <a.h>\n  # include "b.h"\n// #include <c.h>\nx #include <d.h>\n/* #include <e.h> */\n'
    assert [(found.header, found.system) for found in find_includes(text)] == [("a.h", True), ("b.h", False)]
    assert [text[slice(*found.span)] for found in find_includes(text)] == [b"#include <a.h>", b'  # include "b.h"']


def test_facts_come_in_the_text_s_order() -> None:
    calls = " ".join(f"f{number}(g{number}());" for number in range(200))
    text = f"void run() {{ at::AutoNonVariableTypeMode guard; {calls} }}"
    facts = extract_cpp(Source("a.cpp", text.encode()))
    expected = [name for number in range(200) for name in (f"f{number}", f"g{number}")]
    assert [call.name for call in facts.calls] == expected
