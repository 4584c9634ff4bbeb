"""What a person decides: declared in a comment or the configuration, preserved, kept for both sides of torch 1.9."""

from __future__ import annotations

from pathlib import Path

import pytest

from guardfix.codemods.apply.applying import apply_fixes
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fixable import FixableReport, fixes_for
from guardfix.linter.engine import Options, check

HEAD = "#include <torch/torch.h>\n"
GATE = "#if __has_include(<c10/core/InferenceMode.h>)  // torch 1.9 and newer\n"


def report_of(path: Path, choice: FixChoice, **options: object) -> FixableReport:
    return fixes_for(check([str(path)], Options(workers=1, **options)), choice)  # type: ignore[arg-type]


def after(text: str, folder: Path, choice: FixChoice, **options: object) -> str:
    path = folder / "a.cpp"
    path.write_text(HEAD + text)
    assert not apply_fixes(report_of(path, choice, **options)).refused
    done = path.read_text()
    apply_fixes(report_of(path, choice, **options))
    assert path.read_text() == done, "the second run changes something"
    return done.removeprefix(HEAD)


def body(code: str, head: str = "at::Tensor f(at::Tensor x)") -> str:
    return f"{head} {{\n{code}  return helper(x);\n}}\n"


OLD, KEPT, KERNEL = (
    "at::AutoNonVariableTypeMode",
    "at::AutoDispatchBelowAutograd",
    "at::AutoDispatchBelowADInplaceOrView",
)

PRESERVED = [
    pytest.param(body(f"  {OLD} g(true);\n"), body(f"  {KEPT} g;  // guardfix: preserve\n"), id="an unknown use"),
    pytest.param(
        body(f"  {OLD} g;  // why\n"),
        body(f"  {KEPT} g; /* guardfix: preserve */  // why\n"),
        id="beside a comment",
    ),
    pytest.param(
        f"using G = {OLD};\n" + body("  G g;\n"),
        f"using G = {KEPT};  // guardfix: preserve\n" + body("  G g;  // guardfix: preserve\n"),
        id="an alias and its uses",
    ),
    pytest.param(body(f"  {OLD} g(false);\n"), body(f"  {OLD} g(false);\n"), id="not where it is switched off"),
    pytest.param(
        "struct F : torch::autograd::Function<F> {\n"
        "  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor x) {\n"
        f"    {OLD} g;\n    return f(x);\n  }}\n}};\n",
        "struct F : torch::autograd::Function<F> {\n"
        "  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor x) {\n"
        f"    {KERNEL} g;\n    return f(x);\n  }}\n}};\n",
        id="what is decided is decided",
    ),
]


@pytest.mark.parametrize(("before", "wanted"), PRESERVED)
def test_what_stays_unknown_is_preserved(before: str, wanted: str, tmp_path: Path) -> None:
    assert after(before, tmp_path, FixChoice(preserve=True), minimum_torch="1.9") == wanted


def test_nothing_is_preserved_unasked(tmp_path: Path) -> None:
    text = body(f"  {OLD} g(true);\n")
    assert after(text, tmp_path, FixChoice(unsafe=True), minimum_torch="1.9") == text


@pytest.mark.parametrize("guard", [KEPT, KERNEL])
@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("int main() {{\n  {guard}{said}\n  torch::jit::load(p).forward({{}});\n}}\n", "GF301", id="GF301"),
        pytest.param(
            "struct F : torch::autograd::Function<F> {{\n"
            "  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor x) {{\n"
            "    {guard}{said}\n    return local(x);\n  }}\n}};\n"
            "at::Tensor local(at::Tensor x) {{ return x; }}\n",
            "GF302",
            id="GF302",
        ),
        pytest.param(
            "struct F : torch::autograd::Function<F> {{\n"
            "  static variable_list backward(torch::autograd::AutogradContext* ctx, variable_list g) {{\n"
            "    {guard}{said}\n    return {{g[0] * 2}};\n  }}\n}};\n",
            "GF304",
            id="GF304",
        ),
    ],
)
def test_rules_honour_what_is_recorded(text: str, code: str, guard: str, tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    codes = {}
    for said in ("", "  // guardfix: preserve", "  // guardfix: kernel", "  // guardfix: inference"):
        path.write_text(HEAD + text.format(guard=f"{guard} g;", said=said))
        report = check([str(path)], Options(select=("GF301", "GF302", "GF304"), workers=1))
        codes[said.removeprefix("  // guardfix: ")] = [finding.code for finding in report.findings]
    assert codes == {"": [code], "preserve": [], "kernel": [], "inference": [code]}


COMPAT = [
    pytest.param(
        body(f"  // guardfix: inference\n  {OLD} g(true);  // why\n"),
        body(f"{GATE}  c10::InferenceMode g;  // why\n#else\n  {OLD} g(true);  // why\n#endif\n"),
        id="a declaration, with its comment",
    ),
    pytest.param(
        body(f"  torch::NoGradGuard n;\n  {OLD} non_var_g;  // guardfix: inference\n"),
        body(
            f"  torch::NoGradGuard n;\n{GATE}  c10::InferenceMode non_var_g;\n#else\n"
            f"  {OLD} non_var_g;  // guardfix: inference\n#endif\n"
        ),
        id="old torch keeps the guard beside it, and the name",
    ),
    pytest.param(
        body(f"  if (on) {{ {OLD} g; h(); }}  // guardfix: kernel\n"),
        body(f"  if (on) {{ {OLD} g; h(); }}  // guardfix: kernel\n"),
        id="not where other code stands on the line",
    ),
    pytest.param(
        f"#define GUARD {OLD} g(true); /* guardfix: kernel */\n" + body("  GUARD\n"),
        f"{GATE}#define GUARD {KERNEL} g;\n#else\n"
        f"#define GUARD {OLD} g(true); /* guardfix: kernel */\n#endif\n" + body("  GUARD\n"),
        id="a macro, with its definition",
    ),
    pytest.param(
        f"#define RUN(f) \\\n  {{ {OLD} g; /* guardfix: kernel */ \\\n  f(); }}\n",
        f"{GATE}#define RUN(f) \\\n  {{ {KERNEL} g; \\\n  f(); }}\n#else\n"
        f"#define RUN(f) \\\n  {{ {OLD} g; /* guardfix: kernel */ \\\n  f(); }}\n#endif\n",
        id="a macro of several lines",
    ),
    pytest.param(
        f"#define BOTH {OLD} a; {OLD} b; /* guardfix: kernel */\n" + body("  BOTH\n"),
        f"#define BOTH {OLD} a; {OLD} b; /* guardfix: kernel */\n" + body("  BOTH\n"),
        id="not a macro with several guards",
    ),
]


@pytest.mark.parametrize(("before", "wanted"), COMPAT)
def test_both_sides_of_1_9(before: str, wanted: str, tmp_path: Path) -> None:
    assert after(before, tmp_path, FixChoice(unsafe=True, compat=True)) == wanted


def test_the_include_of_the_new_guard_is_gated_too(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(
        f"#include <ATen/core/LegacyTypeDispatch.h>\n\n{body(f'  {OLD} g;  // guardfix: inference{chr(10)}')}"
    )
    apply_fixes(report_of(path, FixChoice(unsafe=True, compat=True)))
    gate = "#if __has_include(<c10/core/InferenceMode.h>)\n#include <c10/core/InferenceMode.h>\n#endif\n"
    assert path.read_text().startswith(f"#include <ATen/core/LegacyTypeDispatch.h>\n{gate}\n")


@pytest.mark.parametrize(
    ("intents", "context", "words"),
    [
        pytest.param((("src/**", "kernel"),), "kernel", "declared in the configuration, for `src/**`", id="a pattern"),
        pytest.param((("*", "kernel"), ("a.cpp", "inference")), "inference", "for `a.cpp`", id="the last that matches"),
        pytest.param((("other/**", "kernel"),), "unknown", "", id="another folder"),
        pytest.param((("src/**", "preserve"),), "below_autograd", "for `src/**`", id="preserved for good"),
    ],
)
def test_a_pattern_declares(intents: tuple[tuple[str, str], ...], context: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    path = tmp_path / "src" / "a.cpp"
    path.write_text(HEAD + body(f"  {OLD} g;\n"))
    (finding,) = report_of(path, FixChoice(), intents=intents, root=str(tmp_path)).findings
    assert finding.decision is not None
    assert finding.decision.context == context
    assert any(words in evidence.message for evidence in finding.decision.evidence) or not words
    assert (finding.decision.confidence == "high") is bool(words)


def test_a_comment_counts_more_than_a_pattern(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(HEAD + body(f"  {OLD} g;  // guardfix: inference\n"))
    (finding,) = report_of(path, FixChoice(), intents=(("*", "kernel"),), root=str(tmp_path)).findings
    assert finding.decision is not None
    assert finding.decision.context == "inference"


def test_hazards_are_looked_for_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(
        HEAD + body(f"  at::Tensor y;\n  {{\n    {OLD} g;  // guardfix: inference\n    y = f(x);\n  }}\n  y.add_(1);\n")
    )
    (finding,) = report_of(path, FixChoice()).findings
    assert finding.fix is not None
    assert finding.fix.applicability == "unsafe"
    assert "`y` is computed in inference mode" in finding.fix.message


@pytest.mark.parametrize(
    ("name", "text", "safe"),
    [
        pytest.param("requirements.txt", "numpy\ntorch==1.8.1\n", True, id="pinned before 1.9"),
        pytest.param("setup.py", "install_requires=['torch>=1.5,<1.9']\n", True, id="a bound"),
        pytest.param("requirements.txt", "torch==1.9.0\n", False, id="pinned to 1.9"),
        pytest.param("requirements.txt", "torch>=1.5\ntorchvision==0.9\n", False, id="no upper bound"),
        pytest.param("CMakeLists.txt", "find_package(Torch 1.8 EXACT REQUIRED)\n", True, id="CMake"),
    ],
)
def test_where_only_older_torch_is_built_the_kernel_rename_is_safe(
    name: str, text: str, safe: bool, tmp_path: Path
) -> None:
    (tmp_path / "guardfix.toml").write_text("")
    (tmp_path / name).write_text(text)
    path = tmp_path / "a.cpp"
    path.write_text(HEAD + body(f"  {OLD} g;  // guardfix: kernel\n  x.add_(1);\n"))
    (finding,) = report_of(path, FixChoice()).findings
    assert finding.fix is not None
    assert (finding.fix.applicability == "safe") is safe
