"""Expressions of both languages become the same kind of trees, and show themselves as they were written."""

from __future__ import annotations

import ast
import pickle

import pytest

from guardfix.linter.facts.expressions import (
    MAX_DEPTH,
    MAX_TEXT,
    MAX_WIDTH,
    Bracketed,
    CallExpression,
    CastExpression,
    Clause,
    Comprehension,
    Construction,
    Expression,
    KeywordArgument,
    LambdaExpression,
    LiteralExpression,
    LiteralKind,
    MemberAccess,
    NamePath,
    NewExpression,
    Operation,
    OtherExpression,
    Subscript,
    TypeName,
    chain_words,
    nodes_of,
    variable_of,
    words_of,
)
from guardfix.linter.files.sources import decode
from guardfix.linter.frontends.cpp.cpp_extraction import extract_cpp
from guardfix.linter.frontends.python.parsed_module import Module
from guardfix.linter.frontends.python.python_expressions import PythonExpressionReader


def name(*parts: str, **more: object) -> NamePath:
    return NamePath(parts, **more)  # type: ignore[arg-type]


def dotted(*parts: str) -> NamePath:
    return NamePath(parts, separator=".")


def number(text: str) -> LiteralExpression:
    return LiteralExpression(LiteralKind.NUMBER, text)


X, Y = name("x"), name("y")
TRUE = LiteralExpression(LiteralKind.BOOL, "true")


def cpp_value(written: str) -> Expression:
    """The expression as the value of a variable."""
    text = f"void f() {{ at::NoGradGuard g; auto v = {written}; }}"
    facts = extract_cpp(decode(text.encode(), "f.cpp"))
    (value,) = (given.value for given in facts.assignments if given.variable == "v")
    assert value is not None
    return value


CPP = [
    ("x", X, "x"),
    ("at::add", name("at", "add"), "at::add"),
    ("::at::add", name("at", "add", absolute=True), "::at::add"),
    ("model . forward", MemberAccess(name("model"), "forward"), "model.forward"),
    ("this->net_", MemberAccess(name("this"), "net_", "->"), "this->net_"),
    ("f(x,y)", CallExpression(name("f"), (X, Y)), "f(x, y)"),
    ("f(/* none */)", CallExpression(name("f")), "f()"),
    (
        "(*model).forward({x})",
        CallExpression(
            MemberAccess(Bracketed((Operation("*", (name("model"),)),)), "forward"), (Bracketed((X,), "{}"),)
        ),
        "(*model).forward({x})",
    ),
    ("x[0]", Subscript(X, (number("0"),)), "x[0]"),
    ("f<int>(x)", CallExpression(name("f", template_arguments=(name("int"),)), (X,)), "f<int>(x)"),
    (
        "x.template to<float>(true)",
        CallExpression(MemberAccess(X, "to", ".", (name("float"),)), (TRUE,)),
        "x.to<float>(true)",
    ),
    (
        "std::vector<at::Tensor>::npos",
        name("npos", scope=name("std", "vector", template_arguments=(name("at", "Tensor"),))),
        "std::vector<at::Tensor>::npos",
    ),
    (
        "get<const at::Tensor&>(x)",
        CallExpression(name("get", template_arguments=(TypeName(name("at", "Tensor"), True, "&"),)), (X,)),
        "get<const at::Tensor&>(x)",
    ),
    ("-x", Operation("-", (X,)), "-x"),
    ("x++", Operation("++", (X,), postfix=True), "x++"),
    ("!x", Operation("!", (X,)), "!x"),
    ("x+y", Operation("+", (X, Y)), "x + y"),
    ("(x*y).sum()", CallExpression(MemberAccess(Bracketed((Operation("*", (X, Y)),)), "sum")), "(x * y).sum()"),
    ("x ? y : 1", Operation("?:", (X, Y, number("1"))), "x ? y : 1"),
    ("x = y", Operation("=", (X, Y)), "x = y"),
    ("new T(x)", NewExpression(name("T"), Bracketed((X,))), "new T(x)"),
    ("T{x, 1}", Construction(name("T"), Bracketed((X, number("1")), "{}")), "T{x, 1}"),
    ("(float)x", CastExpression(name("float"), X), "(float)x"),
    ("nullptr", LiteralExpression(LiteralKind.NONE, "nullptr"), "nullptr"),
    ('"a, b"', LiteralExpression(LiteralKind.STRING, '"a, b"'), '"a, b"'),
    ("[&](int q) { return q; }", LambdaExpression("[&](int q){return q;}", ("int", "q", "return")), None),
    ("sizeof(int)", OtherExpression("sizeof(int)", ("sizeof", "int")), "sizeof(int)"),
]


@pytest.mark.parametrize(("written", "tree", "shown"), CPP, ids=[row[0] for row in CPP])
def test_cpp(written: str, tree: Expression, shown: str | None) -> None:
    found = cpp_value(written)
    assert found == tree
    assert shown is None or str(found) == shown
    assert pickle.loads(pickle.dumps(found)) == tree


def python_value(written: str) -> Expression:
    text = f"import torch\nfrom torch import nn as layers\nv = {written}\n"
    tree = ast.parse(text)
    module = Module(decode(text.encode(), "f.py"), tree)
    (assignment,) = (node for node in tree.body if isinstance(node, ast.Assign))
    return PythonExpressionReader(module).read(assignment.value, module.scope)


NOTHING = LiteralExpression(LiteralKind.NONE, "None")

PYTHON = [
    ("x", dotted("x"), "x"),
    ("torch.no_grad", dotted("torch", "no_grad"), "torch.no_grad"),
    ("layers.Linear(3)", CallExpression(dotted("torch", "nn", "Linear"), (number("3"),)), "torch.nn.Linear(3)"),
    ("self.net(x)", CallExpression(MemberAccess(dotted("self"), "net"), (dotted("x"),)), "self.net(x)"),
    (
        "f(x, dim=0, *a, **k)",
        CallExpression(
            dotted("f"),
            (
                dotted("x"),
                Operation("*", (dotted("a"),)),
                KeywordArgument("dim", number("0")),
                Operation("**", (dotted("k"),)),
            ),
        ),
        "f(x, *a, dim=0, **k)",
    ),
    ("x[0, 1]", Subscript(dotted("x"), (number("0"), number("1"))), "x[0, 1]"),
    ("[x, True]", Bracketed((dotted("x"), LiteralExpression(LiteralKind.BOOL, "True")), "[]"), "[x, True]"),
    ("None", LiteralExpression(LiteralKind.NONE, "None"), "None"),
    (
        "(x + y) * 2",
        Operation("*", (Bracketed((Operation("+", (dotted("x"), dotted("y"))),)), number("2"))),
        "(x + y) * 2",
    ),
    (
        "(x @ y).sum()",
        CallExpression(MemberAccess(Operation("@", (dotted("x"), dotted("y"))), "sum")),
        "(x @ y).sum()",
    ),
    ("x if y else 1", Operation("if else", (dotted("y"), dotted("x"), number("1"))), "x if y else 1"),
    ("not x", Operation("not", (dotted("x"),)), "not x"),
    ("x is not y", Operation("is not", (dotted("x"), dotted("y"))), "x is not y"),
    ("lambda: x", LambdaExpression("lambda: x", ("lambda", "x")), "lambda: x"),
    (
        "{1: x, **y}",
        Bracketed((Operation(":", (number("1"), dotted("x"))), Operation("**", (dotted("y"),))), "{}"),
        "{1: x, **y}",
    ),
    ("{}", Bracketed((), "{}"), "{}"),
    ("x[1:]", Subscript(dotted("x"), (Operation("slice", (number("1"), NOTHING)),)), "x[1:]"),
    ("x[::y]", Subscript(dotted("x"), (Operation("slice", (NOTHING, NOTHING, dotted("y"))),)), "x[::y]"),
    (
        "0 < x < y",
        Operation("and", (Operation("<", (number("0"), dotted("x"))), Operation("<", (dotted("x"), dotted("y"))))),
        "0 < x and x < y",
    ),
    ("f'x {y}'", OtherExpression("f'x {y}'", ("y",)), "f'x {y}'"),
    ("f'x'", LiteralExpression(LiteralKind.STRING, "f'x'"), "f'x'"),
    ("(yield)", Operation("yield", ()), "yield"),
    ("(yield x)", Operation("yield", (dotted("x"),)), "yield x"),
    ("(yield from x)", Operation("yield from", (dotted("x"),)), "yield from x"),
    (
        "[y for x in z if x for y in x]",
        Comprehension(
            "[]", dotted("y"), (Clause(dotted("x"), dotted("z"), (dotted("x"),)), Clause(dotted("y"), dotted("x")))
        ),
        "[y for x in z if x for y in x]",
    ),
    (
        "{x: y async for x in z}",
        Comprehension(
            "{:}",
            Operation(":", (dotted("x"), dotted("y"))),
            (Clause(dotted("x"), Operation("await", (dotted("z"),))),),
        ),
        "{x: y for x in await z}",
    ),
    ("{x for x in y}", Comprehension("{}", dotted("x"), (Clause(dotted("x"), dotted("y")),)), "{x for x in y}"),
    ("(x for x in y)", Comprehension("()", dotted("x"), (Clause(dotted("x"), dotted("y")),)), "(x for x in y)"),
    (
        "[layers.x for layers in layers.y]",
        Comprehension(
            "[]", MemberAccess(dotted("layers"), "x"), (Clause(dotted("layers"), dotted("torch", "nn", "y")),)
        ),
        "[layers.x for layers in torch.nn.y]",
    ),
]


@pytest.mark.parametrize(("written", "tree", "shown"), PYTHON, ids=[row[0] for row in PYTHON])
def test_python(written: str, tree: Expression, shown: str) -> None:
    found = python_value(written)
    assert found == tree
    assert str(found) == shown
    assert pickle.loads(pickle.dumps(found)) == tree


TYPES = [
    ("const at::Tensor& x", TypeName(name("at", "Tensor"), True, "&"), "x"),
    ("at::Tensor const& x", TypeName(name("at", "Tensor"), True, "&"), "x"),
    ("at::Tensor* x", TypeName(name("at", "Tensor"), False, "*"), "x"),
    ("Args&&... rest", TypeName(name("Args"), False, "&&"), "rest"),
    ("float data[3]", TypeName(name("float")), "data"),
    ("const std::vector<T*>& x", None, "x"),
    ("unsigned long int n = 0", TypeName(name("unsigned long int")), "n"),
    ("int", TypeName(name("int")), ""),
]


@pytest.mark.parametrize(("written", "type_", "given"), TYPES, ids=[row[0] for row in TYPES])
def test_parameters(written: str, type_: TypeName | None, given: str) -> None:
    facts = extract_cpp(decode(f"void f({written}) {{ at::NoGradGuard g; }}".encode(), "f.cpp"))
    (parameter,) = facts.functions[0].parameters
    assert parameter.name == given
    assert type_ is None or parameter.type == type_
    assert parameter.type.marks == (type_.marks if type_ else "&")


DECLARED = [
    ("auto& v = x", ["v"], X, "auto&"),
    ("const auto [a, b] = x", ["a", "b"], X, "const auto"),
    ("at::Tensor z(x * y)", ["z"], Bracketed((Operation("*", (X, Y)),)), "at::Tensor"),
    ("Tape tape(x, y)", ["tape"], Bracketed((X, Y)), "Tape"),
    ("T value{x}", ["value"], Bracketed((X,), "{}"), "T"),
    ("float data[3]", ["data"], None, "float"),
    ("at::Tensor *out", ["out"], None, "at::Tensor*"),
]


def assigned_names(target: Expression) -> list[str]:
    return [variable_of(item) for item in target.items] if isinstance(target, Bracketed) else [variable_of(target)]


@pytest.mark.parametrize(("written", "names", "value", "type_"), DECLARED, ids=[row[0] for row in DECLARED])
def test_declarations(written: str, names: list[str], value: Expression | None, type_: str) -> None:
    facts = extract_cpp(decode(f"void f() {{ at::NoGradGuard g; {written}; }}".encode(), "f.cpp"))
    (given,) = (given for given in facts.assignments if given.variable != "g")
    assert (assigned_names(given.target), given.value, str(given.type)) == (names, value, type_)


def test_a_long_list_is_cut() -> None:
    values = ", ".join(map(str, range(10_000)))
    found = cpp_value(f"T{{{values}}}")
    assert isinstance(found, Construction)
    assert isinstance(found.arguments, Bracketed)
    assert [str(item) for item in found.arguments.items[:-1]] == [str(n) for n in range(MAX_WIDTH - 1)]
    assert isinstance(found.arguments.items[-1], OtherExpression)
    assert len(str(found.arguments.items[-1])) <= MAX_TEXT


def test_a_deep_expression_is_cut() -> None:
    found = cpp_value("(" * 200 + "x" + ")" * 200)
    depth = sum(1 for _ in nodes_of(found))
    assert depth == MAX_DEPTH + 1
    facts = extract_cpp(decode(f"void f() {{ at::NoGradGuard g; x{'.a()' * 3000}; }}".encode(), "f.cpp"))
    assert len(facts.calls) == 3000
    assert len(pickle.dumps(facts)) < 3_000_000


MEANT = [
    ("out", "out"),
    ("out[0]", "out"),
    ("*out", "out"),
    ("(*out).x", "out"),
    ("out.x->y.f(z)", "out"),
    ("this->out[0]", "this->out"),
    ("(x + y).z", ""),
    ("1", ""),
]


@pytest.mark.parametrize(("written", "variable"), MEANT, ids=[row[0] for row in MEANT])
def test_the_variable_that_is_meant(written: str, variable: str) -> None:
    assert variable_of(cpp_value(written)) == variable


def test_words() -> None:
    call = cpp_value("at::dispatcher().find<Op>(x[i], {y.z})->call(w)")
    assert words_of(call) == {"at", "dispatcher", "find", "Op", "x", "i", "y", "z", "call", "w"}
    assert chain_words(call) == {"at", "dispatcher", "find", "call"}
