"""Which functions a text declares without a body: not what it calls, nor what it constructs."""

from __future__ import annotations

import pytest

from guardfix.linter.frontends.cpp.cpp_masking import code_only
from guardfix.linter.frontends.cpp.declared_functions import declared_functions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("at::Tensor blend(at::Tensor a);", ["blend"], id="a function"),
        pytest.param(
            "at::Tensor\nblend(\n  const at::Tensor& a,\n  double b = 1.0);", ["blend"], id="on several lines"
        ),
        pytest.param("std::vector<at::Tensor>& blend();", ["blend"], id="a reference to a template"),
        pytest.param("Tensor blend(c10::optional<int> n = {});", ["blend"], id="an empty default"),
        pytest.param("void blend(std::function<void(int)> f) noexcept;", ["blend"], id="brackets in brackets"),
        pytest.param("auto blend(int a) -> at::Tensor;", ["blend"], id="a type behind it"),
        pytest.param('extern "C" void blend();', ["blend"], id="of C"),
        pytest.param("template <typename T> TORCH_API T blend(T a);", ["blend"], id="a template with an attribute"),
        pytest.param("#include <a.h>\nvoid blend();", ["blend"], id="behind a directive"),
        pytest.param("namespace a::b { void blend(); }", ["a::b::blend"], id="in a namespace"),
        pytest.param("namespace a { inline namespace b { void blend(); } }", ["a::b::blend"], id="in two namespaces"),
        pytest.param("void a::blend();", ["a::blend"], id="with its namespace"),
        pytest.param("struct Net : Base<int> { public: void run() const; };", ["Net::run"], id="a method"),
        pytest.param("class API Net final { virtual void run() = 0; };", ["Net::run"], id="a virtual method"),
        pytest.param("struct Net { Net(int a); explicit Net(); };", ["Net::Net"], id="constructors"),
        pytest.param("void one(); void two(); void one();", ["one", "two"], id="each once"),
        pytest.param("void blend() { return; }", [], id="a definition"),
        pytest.param("void f() { blend(x); }", [], id="a call"),
        pytest.param("void f() { return blend(x); }", [], id="a call that is returned"),
        pytest.param("void f() { else blend(x); throw blend(x); delete blend(x); }", [], id="behind other words"),
        pytest.param("void f() { y = a * blend(x); }", [], id="an operand"),
        pytest.param("void f() { net->blend(x); net.blend(x); }", [], id="a method that is called"),
        pytest.param("struct Net { void f() { Net(1); } };", [], id="a class that is constructed in its method"),
        pytest.param("class Net { void f() {} void run(); };", ["Net::run"], id="behind an empty body"),
        pytest.param('extern "C" { void blend(); }', ["blend"], id="in a block of C"),
        pytest.param("void f() { if (a) { g(); } } void blend();", ["blend"], id="behind a body"),
        pytest.param("} void blend();", ["blend"], id="behind a brace that nothing opens"),
        pytest.param("void f() { auto y = blend(x); }", [], id="a value"),
        pytest.param('m.impl("blend", blend);', [], id="a registration"),
        pytest.param("namespace { void blend(); }", [], id="in an unnamed namespace"),
        pytest.param("// void blend();\n", [], id="a comment"),
        pytest.param('auto text = "void blend();";', [], id="a string"),
        pytest.param("using blend = int(int);", [], id="a type"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_declared_functions(text: str, expected: list[str]) -> None:
    assert ["::".join(name) for name in declared_functions(code_only(text.encode()))] == expected
