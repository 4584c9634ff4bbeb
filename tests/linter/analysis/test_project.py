"""What a project answers: who calls, registers, inherits and uses, in one file and across files."""

from __future__ import annotations

import pytest

from cpp_snippets import facts_of, snippet
from guardfix.linter.analysis.project import Project
from guardfix.linter.answered_once import answered_once
from guardfix.linter.facts import Facts

SCALE = "at::Tensor scale(const at::Tensor& x) { return at::relu(x); }\n"
IMPL = 'TORCH_LIBRARY_IMPL(ns, {}, m) {{ m.impl("scale", {}); }}\n'


@pytest.mark.parametrize(
    ("text", "others", "expected"),
    [
        pytest.param(
            SCALE + "void f() { scale(x); scale(y); }", [], [("ops.cpp", "f"), ("ops.cpp", "f")], id="two calls"
        ),
        pytest.param(SCALE, ["void f() { scale(x); }"], [("other1.cpp", "f")], id="in another file"),
        pytest.param(SCALE.replace("at::relu(x)", "scale(x)"), [], [], id="its own body does not count"),
        pytest.param(SCALE, [SCALE + "void f() { scale(x); }"], [], id="another file's own function of that name"),
        pytest.param(
            "namespace a { " + SCALE + "}", ["void f() { a::scale(x); }"], [("other1.cpp", "f")], id="qualified"
        ),
        pytest.param(
            "namespace a { " + SCALE + "}", ["void f() { scale(x); }"], [("other1.cpp", "f")], id="unqualified"
        ),
        pytest.param("namespace a { " + SCALE + "}", ["void f() { b::scale(x); }"], [], id="of another namespace"),
        pytest.param(
            "struct A { " + SCALE + "};", ["void f(A a) { a.scale(x); }"], [("other1.cpp", "f")], id="a method"
        ),
        pytest.param(SCALE, ["void f() { scales(x); }"], [], id="another name"),
    ],
)
def test_callers_of(text: str, others: list[str], expected: list[tuple[str, str]]) -> None:
    found = snippet(text, *others)
    callers = found.project.callers_of(found.facts, found.function("scale"))
    assert [(where.path, where.functions[call.function or 0].name) for where, call, _ in callers] == expected


@pytest.mark.parametrize(
    ("text", "others", "expected"),
    [
        pytest.param(SCALE + IMPL.format("Autograd", "scale"), [], [("ops.cpp", "Autograd")], id="in the same file"),
        pytest.param(SCALE, [IMPL.format("CUDA", "&scale")], [("other1.cpp", "CUDA")], id="in another file"),
        pytest.param(SCALE, [IMPL.format("CPU", "TORCH_FN(scale)")], [("other1.cpp", "CPU")], id="by TORCH_FN"),
        pytest.param(SCALE, [IMPL.format("CPU", "other")], [], id="another function"),
        pytest.param("namespace a { " + SCALE + "}", [IMPL.format("CPU", "a::scale")], [("other1.cpp", "CPU")], id="qualified"),
        pytest.param("namespace a { " + SCALE + "}", [IMPL.format("CPU", "b::scale")], [], id="of another namespace"),
        pytest.param(SCALE, [SCALE + IMPL.format("CPU", "scale")], [], id="a file that has its own registers its own"),
        pytest.param(
            SCALE,
            [IMPL.format("CPU", "scale"), IMPL.format("Autograd", "scale")],
            [("other1.cpp", "CPU"), ("other2.cpp", "Autograd")],
            id="in two files",
        ),
        pytest.param("struct Net { " + SCALE + "};", [IMPL.format("CPU", "scale")], [], id="a free function, not a method"),
        pytest.param(
            "struct Net { " + SCALE + "};", [IMPL.format("CPU", "&Net::scale")], [("other1.cpp", "CPU")], id="a method by its class"
        ),
        pytest.param(
            "at::Tensor Net::scale(at::Tensor x) { return x; }",
            [IMPL.format("CPU", "scale")],
            [],
            id="a method whose class stands in a header that was not read",
        ),
    ],
)  # fmt: skip
def test_registrations_of(text: str, others: list[str], expected: list[tuple[str, str]]) -> None:
    found = snippet(text, *others)
    registrations = found.project.registrations_of(found.facts, found.function("scale"))
    assert [(where.path, registration.key) for where, registration, _ in registrations] == expected


@pytest.mark.parametrize(
    ("registered", "expected"),
    [
        pytest.param("Scale", ["Autograd"], id="the functor"),
        pytest.param("Other", [], id="another functor"),
    ],
)
def test_a_functor_is_registered_by_its_class(registered: str, expected: list[str]) -> None:
    found = snippet(
        "struct Scale { at::Tensor operator()(at::Tensor x) { return at::relu(x); } };\n"
        'static auto registry = torch::RegisterOperators().op("ns::scale",'
        f" torch::RegisterOperators::options().kernel<{registered}>(c10::DispatchKey::Autograd));\n"
    )
    registrations = found.project.registrations_of(found.facts, found.function("operator()"))
    assert [registration.key for _, registration, _ in registrations] == expected


FORWARD = "static at::Tensor forward({}) {{ return at::relu(x); }}"


@pytest.mark.parametrize(
    ("text", "others", "name", "expected"),
    [
        pytest.param(
            f"struct F : torch::autograd::Function<F> {{ {FORWARD.format('C* ctx, at::Tensor x')} }};",
            [], "forward", "forward", id="in the class",
        ),
        pytest.param(
            f"struct F : Function<F> {{ {FORWARD.format('C* ctx, at::Tensor x')} }};", [], "forward", "forward",
            id="by the class's own name in its base",
        ),
        pytest.param(
            f"struct F : Function<int> {{ {FORWARD.format('C* ctx, at::Tensor x')} }};", [], "forward", None,
            id="another template called Function",
        ),
        pytest.param(
            f"struct M : torch::nn::Module {{ {FORWARD.format('at::Tensor x')} }};", [], "forward", None, id="a module",
        ),
        pytest.param(
            '#include "other1.h"\nat::Tensor F::forward(C* ctx, at::Tensor x) { return at::relu(x); }',
            ["#pragma once\nstruct F : torch::autograd::Function<F> { static at::Tensor forward(C*, at::Tensor); };"],
            "forward", "forward", id="defined outside, the class in another file",
        ),
        pytest.param(
            "at::Tensor F::forward(C* ctx, at::Tensor x) { return at::relu(x); }",
            ["struct F : torch::autograd::Function<F> { static at::Tensor forward(C*, at::Tensor); };"],
            "forward", None, id="defined outside, a class in a file that it can't include",
        ),
        pytest.param(
            '#include "other1.h"\nat::Tensor F::forward(C* ctx, at::Tensor x) { return at::relu(x); }',
            ["#pragma once\nstruct F : torch::nn::Module { at::Tensor forward(at::Tensor); };"],
            "forward", None, id="defined outside, a module in another file",
        ),
        pytest.param(
            FORWARD.format("torch::autograd::AutogradContext* ctx, at::Tensor x").replace("static ", ""),
            [], "forward", "forward", id="whoever takes the context",
        ),
        pytest.param(
            f"struct B : F {{ {FORWARD.format('C* ctx, at::Tensor x')} }};",
            ["#pragma once\nstruct F : torch::autograd::Function<F> {};"], "forward", "forward",
            id="a class that derives from one",
        ),
        pytest.param(
            "struct F : torch::autograd::Function<F> { static int helper(int x) { return x; } };",
            [], "helper", "helper", id="another method",
        ),
        pytest.param("int helper(int x) { return x; }", [], "helper", None, id="a free function"),
    ],
)  # fmt: skip
def test_autograd_method(text: str, others: list[str], name: str, expected: str | None) -> None:
    found = snippet(text, *others)
    assert found.project.autograd_method(found.facts, found.function(name)) == expected


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        pytest.param("void f() { Guards g; }", ["declaration"], id="a variable"),
        pytest.param("struct More { Guards g; };", ["member"], id="a member"),
        pytest.param("struct Guards { Guards(int); };", [], id="inside the class itself"),
        pytest.param("void f() { Others g; }", [], id="another class"),
    ],
)
def test_mentions(other: str, expected: list[str]) -> None:
    found = snippet("struct Guards { at::AutoNonVariableTypeMode old{true}; };", other, watched=("Guards",))
    assert [use.form.value for _, use in found.project.mentions("Guards")] == expected


def test_an_alias_of_a_guard_is_that_guard_in_every_file() -> None:
    alias, user = "#pragma once\nusing Old = at::AutoNonVariableTypeMode;", "void f() { Old g; }"
    found = snippet(user, alias, watched=("Old",))
    assert [(use.guard, use.alias) for use in found.facts.guard_uses] == [("AutoNonVariableTypeMode", "Old")]
    assert [(facts.path, use.form.value) for facts, use in found.project.mentions("Old")] == [
        ("ops.cpp", "declaration")
    ]
    assert [facts.path for facts, _ in found.project.alias_uses("Old")] == ["other1.h"]
    two_meanings = snippet(user, alias, "#pragma once\nusing Old = at::NoGradGuard;", watched=("Old",))
    assert [use.guard for use in two_meanings.facts.guard_uses] == ["Old"]


def test_invocations_of_a_macro_are_found_in_every_file() -> None:
    macro = "#define OP(name) void name() { at::AutoNonVariableTypeMode g(true); work(); }\n"
    others = ('#include "ops.h"\nOP(two);', "OTHER(three);")
    found = snippet(macro + "OP(one);", *others, path="ops.h", watched=("OP",))
    invoked = found.project.invocations_of("OP", found.facts)
    assert [invocation.arguments for _, invocation in invoked] == [("one",), ("two",)]
    assert found.project.invocations_of("OTHER", found.facts) == []


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        pytest.param(
            "namespace own { struct InferenceMode { int x; }; }", ["own::InferenceMode"], id="a project's own"
        ),
        pytest.param("namespace c10 { struct InferenceMode { int x; }; }", [], id="PyTorch's"),
        pytest.param("namespace own { struct Mode { int x; }; }", [], id="another class"),
    ],
)
def test_classes_of_a_guards_name(other: str, expected: list[str]) -> None:
    project = snippet("void f() {}", other).project
    assert ["::".join(class_.qualified) for _, class_ in project.defined_elsewhere("InferenceMode")] == expected


class Remembered(dict[str, int]):
    """What a consumer keeps."""


class Other(dict[str, int]):
    """What another one keeps."""


def test_each_consumer_has_a_memory_of_its_own_as_long_as_the_project_lives() -> None:
    project = Project([facts_of("void f() {}")])
    project.memory(Remembered)["answer"] = 42
    assert project.memory(Remembered) == {"answer": 42}
    assert project.memory(Other) == {}
    assert project.joined([]).memory(Remembered) == {"answer": 42}  # nothing has joined it
    assert project.joined(asked=["f"]).memory(Remembered) == {}
    assert project.joined([facts_of("void g() {}", "b.cpp")]).memory(Remembered) == {}


def test_what_one_file_says_is_remembered_as_long_as_it_says_the_same() -> None:
    first, second = facts_of("void f() {}", "a.cpp"), facts_of("void g() {}", "b.cpp")
    asked = []

    @answered_once
    def names(facts: Facts, prefix: str) -> list[str]:
        asked.append(facts.path)
        return [prefix + function.name for function in facts.functions]

    project = Project([first, second])
    joined = project.joined([facts_of("void h() {}", "b.cpp"), facts_of("void i() {}", "c.cpp")])
    for state in (project, project, joined):
        assert names(state.files["a.cpp"], "own ") == names(first, "own ") == ["own f"]
    assert names(first, "other ") == names(first, prefix="other ") == ["other f"]
    assert asked == ["a.cpp"] * 3  # not again for the project that it joined


def test_newer_facts_take_the_place_of_older_ones() -> None:
    old, new = facts_of("void f() {}", "a.cpp"), facts_of("void g() {}", "a.cpp")
    joined = Project([old], minimum_torch="2.1").joined([new])
    assert [function.name for facts in joined for function in facts.functions] == ["g"]
    assert joined.minimum_torch == "2.1"
