"""What a whole project says about a use, where nothing near it says anything; and what keeps it from saying so."""

from __future__ import annotations

from pathlib import Path

import pytest

from cpp_snippets import snippet
from decided_trees import answer
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


PLAIN_FILES = {"src/a.cpp": PLAIN, "src/b.cpp": PLAIN}
TARGETS = "add_library(run src/use.cpp src/a.cpp src/b.cpp)\nadd_library(other other/other.cpp)\n"
APP = "add_subdirectory(app)\n", "add_executable(app main.cpp)\ntarget_link_libraries(app run other)\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param({"src/c.cpp": RUNS, **PLAIN_FILES}, "inference medium", id="its program runs models"),
        pytest.param({"other/other.cpp": RUNS, **PLAIN_FILES}, "inference medium", id="nothing sets the folders apart"),
        pytest.param({"CMakeLists.txt": TARGETS, "other/other.cpp": RUNS, **PLAIN_FILES}, "unknown low", id="another target"),
        pytest.param(
            {
                "CMakeLists.txt": TARGETS + APP[0],
                "app/CMakeLists.txt": APP[1],
                "app/main.cpp": PLAIN,
                "other/other.cpp": RUNS,
                **PLAIN_FILES,
            },
            "inference medium",
            id="both are linked into a third, in another folder",
        ),
        pytest.param({"tests/t.cpp": RUNS, **PLAIN_FILES}, "unknown low", id="a test runs models"),
        pytest.param({"third_party/t.cpp": RUNS, **PLAIN_FILES}, "unknown low", id="a vendored library"),
        pytest.param({"src/a.cpp": PLAIN, "src/b.cpp": PLAIN, "src/c.cpp": TENSORS}, "inference low", id="four files"),
        pytest.param(
            {
                "CMakeLists.txt": "add_library(run src/use.cpp src/a.cpp)\nadd_library(other other/other.cpp other/b.cpp)\n",
                "src/a.cpp": PLAIN,
                "other/other.cpp": PLAIN,
                "other/b.cpp": PLAIN,
            },
            "unknown low",
            id="of four files two are of another target",
        ),
        pytest.param({"tests/t.cpp": PLAIN, **PLAIN_FILES}, "unknown low", id="one of them is a test"),
        pytest.param(
            {"CMakeLists.txt": TARGETS, "other/other.cpp": OP + TRAINS, "src/c.cpp": RUNS, **PLAIN_FILES},
            "inference medium",
            id="another target has ops and gradients",
        ),
        pytest.param(
            {"tests/t.cpp": OP, "src/c.cpp": RUNS, **PLAIN_FILES}, "inference medium", id="a test has ops of its own"
        ),
        pytest.param({"tests/t.cpp": TRAINS, "src/c.cpp": RUNS, **PLAIN_FILES}, "unknown low", id="a test differentiates"),
    ],
)  # fmt: skip
def test_only_files_of_the_same_program_count(files: dict[str, str], expected: str, tmp_path: Path) -> None:
    use = USE.replace("GUARD", "at::AutoNonVariableTypeMode guard(true)")
    found = answer(tmp_path, "src/use.cpp", {"src/use.cpp": use, **files})
    assert f"{found.context} {found.confidence}" == expected


def test_the_evidence_points_to_the_place_that_loads_a_model() -> None:
    found = snippet(USE, PLAIN, "\n\n" + LOADS, RUNS, summarized=True)
    (evidence,) = decide(found.use(), found.facts, found.project).evidence
    assert (evidence.path, evidence.row) == ("other2.cpp", 3)
    assert evidence.message == (
        "the project loads models (`jit::load`) and defines no ops: none of its 4 files registers a kernel or writes an "
        "autograd Function, and no gradient is computed"
    )
