"""Tensors that leave a scope and are changed later: what could break under InferenceMode."""

from __future__ import annotations

import pytest

from cpp_snippets import Snippet, snippet
from guardfix.linter.flow.events import Event, EventKind
from guardfix.linter.flow.what_if import events_instead
from guardfix.linter.guards import Effect

CHANGED, GRAD, SAVED = EventKind.INFERENCE_WRITTEN, EventKind.INFERENCE_REQUIRES_GRAD, EventKind.INFERENCE_SAVED

Found = list[tuple[str, EventKind]]


def events(found: Snippet) -> list[Event]:
    """What goes wrong where InferenceMode stands in the place of `GUARD`."""
    return events_instead(found.use(), found.facts, found.project, Effect.INFERENCE)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("at::Tensor y; { GUARD; y = run(x); } y.add_(1);", [("y", CHANGED)], id="changed below the scope"),
        pytest.param("at::Tensor y; { GUARD; y = run(x); y.add_(1); }", [], id="changed in the scope"),
        pytest.param("at::Tensor y; { GUARD; y = run(x); } use(y);", [], id="only read"),
        pytest.param("at::Tensor y; { GUARD; y = run(x); } z.add_(1);", [], id="another tensor"),
        pytest.param("at::Tensor y; { GUARD; auto z = run(x); } y.add_(1);", [], id="one that was made outside"),
        pytest.param("at::Tensor y; { GUARD; y = run(x); } y.requires_grad_();", [("y", GRAD)], id="made a leaf"),
        pytest.param("at::Tensor y; { GUARD; y = run(x); } y.requires_grad_(false);", [], id="gradients turned off"),
        pytest.param("at::Tensor y; { GUARD; y = run(x); } y += 1;", [("y", CHANGED)], id="by an operator"),
        pytest.param("at::Tensor y; { GUARD; y = run(x); } y[0] = 1;", [("y", CHANGED)], id="by an index"),
        pytest.param("at::Tensor y; { GUARD; y = run(x); } at::relu_(y);", [("y", CHANGED)], id="by a function"),
        pytest.param("at::Tensor y; { GUARD; y = run(x); } at::add_out(y, a, b);", [("y", CHANGED)], id="as an out= argument"),
        pytest.param("at::Tensor y; { GUARD; y = run(x); } auto v = y.view({1}); v.add_(1);", [("v", CHANGED)], id="by a view"),
        pytest.param("at::Tensor y; { GUARD; y = run(x); } auto v = y + 1; v.add_(1);", [], id="a new tensor made of it"),
        pytest.param(
            "at::Tensor y; { GUARD; y = run(x); } ctx->save_for_backward({y});", [("y", SAVED)], id="saved for backward"
        ),
        pytest.param(
            "at::Tensor y; { GUARD; y = run(x); } auto loss = y * w; loss.backward();", [("y", SAVED)], id="differentiated"
        ),
        pytest.param("at::Tensor y; { GUARD; y = run(x); } auto sum = y * w; use(sum);", [], id="computed with, no backward"),
        pytest.param(
            "std::vector<at::Tensor> all; { GUARD; all.push_back(run(x)); } all[0].add_(1);", [("", CHANGED)], id="held by a list"
        ),
        pytest.param(
            "auto y = [&] { GUARD; return run(x); }(); y.add_(1);", [("y", CHANGED)], id="given back by a lambda called at once"
        ),
        pytest.param("at::Tensor a, b; { GUARD; std::tie(a, b) = run(x); } b.add_(1);", [("b", CHANGED)], id="std::tie"),
    ],
)  # fmt: skip
def test_hazards_in_the_function(code: str, expected: Found) -> None:
    found = snippet(f"void f(at::Tensor x) {{ {code} }}")
    assert [(event.variable, event.kind) for event in events(found)] == expected


MAKES = "at::Tensor make(at::Tensor x) { GUARD; return run(x); }\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            MAKES + "void f() { auto y = make(x); y.add_(1); }", [("y", CHANGED)], id="its caller changes the result"
        ),
        pytest.param(MAKES + "void f() { auto y = make(x); use(y); }", [], id="its caller reads the result"),
        pytest.param(MAKES + "void f() { make(x).add_(1); }", [("", CHANGED)], id="its caller changes it at once"),
        pytest.param(MAKES + "void f() { make(x).clone(); }", [], id="its caller copies it at once"),
        pytest.param(
            MAKES + "at::Tensor g() { auto y = make(x); return y; }\nvoid f() { auto z = g(); z.add_(1); }",
            [("y", CHANGED)],
            id="its caller's caller",
        ),
        pytest.param(
            "void fill(at::Tensor& out) { GUARD; out = run(x); }\nvoid f() { at::Tensor y; fill(y); y.add_(1); }",
            [("out", CHANGED)],
            id="by reference",
        ),
        pytest.param(
            "void fill(at::Tensor out) { GUARD; out = run(x); }\nvoid f() { at::Tensor y; fill(y); y.add_(1); }",
            [],
            id="by value",
        ),
        pytest.param(
            "struct Net { void run() { GUARD; out_ = model(x); } void next() { out_.add_(1); } at::Tensor out_; };",
            [("out_", CHANGED)],
            id="a member that another method changes",
        ),
        pytest.param(
            "struct Net { void run() { GUARD; out_ = model(x); } void next(at::Tensor out_) { out_.add_(1); } };",
            [],
            id="a parameter of that name",
        ),
    ],
)
def test_hazards_in_other_functions(text: str, expected: Found) -> None:
    found = snippet(text)
    assert [(event.variable, event.kind) for event in events(found)] == expected


def test_a_hazard_has_its_place() -> None:
    found = snippet("void f(at::Tensor x) {\n  at::Tensor y;\n  { GUARD; y = run(x); }\n  y.add_(1);\n}\n")
    (event,) = events(found)
    assert found.facts.row(event.span.start) == 4
