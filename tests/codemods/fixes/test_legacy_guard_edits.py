"""Edits that are easy to get wrong: what must change together, what must stay, what is not offered."""

from __future__ import annotations

from pathlib import Path

import pytest

from guardfix.codemods.apply.applying import apply_fixes
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import Options, check

OLD, NEW = "at::AutoNonVariableTypeMode", "at::AutoDispatchBelowADInplaceOrView"
KERNEL = "struct F : torch::autograd::Function<F> {{\n  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor x, bool on) {{\n{body}    return f(x);\n  }}\n}};\n"
MODEL = "at::Tensor run(torch::jit::Module& m, at::Tensor x, at::Tensor w) {{\n{body}}}\n"
RUN = "  return m.forward({x}).toTensor();\n"


def report_of(text: str, folder: Path, *, unsafe: bool):  # type: ignore[no-untyped-def]
    path = folder / "a.cpp"
    path.write_text("#include <torch/torch.h>\n" + text)
    return path, fixes_for(check([str(path)], Options(select=("GF1",))), choice=FixChoice(unsafe=unsafe))


def migrated(text: str, folder: Path, *, unsafe: bool) -> str:
    path, report = report_of(text, folder, unsafe=unsafe)
    outcome = apply_fixes(report)
    assert not outcome.refused
    result = path.read_text()
    again = apply_fixes(fixes_for(check([str(path)], Options(select=("GF1",))), choice=report.choice))
    assert not again.written, "the second run changes something"
    return result.removeprefix("#include <torch/torch.h>\n")


def in_kernel(body: str) -> str:
    return KERNEL.format(body=body)


def in_model(body: str) -> str:
    return MODEL.format(body=body)


ANY_RUN = [
    pytest.param(
        "using G = at::AutoNonVariableTypeMode;\n" + in_kernel("    G a(true);  // NOLINT(GF101)\n"),
        "using G = at::AutoDispatchBelowADInplaceOrView;\n" + in_kernel("    G a;  // NOLINT(GF101)\n"),
        id="an alias changes together with a use that is silenced",
    ),
    pytest.param(
        "using G = at::AutoNonVariableTypeMode;\n" + in_kernel("    G a(on);\n"),
        "using G = at::AutoNonVariableTypeMode;\n" + in_kernel("    G a(on);\n"),
        id="an alias stays when a use cannot follow",
    ),
    pytest.param(
        in_kernel(f"    {OLD} non_var_a(true);\n    {OLD} non_var_b(true);\n"),
        in_kernel(f"    {NEW} guard;\n    {NEW} mode_guard;\n"),
        id="two old names in a scope get two new ones",
    ),
    pytest.param(
        in_kernel(f"    {OLD} non_var{{true}};\n    struct X {{ int non_var; }} s;\n    s.non_var = 1;\n"),
        in_kernel(f"    {NEW} non_var;\n    struct X {{ int non_var; }} s;\n    s.non_var = 1;\n"),
        id="a name that something else has too is not changed",
    ),
    pytest.param(
        in_model(f"  torch::NoGradGuard ng;\n  w += x;\n  {OLD} g(true);\n" + RUN),
        in_model("  torch::NoGradGuard ng;\n  w += x;\n  c10::InferenceMode g;\n" + RUN),
        id="a neighbour stays when an operator runs between",
    ),
    pytest.param(
        in_kernel(f"    {OLD} a(true), b(true);\n"),
        in_kernel(f"    {OLD} a(true), b(true);\n"),
        id="several declarators are left alone",
    ),
]


@pytest.mark.parametrize(("before", "after"), ANY_RUN)
@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
def test_any_run(before: str, after: str, unsafe: bool, tmp_path: Path) -> None:
    assert migrated(before, tmp_path, unsafe=unsafe) == after


ONLY_UNSAFE = [
    pytest.param(
        in_model(f"  torch::NoGradGuard ng;\n  {OLD} g(true);\n  auto a = m.forward({{x}}).toTensor();\n"
                 "  { torch::AutoGradMode on(true); a = a * w; }\n  return a;\n"),
        in_model("  torch::NoGradGuard ng;\n  c10::InferenceMode g;\n  auto a = m.forward({x}).toTensor();\n"
                 "  { torch::AutoGradMode on(true); a = a * w; }\n  return a;\n"),
        id="gradients are wanted again further down",
    ),
    pytest.param(
        "struct RunGuard {\n  RunGuard();\n  torch::NoGradGuard no_grad_;\n  at::AutoNonVariableTypeMode non_var_;\n};\n"
        "RunGuard::RunGuard() {}\n",
        "struct RunGuard {\n  RunGuard();\n  c10::InferenceMode non_var_;\n};\nRunGuard::RunGuard() {}\n",
        id="a constructor elsewhere may name the member",
    ),
    pytest.param(
        "#include <optional>\n" + in_kernel(f"    std::optional<{OLD}> g;\n    flags.emplace(true);\n    g.emplace(true);\n"),
        "#include <optional>\n" + in_kernel(f"    std::optional<{NEW}> g;\n    flags.emplace(true);\n    g.emplace();\n"),
        id="another object's emplace is not touched",
    ),
    pytest.param(
        in_kernel(f"    auto g = std::make_optional<{OLD}>(true);\n"),
        in_kernel(f"    auto g = std::make_optional<{NEW}>();\n"),
        id="make_optional keeps its brackets",
    ),
    pytest.param(
        in_kernel("    at /* never remove this */ ::AutoNonVariableTypeMode g;\n"),
        in_kernel(f"    {NEW} /* never remove this */ g;\n"),
        id="a comment inside the type says not to touch it",
    ),
    pytest.param(
        in_model('  auto n = torch::jit::load("p");\n  at::AutoNonVariableTypeMode non_var(true);\n  (void)non_var;\n'
                 "  return n.forward({x}).toTensor();\n"),
        in_model('  c10::InferenceMode guard;\n  auto n = torch::jit::load("p");\n  (void)guard;\n'
                 "  return n.forward({x}).toTensor();\n"),
        id="a guard that moves is renamed at every use",
    ),
    pytest.param(
        in_model(f'  auto n = torch::jit::load("p");\n  {OLD} a(true);\n  {OLD} b(true);\n  return n.forward({{x}}).toTensor();\n'),
        in_model('  c10::InferenceMode a;\n  auto n = torch::jit::load("p");\n  c10::InferenceMode b;\n'
                 "  return n.forward({x}).toTensor();\n"),
        id="of two guards below a load one moves and both change",
    ),
    *(
        pytest.param(
            f"#if {condition}\nc10::InferenceMode g;\n#else\n{OLD} g;\n#endif\n",
            f"#if TORCH_VERSION_MAJOR > 1 || ({condition})\nc10::InferenceMode g;\n#else\n{OLD} g;\n#endif\n",
            id=name,
        )
        for name, condition in {
            "a gate with two blanks": "TORCH_VERSION_MAJOR == 1 &&  TORCH_VERSION_MINOR >= 10",
            "a gate over two lines": "TORCH_VERSION_MAJOR == 1 && \\\n    TORCH_VERSION_MINOR >= 10",
            "a gate with a comment": "TORCH_VERSION_MAJOR == 1 /* old */ && TORCH_VERSION_MINOR >= 10",
        }.items()
    ),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), ONLY_UNSAFE)
def test_only_an_unsafe_run(before: str, after: str, tmp_path: Path) -> None:
    assert migrated(before, tmp_path, unsafe=True) == after
    safe = [f for f in report_of(before, tmp_path, unsafe=True)[1].findings if f.fix and f.fix.applicability == "safe"]
    assert not safe or safe[0].fix.further  # a guard that moves has a plain, safe fix too


NOT_OFFERED = [
    pytest.param("struct L : at::AutoNonVariableTypeMode {\n  L() : at::AutoNonVariableTypeMode(true) {}\n};\n"
                 + in_kernel("    L l;\n"), id="a base that is built with an argument"),
    pytest.param("#define OLD_GUARD at::AutoNonVariableTypeMode\n" + in_kernel("    OLD_GUARD a(true);\n"),
                 id="a macro that is only the type"),
    pytest.param(in_kernel("    at::AutoNonVariableTypeMode g[2] = {true, true};\n"), id="an array"),
    pytest.param(in_kernel("    at::AutoNonVariableTypeMode g(false);\n"), id="false"),
    pytest.param(in_kernel('    at::AutoNonVariableTypeMode g"\n{true};\n'), id="a quotation mark that is lost"),
]  # fmt: skip


@pytest.mark.parametrize("text", NOT_OFFERED)
def test_not_offered(text: str, tmp_path: Path) -> None:
    assert migrated(text, tmp_path, unsafe=True) == text


def test_a_file_that_changed_since_it_was_checked_is_left(tmp_path: Path) -> None:
    path, report = report_of(in_kernel(f"    {OLD} g(true);\n"), tmp_path, unsafe=True)
    other = path.read_text().replace(f"{OLD} g(true);", "std::lock_guard<std::mutex> guard(lock);")
    path.write_text(other)
    outcome = apply_fixes(report)
    assert [rewritten.refused for rewritten in outcome.refused] == ["it changed since it was checked; run again"]
    assert path.read_text() == other


def test_a_file_that_vanished_since_it_was_checked(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(in_kernel(f"    {OLD} g(true);\n"))
    report = check([str(path)])
    path.unlink()
    assert fixes_for(report).findings[0].fix is None


WORDS = [
    pytest.param(
        "using G = at::AutoNonVariableTypeMode;\n" + in_kernel("    G a;\n"),
        [f"let `G` stand for {NEW}", f"G will stand for {NEW}"],
        id="an alias",
    ),
    pytest.param(
        "using at::AutoNonVariableTypeMode;\n" + in_kernel("    AutoNonVariableTypeMode a;\n"),
        [
            f"let `AutoNonVariableTypeMode` stand for {NEW}",
            "replace AutoNonVariableTypeMode with AutoDispatchBelowADInplaceOrView",
        ],
        id="a using declaration",
    ),
    pytest.param(
        in_kernel("    torch::AutoNonVariableTypeMode a;\n"),
        ["replace torch::AutoNonVariableTypeMode with torch::AutoDispatchBelowADInplaceOrView"],
        id="another qualifier",
    ),
    pytest.param(
        in_kernel("    ::at::AutoNonVariableTypeMode a;\n"),
        [f"replace ::{OLD} with ::{NEW}"],
        id="from the global namespace",
    ),
]


@pytest.mark.parametrize(("text", "messages"), WORDS)
def test_a_fix_says_what_it_writes(text: str, messages: list[str], tmp_path: Path) -> None:
    _, report = report_of(text, tmp_path, unsafe=False)
    found = [finding.fix.message for finding in report.findings if finding.fix is not None]
    assert found == messages
