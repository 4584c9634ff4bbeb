"""`decide` on whole snippets: the context, how sure it is, and on which signals; and what must be asked of other files."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from cpp_snippets import OLD, snippet
from decided_trees import GUARD, answer
from guardfix.linter.decision import POLICY, decide, open_questions
from guardfix.linter.facts import Form
from guardfix.linter.findings import Side

OP = "at::Tensor scale(const at::Tensor& self) { GUARD; return at::relu(self); }\n"
UNDER_AUTOGRAD = 'TORCH_LIBRARY_IMPL(ns, Autograd, m) { m.impl("scale", scale); }\n'
STRUCT = "struct Guards { torch::AutoGradMode off{false}; at::AutoNonVariableTypeMode old{true}; };\n"
PLAIN_STRUCT = "struct Guards { at::AutoNonVariableTypeMode old{true}; };\n"
WORKLOAD = "at::Tensor run(at::Tensor x) { Guards g; return module.forward({x}).toTensor(); }\n"
LOADED = (
    'at::Tensor run(at::Tensor x) { Guards g; auto module = torch::jit::load("m.pt"); return module.forward({x}); }\n'
)
KERNEL = "at::Tensor scale(const at::Tensor& self) { Guards g; return at::relu(self); }\n" + UNDER_AUTOGRAD
UNCLEAR = "at::Tensor other(at::Tensor x) { Guards g; return work(x); }\n"
ALIAS = "using Old = at::AutoNonVariableTypeMode;\n"
MACRO = "#define OP(name) at::Tensor name(const at::Tensor& x) { at::AutoNonVariableTypeMode g(true); return at::name(x); }\n"
FACTORY = "at::Tensor make() { GUARD; return at::empty({2}); }\n"
SERVE = 'at::Tensor serve() { auto module = torch::jit::load("m.pt"); return module.forward({make()}); }\n'


@pytest.mark.parametrize(
    ("text", "expected", "because"),
    [
        pytest.param(OP + UNDER_AUTOGRAD, "kernel high", ["registered-under-autograd"], id="a registered kernel"),
        pytest.param(OP, "unknown low", [], id="the same without a registration"),
        pytest.param(
            "at::Tensor f(at::Tensor x) { GUARD; torch::NoGradGuard off; return module.forward({x}).toTensor(); }",
            "inference high",
            ["runs-model", "gradients-off"],
            id="a workload",
        ),
        pytest.param(
            "at::Tensor f(at::Tensor x) { GUARD; auto y = module.forward({x}); optimizer.step(); return y; }",
            "unknown low",
            ["runs-model", "trains"],
            id="a training step",
        ),
        pytest.param(FACTORY, "below_autograd low", ["only-makes-tensor"], id="a factory"),
        pytest.param(
            FACTORY + SERVE,
            "unknown low",
            ["called-from-workload", "only-makes-tensor", "file-loads-model"],
            id="a factory that a workload calls",
        ),
        pytest.param(
            "at::Tensor f(at::Tensor x) { auto y = at::relu(x); GUARD; return y; }",
            "remove medium",
            ["covers-only-returns"],
            id="a guard that covers nothing",
        ),
        pytest.param(
            STRUCT + LOADED,
            "inference high",
            ["loads-model", "runs-model", "gradients-off", "file-loads-model"],
            id="a struct",
        ),
    ],
)
def test_a_use_is_decided(text: str, expected: str, because: list[str]) -> None:
    found = snippet(text)
    decision = decide(found.use(), found.facts, found.project)
    assert f"{decision.context.value} {decision.confidence.value}" == expected
    assert sorted({evidence.signal for evidence in decision.evidence}) == sorted(because)


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        pytest.param([LOADED], "inference high", id="one place, surely inference"),
        pytest.param([LOADED, UNCLEAR], "inference medium", id="an unclear place lowers what is sure"),
        pytest.param([WORKLOAD, UNCLEAR], "inference medium", id="and leaves what is not"),
        pytest.param([LOADED, KERNEL], "unknown low", id="two places that want different guards"),
        pytest.param([KERNEL], "kernel high", id="a kernel"),
        pytest.param([UNCLEAR], "unknown low", id="an unclear place alone"),
        pytest.param([], "unknown low", id="no place at all"),
    ],
)
def test_a_struct_of_guards_is_what_its_places_are(places: list[str], expected: str) -> None:
    users = [f'#include "ops.h"\n{place}' for place in places]
    found = snippet(PLAIN_STRUCT, *users, path="ops.h", watched=("Guards",))
    decision = decide(found.use(), found.facts, found.project)
    assert f"{decision.context.value} {decision.confidence.value}" == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            ALIAS + 'at::Tensor f(at::Tensor x) { Old g; auto m = torch::jit::load("m"); return m.forward({x}); }',
            "inference high",
            id="an alias",
        ),
        pytest.param(
            ALIAS + "at::Tensor f(at::Tensor x) { Old g; return work(x); }", "unknown low", id="of no clear use"
        ),
    ],
)
def test_an_alias_is_what_its_places_are(text: str, expected: str) -> None:
    found = snippet(text)
    (use,) = [use for use in found.facts.guard_uses if use.form is Form.ALIAS]
    decision = decide(use, found.facts, found.project)
    assert f"{decision.context.value} {decision.confidence.value}" == expected


@pytest.mark.parametrize(
    ("invocations", "expected"),
    [
        pytest.param(
            'OP(relu);\nTORCH_LIBRARY_IMPL(ns, Autograd, m) { m.impl("relu", relu); }', "kernel high", id="a kernel"
        ),
        pytest.param(
            'OP(relu);\nTORCH_LIBRARY_IMPL(ns, Autograd, m) { m.impl("relu", gelu); }', "unknown low", id="another"
        ),
        pytest.param(
            'OP(view);\nTORCH_LIBRARY_IMPL(ns, Autograd, m) { m.impl("view", view); }',
            "below_autograd high",
            id="a kernel of a view op",
        ),
    ],
)
def test_a_macro_is_what_the_functions_are_that_it_makes(invocations: str, expected: str) -> None:
    found = snippet(MACRO + invocations)
    decision = decide(found.use(), found.facts, found.project)
    assert f"{decision.context.value} {decision.confidence.value}" == expected


@pytest.mark.parametrize(
    ("path", "text", "replacement"),
    [
        pytest.param("ops.cpp", OP + UNDER_AUTOGRAD, "at::AutoDispatchBelowADInplaceOrView", id="a kernel in C++"),
        pytest.param("ops.cpp", OP, None, id="unknown in C++"),
        pytest.param(
            "ops.py",
            f"import torch\ndef predict(x):\n    with torch.no_grad(), torch.{OLD}():\n        return model.forward(x)\n",
            "torch.inference_mode()",
            id="inference in Python",
        ),
        pytest.param(
            "ops.py", f"import torch\ndef f(x):\n    with torch.{OLD}():\n        return g(x)\n", None, id="unknown"
        ),
    ],
)
def test_the_replacement_is_spelled_in_the_files_language(path: str, text: str, replacement: str | None) -> None:
    found = snippet(text, path=path, watched=("everything",) if path.endswith(".cpp") else ())
    assert decide(found.use(), found.facts, found.project).replacement == replacement


def test_the_heaviest_evidence_comes_first_and_names_its_signal() -> None:
    found = snippet("namespace at::native { " + OP + "}\n" + UNDER_AUTOGRAD)
    evidence = decide(found.use(), found.facts, found.project).evidence
    assert [(e.signal, e.side) for e in evidence] == [
        ("registered-under-autograd", Side.KERNEL),
        ("in-op-namespace", Side.KERNEL),
    ]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        pytest.param(
            ("namespace at::native { " + OP + "}\n", UNDER_AUTOGRAD),
            ["in-op-namespace", "registered-under-autograd"],
            id="the reason in the same file comes before a heavier one elsewhere",
        ),
        pytest.param(
            ("at::Tensor scale(at::Tensor x) { GUARD; return model.forward({x}).toTensor(); }\n", UNDER_AUTOGRAD),
            ["registered-under-autograd", "runs-model"],
            id="a reason for the decision comes before one against it",
        ),
        pytest.param(
            (
                "at::Tensor helper(at::Tensor x) { GUARD; return x * c10::DispatchKeySet(op.redispatch(x)).size(); }\n",
                'void f(at::Tensor x) { auto m = torch::jit::load("m.pt"); helper(x); }\n',
            ),
            ["calls-dispatcher", "called-from-workload"],
            id="where nothing is decided, the one in the same file comes first",
        ),
    ],
)
def test_the_nearest_evidence_comes_first(texts: tuple[str, ...], expected: list[str]) -> None:
    found = snippet(*texts)
    evidence = decide(found.use(), found.facts, found.project).evidence
    assert [one.signal for one in evidence] == expected


def test_evidence_says_on_which_side_it_is() -> None:
    found = snippet("at::Tensor f(at::Tensor x) { GUARD; optimizer.step(); return module.forward({x}); }")
    decision = decide(found.use(), found.facts, found.project)
    assert [decision.reason(evidence).split(":")[0] for evidence in decision.evidence] == [
        "for inference",
        "against inference",
    ]
    found = snippet(OP.replace("return", "module.forward({self}); return") + UNDER_AUTOGRAD)
    decision = decide(found.use(), found.facts, found.project)
    assert [decision.reason(evidence).split(":")[0] for evidence in decision.evidence] == [
        "for kernel",
        "but for inference",
    ]


def test_a_decision_is_made_once_for_each_project_and_policy() -> None:
    found = snippet(FACTORY)
    use, facts, project = found.use(), found.facts, found.project
    first = decide(use, facts, project)
    assert decide(use, facts, project) is first
    stricter = decide(use, facts, project, replace(POLICY, least_score=3))
    assert (first.context.value, stricter.context.value) == ("below_autograd", "unknown")
    assert decide(use, facts, project) is first
    assert decide(use, facts, project.joined([])) is first
    assert decide(use, facts, project.joined(asked=["relu"])) is not first


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        pytest.param("a.cpp", OP, {"scale"}, id="an undecided function may be registered or called anywhere"),
        pytest.param("a.cpp", "static " + OP, set(), id="a static one may not"),
        pytest.param("a.cpp", OP + UNDER_AUTOGRAD, set(), id="a decided kernel asks nothing"),
        pytest.param(
            "a.cpp",
            'at::Tensor run(at::Tensor x) { GUARD; auto m = torch::jit::load("m"); return m.forward({x}); }',
            {"run"},
            id="a sure workload may yet be registered as an op",
        ),
        pytest.param(
            "a.cpp",
            'void run(std::string x) { GUARD; auto m = torch::jit::load("m"); m.forward({x}); }',
            set(),
            id="not without tensors",
        ),
        pytest.param("a.cpp", "int main() { GUARD; work(); }", set(), id="nobody calls main"),
        pytest.param("a.cpp", "TEST(A, B) { GUARD; work(); }", set(), id="nor a test"),
        pytest.param(
            "a.cpp",
            "struct Add { at::Tensor operator()(at::Tensor x) { GUARD; return at::relu(x); } };",
            {"Add"},
            id="a functor is registered by its class",
        ),
        pytest.param("a.h", PLAIN_STRUCT, {"Guards"}, id="a struct in a header"),
        pytest.param("a.cpp", PLAIN_STRUCT, set(), id="a struct in a source file is seen there alone"),
        pytest.param("a.h", ALIAS, {"Old"}, id="an alias in a header"),
        pytest.param("a.cpp", MACRO + "OP(relu);", {"relu"}, id="the functions that a macro makes"),
        pytest.param("a.h", MACRO + "OP(relu);", {"OP", "relu"}, id="and in a header the macro"),
    ],
)
def test_what_is_asked_of_other_files(path: str, text: str, expected: set[str]) -> None:
    found = snippet(text, path=path)
    (use, *_) = [use for use in found.facts.guard_uses if use.guard == OLD]
    assert open_questions(use, found.facts, found.project) == expected


@pytest.mark.parametrize(
    ("behind", "expected"),
    [
        ("  return x;\n", "remove"),
        ("  WORK\n  return x;\n", "kernel"),
        ('#include "work.inc"\n  return x;\n', "kernel"),
    ],
)
def test_what_the_parser_does_not_understand_may_compute(behind: str, expected: str, tmp_path: Path) -> None:
    kernel = f"at::Tensor blend(const at::Tensor& x) {{\n  {GUARD}\n{behind}}}\n"
    registers = 'TORCH_LIBRARY_IMPL(my, Autograd, m) { m.impl("blend", blend); }\n'
    files = {"a.cpp": "#include <torch/torch.h>\n" + kernel + registers}
    assert answer(tmp_path, "a.cpp", files).context == expected
