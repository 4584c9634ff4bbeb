"""Which guards cover a place: by blocks, and by the functions and lambdas between."""

from __future__ import annotations

import pytest

from cpp_snippets import Snippet, snippet
from guardfix.linter.analysis.coverage import (
    covering,
    inference_mode_at,
    is_constantly_on,
    is_in_test,
    is_inference_scope,
    is_run_in_place,
)

MODE = "c10::InferenceMode guard;"


def at_work(code: str, head: str = "void f(bool on)") -> Snippet:
    """A function with a call of `work()` somewhere in it."""
    return snippet(f"{head} {{ {code} }}")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param(f"{MODE} work();", ["InferenceMode"], id="below it"),
        pytest.param(f"work(); {MODE}", [], id="above it"),
        pytest.param(f"{{ {MODE} }} work();", [], id="behind its block"),
        pytest.param(f"{MODE} if (on) {{ work(); }}", ["InferenceMode"], id="in a block below it"),
        pytest.param(f"{MODE} auto later = [&] {{ work(); }};", [], id="in a lambda that runs elsewhere"),
        pytest.param(f"{MODE} [&] {{ work(); }}();", ["InferenceMode"], id="in a lambda that is called at once"),
        pytest.param(
            f"at::NoGradGuard off; {{ {MODE} work(); }}",
            ["NoGradGuard", "InferenceMode"],
            id="two, the outer one first",
        ),
        pytest.param("std::make_unique<c10::InferenceMode>(true); work();", [], id="on the heap"),
    ],
)
def test_guards_that_cover_a_place(code: str, expected: list[str]) -> None:
    found = at_work(code)
    call = found.call("work")
    assert [use.guard for use in covering(found.facts, call.span, call.function)] == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param(f"{MODE} work();", "", id="one"),
        pytest.param("c10::InferenceMode outer(true); { c10::InferenceMode inner(false); work(); }", "(false)", id="the innermost"),
        pytest.param("c10::InferenceMode outer(true); { c10::InferenceMode inner(false); } work();", "(true)", id="not a closed one"),
        pytest.param("at::NoGradGuard off; work();", None, id="another guard"),
        pytest.param(f"{MODE} run([&] {{ work(); }});", None, id="a lambda that is passed on"),
    ],
)  # fmt: skip
def test_the_inference_mode_at_a_place(code: str, expected: str | None) -> None:
    found = at_work(code)
    call = found.call("work")
    use = inference_mode_at(found.facts, call.span, call.function)
    assert (use and (str(use.argument.expression) if use.argument is not None else "")) == expected


@pytest.mark.parametrize(
    ("declared", "constant", "scope"),
    [
        pytest.param("c10::InferenceMode guard;", True, True, id="without an argument"),
        pytest.param("c10::InferenceMode guard(true);", True, True, id="true"),
        pytest.param("c10::InferenceMode guard{};", True, True, id="empty braces"),
        pytest.param("c10::InferenceMode guard(false);", False, False, id="false"),
        pytest.param("c10::InferenceMode guard(on);", False, False, id="known at run time"),
        pytest.param("at::NoGradGuard guard;", True, False, id="another guard"),
        pytest.param("static c10::InferenceMode guard;", True, False, id="static"),
    ],
)
def test_a_guard_that_is_surely_on(declared: str, constant: bool, scope: bool) -> None:
    (use,) = at_work(f"{declared} work();").facts.guard_uses
    assert (is_constantly_on(use), is_inference_scope(use)) == (constant, scope)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("work();", True, id="the same function"),
        pytest.param("[&] { work(); }();", True, id="a lambda that is called at once"),
        pytest.param("[&] { [&] { work(); }(); }();", True, id="two of them"),
        pytest.param("auto later = [&] { work(); };", False, id="a lambda that is kept"),
        pytest.param("[&] { auto later = [&] { work(); }; }();", False, id="one of each"),
    ],
)
def test_what_runs_where_it_stands(code: str, expected: bool) -> None:
    found = at_work(code)
    assert (
        is_run_in_place(found.call("work").function, found.facts.functions.index(found.function("f")), found.facts)
        is expected
    )


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        pytest.param("TEST(Suite, Case)", True, id="googletest"),
        pytest.param("TEST_F(Suite, Case)", True, id="a fixture"),
        pytest.param("void BM_forward(benchmark::State& state)", True, id="Google Benchmark"),
        pytest.param("void test()", False, id="a function called test"),
        pytest.param("void f(State& state)", False, id="another State"),
    ],
)
def test_a_test_is_known_by_its_macro(head: str, expected: bool) -> None:
    found = at_work("work();", head)
    assert is_in_test(found.call("work").function, found.facts) is expected
