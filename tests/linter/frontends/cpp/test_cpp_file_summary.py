"""What a look at a C++ file's bytes says: which functions and classes it defines, and what it is about."""

from __future__ import annotations

import pytest

from guardfix.linter.facts.file_summary import Topic
from guardfix.linter.files.sources import decode
from guardfix.linter.frontends.cpp.cpp_file_summary import summarize_cpp


@pytest.mark.parametrize(
    ("text", "functions"),
    [
        pytest.param("int f(int x) { if (x) { g(x); } return h(x); }", {"f"}, id="a function, and not what it calls"),
        pytest.param("int f(int x);", set(), id="a declaration"),
        pytest.param("at::Tensor Net::run(T x) const noexcept { return x; }", {"run"}, id="a method outside its class"),
        pytest.param("struct Net { void run() override { g(); } int size = 3; };", {"run"}, id="a method in its class"),
        pytest.param("namespace a { class B final : public C { void run() {} }; }", {"run"}, id="in a namespace"),
        pytest.param("Net::Net(int n) : size_{n}, data_(n) { fill(); }", {"Net"}, id="a constructor that initialises"),
        pytest.param("Net() noexcept : Base(1), size_{2} {} void run() {}", {"Net", "run"}, id="and what follows it"),
        pytest.param("auto f(int x) -> std::vector<int> { return {x}; }", {"f"}, id="a trailing return type"),
        pytest.param("std::function<void(int)> make() { return {}; }", {"make"}, id="brackets in the result's type"),
        pytest.param("static const auto x = [](int y) { return y; };", set(), id="a lambda has no name"),
        pytest.param('// void f() { }\nconst char* s = "void g() {}";', set(), id="comments and strings"),
        pytest.param(
            "#ifdef A\nvoid f() {\n#else\nvoid f(int) {\n#endif\n  g();\n}\n", {"f"}, id="braces that do not balance"
        ),
    ],
)
def test_functions_that_are_defined(text: str, functions: set[str]) -> None:
    assert summarize_cpp(decode(text.encode(), "a.cpp")).functions == functions


def test_classes_that_are_defined() -> None:
    text = (
        "class API Net final : public M {};\nstruct Net::Impl {};\nclass Other;\nenum class Kind { A };\nstruct Net n;"
    )
    assert summarize_cpp(decode(text.encode(), "a.cpp")).classes == {"Net", "Impl", "Kind"}


@pytest.mark.parametrize(
    ("code", "topics"),
    [
        ("TORCH_LIBRARY_IMPL(ns, CPU, m) {}", {Topic.OP}),
        ("struct F : torch::autograd::Function<F> {};", {Topic.OP, Topic.AUTOGRAD}),
        ("struct F : public Function<F> {};", {Topic.OP, Topic.AUTOGRAD}),
        ("std::function<void()> f;", set()),
        ("void f(AutogradContext* ctx);", {Topic.OP, Topic.AUTOGRAD}),
        ("PYBIND11_MODULE(a, m) {}", {Topic.BINDING}),
        ("loss.backward();", {Topic.GRADIENT}),
        ("x.requires_grad_(true);", {Topic.GRADIENT}),
        ("x.requires_grad_();", {Topic.GRADIENT}),
        ("if (x.requires_grad()) {}", set()),
        ("x.requires_grad_(false);", set()),
        ("auto o = torch::optim::SGD(p, 0.1);", {Topic.GRADIENT}),
        ("vec.back();", set()),
        ("m = torch::jit::load(p);", {Topic.LOAD}),
        ("torch::inductor::AOTIModelPackageLoader l(p);", {Topic.LOAD}),
        ("yaml::load(p);", set()),
        ("net->forward(x);", {Topic.RUN}),
        ("auto y = std::forward<T>(x);", set()),
        ("at::Tensor x;", {Topic.TENSOR}),
        ("// loss.backward(); torch::jit::load(p);", set()),
        ('log("TORCH_LIBRARY(ns, m)");', set()),
    ],
)
def test_what_a_file_is_about(code: str, topics: set[Topic]) -> None:
    assert set(summarize_cpp(decode(code.encode(), "a.cpp")).mentions) == topics


def test_a_topic_is_counted_and_its_first_place_kept() -> None:
    text = "\nvoid f() {\n  net->forward(x);\n  net->forward(y);\n}\n"
    mention = summarize_cpp(decode(text.encode(), "a.cpp")).mentions[Topic.RUN]
    assert (mention.times, mention.row, mention.text) == (2, 3, "forward")
