"""Guards that an InferenceMode makes redundant, and those that stay."""

from __future__ import annotations

import pytest

from cpp_snippets import OLD, snippet
from guardfix.linter.analysis.redundancy import inference_mode_in_force, redundant_guards


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("GUARD; at::NoGradGuard off; work();", ["NoGradGuard"], id="below it"),
        pytest.param("at::NoGradGuard off; GUARD; work();", ["NoGradGuard"], id="above it, with nothing between"),
        pytest.param("at::NoGradGuard off; work(); GUARD; work();", [], id="above it, and something runs between"),
        pytest.param("GUARD; at::AutoGradMode off(false); work();", ["AutoGradMode"], id="grad mode off"),
        pytest.param("GUARD; at::AutoGradMode on(true); work();", [], id="grad mode on"),
        pytest.param("GUARD; at::AutoGradMode off(is_off); work();", [], id="known at run time"),
        pytest.param(
            "GUARD; at::AutoGradMode off(false); at::AutoGradMode on(true); work();", [], id="switched on again beside it"
        ),
        pytest.param("GUARD; if (x) { at::NoGradGuard off; work(); }", ["NoGradGuard"], id="in a block below it"),
        pytest.param(
            "GUARD; { at::AutoGradMode on(true); { at::NoGradGuard off; work(); } }", [], id="below one that switches on"
        ),
        pytest.param(
            "GUARD; { at::AutoGradMode on(true); } { at::NoGradGuard off; work(); }",
            ["NoGradGuard"],
            id="one that switches on is closed",
        ),
        pytest.param("GUARD; run([] { at::NoGradGuard off; work(); });", [], id="in a lambda that runs elsewhere"),
        pytest.param("GUARD; [] { at::NoGradGuard off; work(); }();", ["NoGradGuard"], id="in one that is called at once"),
        pytest.param("{ GUARD; } at::NoGradGuard off; work();", [], id="behind its block"),
        pytest.param(
            "GUARD;\n#if X\nat::NoGradGuard off;\n#endif\nwork();", [], id="a preprocessor condition parts them"
        ),
        pytest.param("GUARD; at::NoGradGuard off; hold(off);", [], id="its name is used"),
        pytest.param("GUARD; at::NoGradGuard off; at::GradMode::set_enabled(true);", [], id="grad mode is set by hand"),
        pytest.param("GUARD; at::NoGradGuard off; EnableGrad on; work();", [], id="an object that may switch it on"),
        pytest.param("GUARD; at::NoGradGuard off; Timer on; work();", ["NoGradGuard"], id="an object of another kind"),
        pytest.param("GUARD; c10::InferenceMode mode; work();", [], id="another InferenceMode is not implied"),
    ],
)  # fmt: skip
def test_guards_that_go(code: str, expected: list[str]) -> None:
    found = snippet(f"void f() {{ {code} }}")
    assert [use.guard for use in redundant_guards(found.use(), found.facts)] == expected


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        pytest.param(
            "torch::AutoGradMode off{false}; at::AutoNonVariableTypeMode old{true};", ["AutoGradMode"], id="off"
        ),
        pytest.param("torch::AutoGradMode on{true}; at::AutoNonVariableTypeMode old{true};", [], id="on"),
        pytest.param(
            "at::AutoNonVariableTypeMode old{true}; torch::AutoGradMode off{false};",
            ["AutoGradMode"],
            id="declared after it",
        ),
    ],
)
def test_members_of_a_struct_of_guards_that_go(members: str, expected: list[str]) -> None:
    found = snippet(f"struct Guards {{ {members} }};")
    assert [use.guard for use in redundant_guards(found.use(), found.facts)] == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("c10::InferenceMode mode; GUARD; work();", True, id="above it"),
        pytest.param("GUARD; c10::InferenceMode mode; work();", True, id="below it, with nothing between"),
        pytest.param(
            "GUARD; work(); c10::InferenceMode mode; work();", False, id="below it, and something runs before"
        ),
        pytest.param("c10::InferenceMode mode; { GUARD; work(); }", True, id="around it"),
        pytest.param("{ c10::InferenceMode mode; } GUARD; work();", False, id="closed before it"),
        pytest.param("c10::InferenceMode mode(false); GUARD; work();", False, id="off"),
        pytest.param("c10::InferenceMode mode(on); GUARD; work();", False, id="known at run time"),
        pytest.param(
            "c10::InferenceMode mode; run([&] { GUARD; work(); });", False, id="around a lambda that runs elsewhere"
        ),
        pytest.param("\n#if X\nc10::InferenceMode mode;\n#endif\nGUARD; work();", False, id="under a condition"),
        pytest.param("at::NoGradGuard off; GUARD; work();", False, id="another guard"),
    ],
)
def test_an_inference_mode_in_force(code: str, expected: bool) -> None:
    found = snippet(f"void f(bool on) {{ {code} }}")
    assert (inference_mode_in_force(found.use(OLD), found.facts) is not None) is expected
