"""What is done behind a call: through members, overrides, constructors, lambdas and threads; and what is not."""

from __future__ import annotations

from itertools import permutations

import pytest

from cpp_snippets import facts_of, snippet
from guardfix.linter.analysis.call_graph import call_graph, effects_below
from guardfix.linter.analysis.function_outlines import CallEffect
from guardfix.linter.analysis.project import Project
from guardfix.linter.analysis.project_summary import ProjectSummary
from guardfix.linter.facts import Facts
from guardfix.linter.facts.file_summary import FileSummary

RUNS = "module_.forward({x})"
MODEL = "struct Model { at::Tensor infer(at::Tensor x) { return module_.forward({x}).toTensor(); } torch::Module module_; };\n"
TABLE = "struct Table { int infer(int x) { return rows_[x]; } std::vector<int> rows_; };\n"


def use(code: str, members: str = "") -> str:
    return f"struct User {{ void f(at::Tensor x) {{ GUARD; {code} }} {members} }};\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("void g(T x) { " + RUNS + "; }" + use("g(x);"), "run", id="a function"),
        pytest.param("void h(T x) { " + RUNS + "; } void g(T x) { h(x); }" + use("g(x);"), "run", id="two steps"),
        pytest.param("void g(T x) { if (x) g(x); h(x); } void h(T x) { g(x); }" + use("g(x);"), "", id="recursion"),
        pytest.param(MODEL + use("model_->infer(x);", "std::unique_ptr<Model> model_;"), "run", id="a member pointer"),
        pytest.param(MODEL + TABLE + use("rows_.infer(1);", "Table rows_;"), "", id="a namesake of another class"),
        pytest.param(
            MODEL + TABLE + use("models_[0]->infer(x);", "std::vector<Model*> models_;"), "run", id="an element"
        ),
        pytest.param(
            MODEL + TABLE + use("auto m = std::make_unique<Model>(); m->infer(x);"), "run", id="a local object"
        ),
        pytest.param(MODEL + TABLE + use("other->infer(x);"), "", id="not all namesakes of an unknown object do it"),
        pytest.param(MODEL + use("other->infer(x);"), "run", id="the only namesake of an unknown object"),
        pytest.param(
            "struct Base { virtual void run(T x) = 0; };\n"
            "struct Net : Base { void run(T x) override { " + RUNS + "; } };\n" + use("base_->run(x);", "Base* base_;"),
            "run",
            id="an override",
        ),
        pytest.param(
            'struct Base { virtual void run(T x) { throw std::logic_error("no"); } };\n'
            "struct Net : Base { void run(T x) override { " + RUNS + "; } };\n" + use("base_->run(x);", "Base* base_;"),
            "run",
            id="an override of a method that only throws",
        ),
        pytest.param(
            "struct Base { virtual void run(T x) { a(x); b(x); } };\nvoid a(T x) {} void b(T x) {}\n"
            "struct One : Base { void run(T x) override { a(x); } };\nstruct Two : Base { void run(T x) override { b(x); } };\n"
            "struct Net : Base { void run(T x) override { " + RUNS + "; } };\n" + use("base_->run(x);", "Base* base_;"),
            "",
            id="one override of many",
        ),
        pytest.param(
            "class Net::Impl { public: void run(T x) { " + RUNS + "; } };\n"
            "struct Net { void f(T x) { GUARD; impl_->run(x); } std::unique_ptr<Impl> impl_; };",
            "run",
            id="a pimpl",
        ),
        pytest.param(
            "struct Holder { Holder(std::string p) { module_ = torch::jit::load(p); } };\n"
            + use("Holder holder(path);"),
            "load",
            id="a constructor",
        ),
        pytest.param(
            "struct Holder { Holder(std::string p) : module_(open(p)) {} };\n"
            "torch::Module open(std::string p) { return torch::jit::load(p); }\n"
            + use("holders_.push_back(std::make_unique<Holder>(path));"),
            "load",
            id="a constructor's initialiser, two steps away",
        ),
        pytest.param(
            "struct Holder { Holder(std::string p) { module_ = torch::jit::load(p); } };\n"
            + use("h_ = new Holder(path);"),
            "load",
            id="new",
        ),
        pytest.param(
            "struct User { void f(T x) { auto g = [&] { " + RUNS + "; }; GUARD; g(); } };",
            "run",
            id="a lambda in a variable",
        ),
        pytest.param(
            "struct User { User() { step_ = [this](T x) { " + RUNS + "; }; } void f(T x) { GUARD; step_(x); } };",
            "run",
            id="a stored callback",
        ),
        pytest.param(
            "struct User { void loop() { "
            + RUNS
            + "; } void f(T x) { GUARD; thread_ = std::thread(&User::loop, this); } };",
            "run",
            id="a thread that is started",
        ),
        pytest.param("void g(T loss) { loss.backward(); }" + use("g(x);"), "train", id="training"),
        pytest.param("void g(T x) { at::relu(x); }" + use("g(x);"), "", id="ops"),
        pytest.param(
            "struct F : torch::autograd::Function<F> { static T forward(C* ctx, T x) { return at::relu(x); } };\n"
            + use("F::apply(x);"),
            "",
            id="an autograd Function's forward is not a model",
        ),
        pytest.param(
            "struct NetImpl : torch::nn::Module { T go(T x); };\n" + use("policy_(x);", "Net policy_;"),
            "run",
            id="a call of a module's holder",
        ),
        pytest.param(
            "struct Base : torch::nn::Module {}; struct Net : Base {};\n"
            + use("(*net)(x);", "std::shared_ptr<Net> net;"),
            "run",
            id="a call of a class that derives from a module's",
        ),
        pytest.param("struct Net { T go(T x); };\n" + use("net(x);", "Net net;"), "", id="a call of another class"),
        pytest.param(
            "struct Codec { void f(T x); torch::jit::Module analysis_; };\nvoid Codec::f(T x) { GUARD; analysis_(x); }",
            "run",
            id="a module that is a member",
        ),
        pytest.param(
            MODEL + TABLE + use("auto a = Model(); auto b = a; auto c = b; c.infer(x);"), "run", id="a copy of a copy"
        ),
        pytest.param(MODEL + TABLE + use("auto a = b; auto b = a; b.infer(x);"), "", id="copies of each other"),
        pytest.param(
            MODEL + TABLE + use("".join(f"auto m{n + 1} = m{n};" for n in range(2000)) + "m2000.infer(x);"),
            "",
            id="a copy after 2000 copies",
        ),
        pytest.param("void size(T x) { " + RUNS + "; }" + use("x.size(0);"), "", id="a method that every object has"),
    ],
)
def test_what_is_done_behind_a_call(text: str, expected: str) -> None:
    found = snippet(text.replace("T x", "at::Tensor x").replace("T loss", "at::Tensor loss"))
    use_ = found.use()
    effects = effects_below(found.project, found.facts, use_.live, use_.function)
    names = {CallEffect.RUN: "run", CallEffect.LOAD: "load", CallEffect.TRAIN: "train"}
    assert " ".join(names[effect] for effect in effects) == expected


def asked(project: Project, facts: Facts) -> tuple[dict[CallEffect, tuple[str, str]], set[str]]:
    """(what is done behind the calls of the file's use, and in which function; what would have to be read)."""
    (use_,) = facts.guard_uses
    found = effects_below(project, facts, use_.live, use_.function)
    return {effect: (one.through, one.doer) for effect, one in found.items()}, call_graph(project).wanted


JOINING = [
    pytest.param("helper(x);", ["void helper(T x) { run(x); }", "void run(T x) { " + RUNS + "; }"], id="functions"),
    pytest.param("other->infer(x);", [MODEL, TABLE], id="a namesake of another class"),
    pytest.param("model_->infer(x);", [MODEL, TABLE, "struct Other : Model { void infer(T x) {} };"], id="overrides"),
    pytest.param(
        "Runner r; r.go(x);",
        ["using Runner = Model;", MODEL.replace("infer", "go"), "struct Runner { void go(T x) {} };"],
        id="an alias that is a class as well",
    ),
    pytest.param(
        "part_->go(x); Part p; p.go(x);",
        ["struct Part { void go(T x) { net(x); } Net net; };", "struct Net : torch::nn::Module { int n; };", TABLE],
        id="a member's class that another file makes a model",
    ),
    pytest.param(
        "Foreign f; f.go(x); g(x);",
        [
            "void g(T x) { Foreign a; a.go(x); ns::Foreign b; b.go(x); }",
            "struct Any { void go(T x) { " + RUNS + "; } };",
        ],
        id="a type that nobody defines",
    ),
]


@pytest.mark.parametrize(("code", "texts"), JOINING)
def test_files_that_join_say_what_they_say_from_the_start(code: str, texts: list[str]) -> None:
    first = facts_of(use(code, "std::unique_ptr<Model> model_; Part* part_;").replace("T x", "at::Tensor x"))
    others = [facts_of(text.replace("T x", "at::Tensor x"), f"other{n}.cpp") for n, text in enumerate(texts)]
    empty = [facts_of("void unrelated(int n) {}\n", facts.path) for facts in others]
    summary = ProjectSummary(
        [FileSummary("unread.cpp", frozenset({"helper", "infer", "go", "g", "run"}), frozenset({"Net", "Part"}))]
    )
    for order in permutations(range(len(others))):
        project = Project([first, *empty])
        asked(project, first)
        for number in order:
            project = project.joined([others[number]])
            assert asked(project, first) == asked(Project(list(project)), first)
        project = project.joined(summary=summary)
        for number in order:  # and what they said is forgotten with them
            assert asked(project, first) == asked(Project(list(project), summary=summary), first)
            project = project.joined([empty[number]])
