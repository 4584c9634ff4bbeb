"""Whether what runs under a guard in `forward` provably never enters the dispatcher by an op's schema."""

from __future__ import annotations

import pytest

from cpp_snippets import snippet
from guardfix.linter.analysis.dispatcher_bypass import bypasses_dispatcher

CLASS = (
    "struct F : torch::autograd::Function<F> {{ static at::Tensor {}(AutogradContext* ctx, at::Tensor x) {{ {} }} }};\n"
)


@pytest.mark.parametrize(
    ("below", "functions", "expected"),
    [
        pytest.param("return own(x);", "at::Tensor own(at::Tensor x) { return at::relu(x); }", True, id="ordinary ops"),
        pytest.param("return own(x);", "", False, id="a function whose body is not known"),
        pytest.param(
            "return own(x);",
            'at::Tensor own(at::Tensor x) { return Dispatcher::singleton().findSchema("f").call(x); }',
            False,
            id="called back by its schema",
        ),
        pytest.param(
            "return own(x);",
            "at::Tensor own(at::Tensor x) { return inner(x); }\nat::Tensor inner(at::Tensor x) { return op.redispatch(x); }",
            False,
            id="called back one function further",
        ),
        pytest.param(
            "return own(x);",
            "at::Tensor own(at::Tensor x) { return inner(x); }\nat::Tensor inner(at::Tensor x) { return at::relu(x); }",
            True,
            id="ordinary ops one function further",
        ),
        pytest.param(
            "return own(x);",
            "at::Tensor own(at::Tensor x) { return elsewhere(x); }",
            False,
            id="a function of another file",
        ),
        pytest.param(
            "return own(x);", "at::Tensor own(at::Tensor x) { return x.dim() ? own(x) : x; }", True, id="a recursion"
        ),
        pytest.param("return at::relu(x);", "", False, id="an op right below the guard"),
        pytest.param("return module.own(x);", "at::Tensor own(at::Tensor x) { return x; }", False, id="a method"),
        pytest.param("return x;", "", False, id="nothing is called"),
        pytest.param(
            "return own(x);", "at::Tensor own(at::Tensor x) { return F::apply(x); }", False, id="the Function itself"
        ),
    ],
)
def test_forward(below: str, functions: str, expected: bool) -> None:
    found = snippet(functions + "\n" + CLASS.format("forward", f"GUARD; {below}"))
    assert bypasses_dispatcher(found.use(), found.facts, found.project) is expected


@pytest.mark.parametrize("method", ["backward", "helper"])
def test_other_methods_are_not_asked(method: str) -> None:
    own = "at::Tensor own(at::Tensor x) { return at::relu(x); }\n"
    found = snippet(own + CLASS.format(method, "GUARD; return own(x);"))
    assert bypasses_dispatcher(found.use(), found.facts, found.project) is False


@pytest.mark.parametrize(
    ("levels", "expected"),
    [pytest.param(4, True, id="as deep as it is followed"), pytest.param(5, False, id="one deeper")],
)
def test_calls_are_followed_so_deep(levels: int, expected: bool) -> None:
    functions = "".join(
        f"at::Tensor f{level}(at::Tensor x) {{ return {f'f{level - 1}(x)' if level else 'x + 1'}; }}\n"
        for level in range(levels)
    )
    found = snippet(functions + CLASS.format("forward", f"GUARD; return f{levels - 1}(x);"))
    assert bypasses_dispatcher(found.use(), found.facts, found.project) is expected
