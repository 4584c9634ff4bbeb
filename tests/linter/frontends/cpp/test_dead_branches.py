"""Which code no compiler sees: as written down here, and as the preprocessor has it."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from guardfix.linter.frontends.cpp.cpp_masking import code_only, with_plain_lines
from guardfix.linter.frontends.cpp.dead_branches import without_dead_branches

# `yes` is code that a compiler may see, `no` is none.
TEXTS = [
    pytest.param("/\\\n/ no\nyes", id="a comment's opener over two lines"),
    pytest.param("/\\\n\\\n/ no \\\nno\nyes", id="over three, and the comment over two"),
    pytest.param("/\\\r\n* no\nno *\\\r\n/ yes", id="a block comment with both its ends parted"),
    pytest.param("/* no *\\ \n/ yes", id="with blanks behind the backslash"),
    pytest.param("// no \\ \t\nno\nyes", id="blanks behind the backslash"),
    pytest.param("a = b /\\\nyes; /\\\n= yes;", id="divisions"),
    pytest.param('auto s = "http:/\\\n/x"; yes', id="a string"),
    pytest.param('auto s = "a\\\r\nb /* "; yes', id="a string over two lines with CRLF"),
    pytest.param('auto s = "a\\\\\\\n" b" ; // "; yes', id="an escape parted from what it escapes"),
    pytest.param('auto s = R"(\n#if 0\n)"; yes', id="a raw string"),
    pytest.param("#\\\nif 0\nno\n#\\\nendif\nyes", id="a directive's sign"),
    pytest.param("#i\\\nf 0\nno\n#en\\\n\\\ndif\nyes", id="a directive's name"),
    pytest.param("# \\\n if 0\nno\n#\\\n  else\nyes\n#endif", id="blanks around the backslash"),
    pytest.param("#\\\n/* c */ i\\\nf 0\nno\n#/* c */e\\\nlse\nyes\n#endif", id="a name behind a comment"),
    pytest.param("#if\\\n0\nyes\n", id="a name that ends on the next line"),
    pytest.param("%\\\n:if 0\nno\n%:endif\nyes", id="a digraph"),
    pytest.param("\\\n#if 0\nno\n#endif\nyes", id="an empty line before the sign"),
    pytest.param("x \\\n#if 0\nyes\n#endif\n", id="no directive: something stands before the sign"),
    pytest.param("#if 0\\\n1\nyes\n#else\nno\n#endif", id="a number over two lines"),
    pytest.param("\v\f#\f if 0\nno\n#endif\nyes", id="other blanks"),
    pytest.param("#if /* c\n*/ 0\nno\n#endif\nyes", id="a comment over two lines before the condition"),
    pytest.param("# /*\n*/ if 0 /*\n\n*/\nno\n#endif\nyes", id="before the name and behind the condition"),
    pytest.param("/* c\n*/ #if \\\n/*\n*/ 0\nno\n#endif\nyes", id="before the sign and behind a backslash"),
    pytest.param("x = 1; /*\n#if 0\n*/ yes", id="a comment behind code"),
    pytest.param("#if 0\nisn't /* no\n#endif\nyes", id="an apostrophe in dead text"),
    pytest.param("#if 0\nisn't \" no\n#endif\nyes '\"' \"'\"", id="and a quote behind it"),
    pytest.param("#if 'A' == 65\nyes\n#else\nno\n#endif", id="a character"),
    pytest.param("#if '\\0' || '\\\\' == 39 // '\nno\n#elif '\"' == 34\nyes\n#else\nno\n#endif", id="escaped ones"),
    pytest.param("#if '\\xff' < 0\nyes\n#else\nyes\n#endif", id="one that depends on the machine"),
    pytest.param("#define X 0\n#if X\nno\n#else\nyes\n#endif", id="a macro"),
    pytest.param("#define X 0x0L // off\n#if X && Y\nno\n#endif\nyes", id="another spelling of zero"),
    pytest.param("#define X (1)\n#define Y X\n#if Y\nyes\n#else\nno\n#endif", id="a macro of a macro"),
    pytest.param("#define X\n#ifndef X\nno\n#else\nyes\n#endif", id="a macro without a value"),
    pytest.param("#define X 0\n#undef X\n#ifdef X\nno\n#endif\n#if X\nno\n#endif\nyes", id="undefined again"),
    pytest.param("#undef X\n#include <x.h>\n#ifdef X\nyes\n#endif", id="an included file may define it"),
    pytest.param("#define X 0\n#include <x.h>\n#if X\nno\n#endif\nyes", id="but not what is defined"),
    pytest.param("#if X\nyes\n#endif\n#define X 0", id="defined behind the condition"),
    pytest.param("#define X 0\n#undef X\n#define X 1\n#if X\nyes\n#else\nno\n#endif", id="defined anew"),
    pytest.param("#ifdef A\n#define X 0\n#if X\nno\n#endif\n#endif\n#if X\nyes\n#endif", id="below an open question"),
    pytest.param("#define X 0\n#ifdef A\n#undef X\n#define X 1\n#endif\n#if X\nyes\n#endif", id="changed below one"),
    pytest.param("#define X 0\n#ifdef A\n#undef X\n#define X 1\n#else\n#if X\nno\n#endif\n#endif\nyes", id="in another arm"),
    pytest.param("#if 0\n#define X 0\n#endif\n#if X\nyes\n#endif", id="defined in dead code"),
    pytest.param("#if 1\n#define X 0\n#endif\n#if X\nno\n#endif\nyes", id="below a condition that holds"),
    pytest.param("#ifndef X\n#define X 0\n#endif\n#if X\nyes\n#endif", id="a default"),
    pytest.param("/*\n#define X 0\n*/\n#if X\nyes\n#endif", id="defined in a comment"),
    pytest.param("#define X(a) 0\n#if X(1)\nno\n#endif\nyes", id="with parameters"),
    pytest.param("#define X(a) (a)\n#if X(0)\nno\n#endif\n#if X(1)\nyes\n#endif\n#if X(B)\nyes\n#endif", id="that it uses"),
    pytest.param("#define X(a, b) (a > b)\n#if X(1, 3)\nno\n#elif X(3, 1)\nyes\n#endif", id="with two of them"),
    pytest.param("#define X() 0\n#if X()\nno\n#endif\nyes", id="with none of them"),
    pytest.param("#define X(a, b) a\n#if X(0)\nyes\n#endif", id="with too few"),
    pytest.param("#define X(...) __VA_ARGS__\n#if X(0)\nno\n#elif (X(0, 1))\nyes\n#endif", id="with any number of them"),
    pytest.param("#define C(a, b) a##b\n#if C(0, 0)\nno\n#elif C(1, 0) == 10\nyes\n#endif", id="that it joins"),
    pytest.param("#define C(a) #a\n#if C(0)\nyes\n#endif", id="that it makes a string of"),
    pytest.param("#define X(a) a\n#if X\nyes\n#endif", id="that isn't called"),
    pytest.param("#define X(a) Y(a)\n#define Y(a) !a\n#if X(1)\nno\n#endif\nyes", id="that calls another one"),
    pytest.param("#define X X\n#define Y Z\n#define Z Y\n#if X || Y\nyes\n#endif", id="that stand for themselves"),
    pytest.param("#define A A2 A2\n#define A2 A3 A3\n#define A3 A4 A4\n#if A\nyes\n#endif", id="that grow"),
    pytest.param("#define X defined(Y)\n#undef Y\n#if X\nno\n#endif\nyes", id="that asks for another one"),
    pytest.param("#define X 1 - \\\n 1\n#if X\nno\n#endif\nyes", id="a sum"),
    pytest.param("#define X defined\n#if X B\nyes\n#endif", id="a part of a question"),
    pytest.param("#ifndef __cplusplus\nno\n#else\nyes\n#endif\n#if !defined(__cplusplus)\nno\n#endif", id="the language's own macro"),
    pytest.param("#if __cplusplus < 201703L\nyes\n#endif", id="and its value"),
    pytest.param("#ifdef A\n#ifndef A\nno\n#else\nyes\n#endif\n#endif", id="the opposite of what holds already"),
    pytest.param("#ifdef A\nyes\n#elif defined(A)\nno\n#else\n#ifdef A\nno\n#endif\nyes\n#endif\n#ifdef A\nyes\n#endif", id="in the arms behind it"),
    pytest.param("#if defined(A) && !defined(B)\n#if !defined A || defined B\nno\n#endif\n#else\n#ifdef A\nyes\n#endif\n#endif", id="two that hold together"),
    pytest.param("#if defined(A) || defined(B)\n#ifdef A\nyes\n#endif\n#ifdef B\nyes\n#endif\n#endif", id="one of two holds"),
    pytest.param("#ifndef A\n#include <a.h>\n#ifdef A\nyes\n#endif\n#endif", id="an included file may change that"),
    pytest.param("#ifdef A\n#undef A\n#ifdef A\nno\n#endif\n#endif\n#ifdef A\nyes\n#endif", id="and so may the code"),
    pytest.param("#define X 0\n#if defined(X) && defined(A)\n#if X\nno\n#endif\n#endif\n#if X\nno\n#endif\nyes", id="what is known says more"),
    pytest.param("".join(f"#{'el' if i else ''}if defined(A{i})\nyes\n" for i in range(300)) + "#endif", id="many arms"),
    pytest.param("#define X f(0)\n#define Y 1 +\n#if X || Y 1\nyes\n#endif", id="something else than a number"),
    pytest.param("#define X 0u\n#if -1 > X\nyes\n#endif", id="an unsigned number"),
    pytest.param("#define X 0\n#pragma push_macro(\"X\")\n#undef X\n#define X 1\n#pragma pop_macro(\"X\")\n#if X\nyes\n#endif", id="pushed and popped"),
    pytest.param("#define M \\\n#define X 0\n#if X\nyes\n#endif", id="in another macro's body"),
    pytest.param("#if " + "(" * 150 + "0" + ")" * 150 + "\nno\n#endif\nyes", id="many brackets"),
    pytest.param("#if 0\n" * 3000 + "no\n" + "#endif\n" * 3000 + "yes", id="many levels"),
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_dead_code(text: str) -> None:
    seen = _seen(text)
    assert seen.count("yes") == text.count("yes")
    assert "no" not in seen


def _seen(text: str) -> list[str]:
    """The words that a compiler may see, for all that the file says."""
    plain = with_plain_lines(text.encode())
    shown = code_only(without_dead_branches(plain))
    assert len(shown) == len(text)
    code = re.sub(rb"(?m)^[ \t\v\f]*#(?:\\\r?\n|[^\n])*", b"", shown)
    return re.findall(r"[a-z]+\d*", code.decode())


_SPLICE = st.sampled_from(["\\\n", "\\\r\n", "\\ \n", "\\\n\\\n", ""])
_BREAK = st.sampled_from([" ", "/* c */", "/*\n*/", "/* ' */", "\\\n", "\t"])
_NUMBER = st.sampled_from(["0", "1", "F(0)", "F(1)", "F(X)", "G(0, 1)", "L'\\0'", "(1, 0)", "!defined(__cplusplus)", "0x0", "'A' - 65", "'\\0'", "'\\'' == 39", "'\"'", "L'a' && 0", "(0)", "!1", "0L", "'/' == '*'"])  # fmt: skip
_MACRO = st.sampled_from(["X", "Y", "Z"])
_QUESTION = st.one_of(_NUMBER, _MACRO, _MACRO.map("defined({})".format), st.sampled_from(["A", "defined B", "A && 0"]))
_KEPT = st.sampled_from(["", "", "isn't /* ", "it's \" ", "\" /* ", "// it's ", "/* ' */ ", "'\"' /* */ ", "/\\\n/ ", "\"a\\\nb\" "])  # fmt: skip


@st.composite
def _directive(draw: st.DrawFn, name: str, rest: str = "") -> str:
    cut = draw(st.integers(1, len(name) - 1))
    parted = name[:cut] + draw(_SPLICE) + name[cut:]
    sign = draw(st.sampled_from(["#", "#", "%:", "/* */#", "\\\n#", "\f#"]))
    return f"{sign}{draw(_SPLICE)}{draw(_BREAK)}{parted}{draw(_BREAK)}{rest}{draw(st.sampled_from(['', ' // x', ' /*', ' /* ']))}"


@st.composite
def _block(draw: st.DrawFn, depth: int = 2) -> list[str]:
    lines = []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.integers(0, 5 if depth else 3))
        if kind == 0:
            lines.append(draw(_directive("define", f"{draw(_MACRO)} {draw(st.sampled_from(['0', '1', '(0)', 'X', '', '0 // c', 'Y', 'F(0)', '1 - 1', 'defined(A)']))}")))  # fmt: skip
        elif kind == 1:
            lines.append(draw(_directive("undef", draw(_MACRO))))
        elif kind == 2:
            lines.append(f"{draw(_KEPT)}mark")
        elif kind == 3:
            lines.append(f"{draw(st.sampled_from(['/', 'x /']))}{draw(_SPLICE)}{draw(st.sampled_from('/*='))} mark *{draw(_SPLICE)}/ mark")  # fmt: skip
        else:
            lines.append(draw(_directive("if", draw(_QUESTION))))
            lines += draw(_block(depth - 1))
            if draw(st.booleans()):
                lines += [draw(_directive("elif", draw(_QUESTION))), *draw(_block(depth - 1))]
            if draw(st.booleans()):
                lines += [draw(_directive("else")), *draw(_block(depth - 1))]
            lines.append(draw(_directive("endif")))
    return lines


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("g++") is None, reason="no compiler here")
@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(_block(), st.sampled_from(["\n", "\r\n"]))
def test_dead_code_as_the_preprocessor_has_it(lines: list[str], newline: str) -> None:
    number = itertools.count()
    lines = ["#define F(a) a", "#define G(a, b) a##b", *lines]
    text = newline.join(re.sub(r"\bmark\b", lambda _: f"mark{next(number)}", line) for line in lines)
    runs = [_preprocessed(text, *given) for given in ((), ("-DA=1",), ("-DB",), ("-DA=1", "-DB"))]
    assume(None not in runs)
    ever = {mark for run in runs for mark in run or ()}
    seen = {word for word in _seen(text) if word.startswith("mark")}
    assert ever <= seen
    if re.search(r"\b[ABXYZ]\b", text) is None:
        assert seen == ever


def _preprocessed(text: str, *options: str) -> set[str] | None:
    """The marks that are left; None where the preprocessor finds a mistake."""
    command = ["g++", "-std=c++17", "-E", "-P", "-w", "-x", "c++", *options, "-"]
    run = subprocess.run(command, input=text.encode(), capture_output=True)
    if run.returncode:
        return None
    return set(re.findall(r"mark\d+", code_only(run.stdout).decode()))


def changed_below(levels: int, macros: int) -> str:
    """Macros that are undefined below so many conditions, and then one that is plainly 0."""
    defined = "".join(f"#define M{number} 1\n" for number in range(macros))
    below = "".join(f"#ifdef A{level}\n" for level in range(levels))
    undefined = "".join(f"#undef M{number}\n" for number in range(macros))
    return defined + below + undefined + "#endif\n" * levels + "#define X 0\n#if X\ncode\n#endif\n"


@pytest.mark.parametrize(("levels", "is_dead"), [pytest.param(20, True, id="20"), pytest.param(300, False, id="300")])
def test_macros_that_are_changed_below_very_many_conditions(levels: int, is_dead: bool) -> None:
    """Taking all of them back at each level would take the square of their number: then none is known any more."""
    text = changed_below(levels, 200).encode()
    assert (b"code" not in without_dead_branches(text)) is is_dead
