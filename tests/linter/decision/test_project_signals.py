"""What a whole project says about a use, where nothing near it says anything; and what keeps it from saying so."""

from __future__ import annotations

import pytest

from cpp_snippets import snippet
from guardfix.linter.decision import decide

USE = "at::Tensor clean(at::Tensor x) { GUARD; return x.index({0}).clone(); }\n"
LOADS = 'void open() { module_ = torch::jit::load("m.pt"); }\n'
RUNS = "at::Tensor run(at::Tensor x) { return module_.forward({x}).toTensor(); }\n"
PLAIN = "int add(int a, int b) { return a + b; }\n"
TENSORS = "torch::Tensor norm(const torch::Tensor& x) { return x / x.sum(); }\n"
OP = 'TORCH_LIBRARY(ns, m) { m.def("scale", scale); }\n'
FUNCTION = "struct Scale : torch::autograd::Function<Scale> { int x; };\n"
TRAINS = "void step() { loss.backward(); optimizer.step(); }\n"
BINDING = 'PYBIND11_MODULE(ext, m) { m.def("norm", &norm); }\n'
IN_COMMENT = "// TORCH_LIBRARY(ns, m) registers nothing here\n"


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        pytest.param([LOADS, RUNS, PLAIN], "inference medium project-runs-models", id="it loads and runs a model"),
        pytest.param([RUNS, RUNS, PLAIN], "inference medium project-runs-models", id="it runs models that others load"),
        pytest.param(
            [LOADS, RUNS, IN_COMMENT], "inference medium project-runs-models", id="an op in a comment is none"
        ),
        pytest.param([LOADS, RUNS, OP], "unknown low", id="it registers ops"),
        pytest.param([LOADS, RUNS, FUNCTION], "unknown low", id="it has an autograd Function"),
        pytest.param([LOADS, RUNS, TRAINS], "unknown low", id="it computes gradients nearly as often"),
        pytest.param(
            [LOADS + RUNS * 10, PLAIN, TRAINS], "inference medium project-runs-models", id="gradients are rare"
        ),
        pytest.param(
            [TENSORS, PLAIN, PLAIN], "inference low project-without-gradients", id="a library without gradients"
        ),
        pytest.param([TENSORS, PLAIN], "unknown low", id="what three files lack says nothing"),
        pytest.param([TENSORS, PLAIN, BINDING], "unknown low", id="a library that Python calls, perhaps to train"),
        pytest.param([TENSORS, PLAIN, TRAINS], "unknown low", id="a library with gradients"),
        pytest.param([TENSORS, PLAIN, OP], "unknown low", id="a library of ops"),
        pytest.param([LOADS], "inference medium project-runs-models", id="its other file loads a model"),
        pytest.param([], "unknown low", id="one file isn't a project"),
    ],
)
def test_a_project_speaks_for_a_use(others: list[str], expected: str) -> None:
    found = snippet(USE, *others, summarized=True)
    decision = decide(found.use(), found.facts, found.project)
    names = [evidence.signal for evidence in decision.evidence]
    assert " ".join([decision.context.value, decision.confidence.value, *names]) == expected


@pytest.mark.parametrize(
    ("own", "others", "expected"),
    [
        pytest.param(RUNS, [OP], "inference low file-runs-model", id="its file runs a model"),
        pytest.param(RUNS * 10, [OP, TRAINS], "inference low file-runs-model", id="and the project hardly trains"),
        pytest.param(RUNS, [OP, TRAINS], "unknown low", id="the project trains"),
        pytest.param(RUNS + TRAINS, [OP], "unknown low", id="its file trains as well"),
        pytest.param(RUNS + FUNCTION, [LOADS], "unknown low", id="its file has an autograd Function"),
        pytest.param("", [RUNS, OP], "unknown low", id="another file runs a model"),
    ],
)
def test_a_file_speaks_for_a_use(own: str, others: list[str], expected: str) -> None:
    found = snippet(USE + own, *others, summarized=True)
    decision = decide(found.use(), found.facts, found.project)
    names = [evidence.signal for evidence in decision.evidence]
    assert " ".join([decision.context.value, decision.confidence.value, *names]) == expected


STEP = "struct Scheduler {{ void {}(at::Tensor x) {{ GUARD; emit(batches_.take(x)); }} }};\n"


@pytest.mark.parametrize(
    ("own", "others", "expected"),
    [
        pytest.param(
            STEP.format("step"), [OP, PLAIN, PLAIN], "inference medium project-is-engine", id="ops without gradients"
        ),
        pytest.param(STEP.format("step"), [OP, PLAIN], "unknown low", id="what three files lack"),
        pytest.param(
            STEP.format("step").replace("Scheduler", "Grid"), [OP, PLAIN, PLAIN], "unknown low", id="another class"
        ),
        pytest.param(STEP.format("step"), [OP, FUNCTION, PLAIN], "unknown low", id="an op with gradients"),
        pytest.param(
            STEP.format("step"),
            [OP.replace("(ns", "_IMPL(ns, Autograd"), PLAIN, PLAIN],
            "unknown low",
            id="a kernel of them",
        ),
        pytest.param(STEP.format("step"), [OP, TRAINS, PLAIN], "unknown low", id="a project that trains"),
        pytest.param(STEP.format("step"), [OP, BINDING, PLAIN], "unknown low", id="ops that Python may train with"),
    ],
)
def test_an_engine_speaks_for_a_use(own: str, others: list[str], expected: str) -> None:
    found = snippet(own, *others, summarized=True)
    decision = decide(found.use(), found.facts, found.project)
    names = [evidence.signal for evidence in decision.evidence]
    assert " ".join([decision.context.value, decision.confidence.value, *names]) == expected


def test_a_module_that_is_given_its_parameters_is_not_run() -> None:
    reset = "void NetImpl::reset() { GUARD; weight.uniform_(-1, 1); }\n"
    found = snippet(reset + RUNS, OP, summarized=True)
    assert decide(found.use(), found.facts, found.project).context.value == "unknown"


def test_a_project_says_nothing_beside_a_signal_of_the_place() -> None:
    kernel = "at::Tensor scale(c10::DispatchKeySet ks, const at::Tensor& x) { GUARD; return at::relu(x); }\n"
    found = snippet(kernel, LOADS, RUNS, summarized=True)
    decision = decide(found.use(), found.facts, found.project)
    assert (decision.context.value, [e.signal for e in decision.evidence]) == ("kernel", ["takes-dispatch-key-set"])


def test_what_a_project_vendors_says_nothing_about_it() -> None:
    from guardfix.linter.analysis.project_summary import ProjectSummary
    from guardfix.linter.facts.file_summary import Topic
    from guardfix.linter.files.sources import decode
    from guardfix.linter.frontends.cpp.cpp_file_summary import summarize_cpp

    file_summaries = [
        summarize_cpp(decode(text.encode(), path)) for path, text in (("third_party/ops.cpp", OP), ("a.cpp", LOADS))
    ]
    summary = ProjectSummary(file_summaries)
    assert (summary.files, summary.count(Topic.OP), summary.count(Topic.LOAD)) == (1, 0, 1)


def test_the_evidence_points_to_the_place_that_loads_a_model() -> None:
    found = snippet(USE, PLAIN, "\n\n" + LOADS, RUNS, summarized=True)
    (evidence,) = decide(found.use(), found.facts, found.project).evidence
    assert (evidence.path, evidence.row) == ("other2.cpp", 3)
    assert evidence.message == (
        "the project loads models (`jit::load`) and defines no ops: none of its 4 files registers a kernel or writes an "
        "autograd Function, and no gradient is computed"
    )
