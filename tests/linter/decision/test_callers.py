"""A helper is what its callers are, when all of them are the same."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from cpp_snippets import Snippet, snippet
from guardfix.linter.analysis.project import Project
from guardfix.linter.decision import callers
from guardfix.linter.decision.callers import caller_signals
from guardfix.linter.decision.policy import POLICY, Policy
from guardfix.linter.decision.signal_kinds import Signal
from guardfix.linter.decision.use_context import scene_of

HELPER = "at::Tensor helper(at::Tensor x) { GUARD; return at::relu(x); }\n"
KERNEL = (
    "at::Tensor {0}(const at::Tensor& x) {{ return helper(x); }}\n"
    'TORCH_LIBRARY_IMPL(ns, Autograd, m) {{ m.impl("{0}", {0}); }}\n'
)
LOADS = 'at::Tensor {}(at::Tensor x) {{ auto m = torch::jit::load("m.pt"); return helper(x); }}\n'


def chain(levels: int) -> tuple[str, str]:
    """A helper that is reached through so many functions from one, in another file, that loads a model."""
    code = HELPER.replace("helper", "f0")
    for level in range(1, levels):
        code += f"at::Tensor f{level}(at::Tensor x) {{ return f{level - 1}(x); }}\n"
    return code, LOADS.format("top").replace("helper", f"f{levels - 1}")


def said(found: Snippet, policy: Policy = POLICY) -> list[Signal]:
    return caller_signals(scene_of(found.project, found.facts, found.use()), policy.calls_up, policy)


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        pytest.param([], [], id="nobody calls it"),
        pytest.param([LOADS.format("f")], ["called-from-workload"], id="a workload"),
        pytest.param(
            [LOADS.format("f"), LOADS.format("g")], ["called-from-workload"], id="two workloads are one reason"
        ),
        pytest.param([KERNEL.format("scale")], ["called-from-kernel"], id="a kernel"),
        pytest.param([KERNEL.format("view")], ["called-from-in-place-or-view"], id="a kernel of a view op"),
        pytest.param(
            [LOADS.format("f"), KERNEL.format("scale")],
            ["called-from-workload", "called-from-kernel"],
            id="one of each: both are said, in the order of the calls",
        ),
        pytest.param(
            ["int main() { helper(x); }", KERNEL.format("scale")],
            ["called-from-workload", "called-from-kernel"],
            id="one of each, and one of them hardly sure: it weighs as much",
        ),
        pytest.param(
            [LOADS.format("f"), "at::Tensor g(at::Tensor x) { return helper(x); }"],
            [],
            id="one of them is unclear, so that nothing is said",
        ),
        pytest.param(
            ["int main() { helper(x); }"], ["called-from-likely-workload"], id="a caller that is likely one says less"
        ),
        pytest.param(["int main() { helper(x); loss.backward(); }"], [], id="a program that trains"),
        pytest.param(
            ["void step(at::Tensor x) { x.backward(); }\nint main() { net.forward(helper(x)); step(x); }"],
            [],
            id="a program that trains through a function",
        ),
        pytest.param(
            [LOADS.format("f").replace("return", "x.backward(); return")], [], id="what loads a model and trains it"
        ),
        pytest.param(
            ["void step(at::Tensor x) { x.backward(); }\n" + LOADS.format("f")],
            ["called-from-workload"],
            id="a workload in a file where another function trains",
        ),
        pytest.param(
            [KERNEL.format("scale").replace("return", "x.backward(); return")],
            ["called-from-kernel"],
            id="a kernel that computes gradients is one all the same",
        ),
        pytest.param(
            ["namespace at::native { at::Tensor f(at::Tensor x) { return helper(x); } }"],
            ["called-from-likely-kernel"],
            id="a caller that is likely a kernel says less",
        ),
        pytest.param(
            ["namespace at::native { at::Tensor view(at::Tensor x) { return helper(x); } }"],
            ["called-from-likely-in-place-or-view"],
            id="a caller that is likely a kernel of a view op says less",
        ),
        pytest.param(
            [LOADS.format("f").replace("return helper(x)", "return other::helper(x)")],
            [],
            id="another function of that name",
        ),
    ],
)
def test_callers_say(others: list[str], expected: list[str]) -> None:
    helper = "namespace own { " + HELPER + "}\n" if any("other::" in text for text in others) else HELPER
    assert [signal.kind.name for signal in said(snippet(helper, *others))] == expected


def test_callers_in_other_files_are_asked_and_are_where_the_evidence_points() -> None:
    (signal,) = said(snippet(HELPER, "\n" + LOADS.format("serve")))
    assert (signal.path, signal.row) == ("other1.cpp", 2)
    assert signal.message == "`helper` is called from `serve`, an inference workload"


def test_the_callers_of_main_are_not_asked() -> None:
    assert said(snippet("int main() { GUARD; work(); }\n" + LOADS.format("f").replace("helper", "main"))) == []


@pytest.mark.parametrize(
    ("levels", "calls_up", "found"),
    [
        pytest.param(3, 3, True, id="as far as asked"),
        pytest.param(4, 3, False, id="one too far"),
        pytest.param(4, 4, True, id="asked one further"),
        pytest.param(3, 2, False, id="asked one less"),
    ],
)
def test_callers_are_asked_so_many_calls_up(levels: int, calls_up: int, found: bool) -> None:
    policy = replace(POLICY, calls_up=calls_up)
    assert bool(said(snippet(*chain(levels)), policy)) is found
    assert POLICY.calls_up == 3


@pytest.mark.parametrize(
    ("count", "most", "found"),
    [
        pytest.param(50, 50, True, id="as many as may be"),
        pytest.param(51, 50, False, id="one more: a library's function"),
        pytest.param(51, 51, True, id="one more is allowed"),
        pytest.param(50, 49, False, id="one less is allowed"),
    ],
)
def test_a_function_with_many_callers_is_not_asked_about(count: int, most: int, found: bool) -> None:
    callers_of_it = "".join(LOADS.format(f"f{number}") for number in range(count))
    assert bool(said(snippet(HELPER + callers_of_it), replace(POLICY, most_callers=most))) is found
    assert POLICY.most_callers == 50


def test_what_callers_say_is_remembered_by_project_and_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Policy] = []
    original = callers._ask

    def counted(scene, function, calls_up, policy):  # type: ignore[no-untyped-def]
        if function.name == "helper":
            asked.append(policy)
        return original(scene, function, calls_up, policy)

    monkeypatch.setattr(callers, "_ask", counted)
    found, other = snippet(HELPER + LOADS.format("f")), replace(POLICY, most_callers=0)
    assert [len(said(found)), len(said(found)), len(said(found, other)), len(said(found))] == [1, 1, 0, 1]
    assert asked == [POLICY, other]
    again = Snippet(Project([found.facts]), found.facts)
    assert len(said(again)) == 1
    assert asked == [POLICY, other, POLICY]


def test_functions_that_call_each_other_come_to_an_end() -> None:
    text = (
        HELPER.replace("return at::relu(x);", "return other(x);")
        + "at::Tensor other(at::Tensor x) { return helper(x); }"
    )
    assert said(snippet(text)) == []
