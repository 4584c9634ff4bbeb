"""Inference tensors of C++ that are used behind their scope as they cannot be: what an abstract run shows for sure."""

from __future__ import annotations

import pytest

from cpp_snippets import snippet
from guardfix.linter.flow.events import EventKind
from guardfix.linter.flow.running import run_flow

MODE = "c10::InferenceMode guard;"
LEAF = "torch::ones({3}, torch::requires_grad())"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param(f"at::Tensor y; {{ {MODE} y = at::relu(x); }} y.add_(1);", [("y", EventKind.INFERENCE_WRITTEN)], id="changed"),
        pytest.param(f"at::Tensor y; {{ {MODE} y = at::relu(x); }} y.requires_grad_(true);", [("y", EventKind.INFERENCE_REQUIRES_GRAD)], id="made a leaf"),
        pytest.param(f"at::Tensor y; {{ {MODE} y = x; }} y.add_(1);", [], id="an ordinary tensor"),
        pytest.param(f"at::Tensor y; {{ {MODE} y = at::select(x, 0, 0); }} y.add_(1);", [], id="a view of an ordinary one"),
        pytest.param(f"at::Tensor y; {{ {MODE} y = at::relu(x); }} y = x; y.add_(1);", [], id="given another value"),
        pytest.param(f"at::Tensor y; {{ {MODE} y = at::relu(x); }} y.clone().add_(1);", [], id="a copy is changed"),
        pytest.param(f"at::Tensor y; {{ {MODE} y = at::relu(x); }} y.view({{1}}).add_(1);", [("y", EventKind.INFERENCE_WRITTEN)], id="a view is changed"),
        pytest.param(f"at::Tensor y; {{ {MODE} y = at::relu(x); }} if (!y.is_inference()) y.add_(1);", [], id="the function asks"),
        pytest.param(f"at::Tensor y; {{ {MODE} y = at::relu(x); }} EXPECT_THROW(y.add_(1), E);", [], id="an error is expected"),
        pytest.param(f"at::Tensor y; {{ {MODE} y = at::relu(x); }} {{ {MODE} y.add_(1); }}", [], id="under InferenceMode again"),
        pytest.param(f"at::Tensor y; {{ {MODE} y = at::relu(x); }} y.detach_();", [], id="what an inference tensor allows"),
        pytest.param(f"at::Tensor y; {{ {MODE} y = at::relu(x); }} use(y);", [], id="only read"),
        pytest.param(f"at::Tensor y; {{ {MODE} y = {LEAF}; }} y.exp_();", [("y", EventKind.INFERENCE_WRITTEN)], id="a leaf among them"),
        pytest.param(f"at::Tensor y; {{ {MODE} y = {LEAF}; }} y.sub_(2);", [("y", EventKind.INFERENCE_WRITTEN)], id="a leaf, by a number"),
        pytest.param(f"at::Tensor y; {{ {MODE} y = {LEAF}; }} y += torch::ones({{3}});", [("y", EventKind.LEAF_WRITTEN)], id="a leaf, by a normal tensor"),
        pytest.param(f"at::Tensor y, w = torch::ones({{3}}); {{ {MODE} y = w.index({{Slice(0, 1)}}); }} y.add_(1);", [], id="a view by a slice"),
        pytest.param(f"at::Tensor y, w = torch::ones({{3}}); {{ {MODE} y = w.index({{0}}); }} y.add_(1);", [], id="a view by a number"),
        pytest.param(f"at::Tensor y, w = torch::ones({{3}}); {{ {MODE} y = w.index({{w.gt(0)}}); }} y.add_(1);", [("y", EventKind.INFERENCE_WRITTEN)], id="a copy by a mask"),
        pytest.param(f"{MODE} {{ c10::InferenceMode off(false); at::Tensor w = {LEAF}, y = w.data(); y.copy_(w.sin()); y.add_(1); }}", [], id="the data of a leaf, which has a graph by now"),
    ],
)  # fmt: skip
def test_what_is_certain(code: str, expected: list[tuple[str, EventKind]]) -> None:
    found = snippet(f"void f(at::Tensor x) {{ {code} }}")
    events = run_flow([found.facts]).events.values()
    assert [(event.variable, event.kind) for event in events if event.certain] == expected


FILLS = f"void fill(at::Tensor& out, at::Tensor x) {{ {MODE} out = at::relu(x); }}\n"
RUNS = f"at::Tensor run(torch::jit::Module& m, at::Tensor x) {{ {MODE} return m.forward({{x}}){{}}; }}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(FILLS + "void f(at::Tensor x) { at::Tensor y; fill(y, x); y.add_(1); }", 1, id="given back by reference"),
        pytest.param(FILLS.replace("& out", " out") + "void f(at::Tensor x) { at::Tensor y; fill(y, x); y.add_(1); }", 0, id="a copy of the handle"),
        pytest.param(FILLS + "void f(at::Tensor x) { at::Tensor y; fill(y, x); y = x; y.add_(1); }", 0, id="given another value after that"),
        pytest.param(RUNS.replace("{}", ".toTensor()") + "void f(torch::jit::Module& m, at::Tensor x) { run(m, x).add_(1); }", 1, id="TorchScript's value"),
        pytest.param(RUNS.replace("{}", ".toTuple()->elements()[0].toTensor()") + "void f(torch::jit::Module& m, at::Tensor x) { run(m, x).add_(1); }", 1, id="one of its values"),
        pytest.param(RUNS.replace("{}", ".toTensor().clone()") + "void f(torch::jit::Module& m, at::Tensor x) { run(m, x).clone().add_(1); }", 0, id="a copy of it"),
    ],
)  # fmt: skip
def test_what_functions_give(text: str, expected: int) -> None:
    events = run_flow([snippet(text).facts]).events.values()
    assert [event.kind for event in events if event.certain] == [EventKind.INFERENCE_WRITTEN] * expected
