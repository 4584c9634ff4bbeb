"""Why an edit of GF101 is unsafe: each doubt stands alone, and beside it the look-alike that leaves none."""

from __future__ import annotations

from pathlib import Path

import pytest

from guardfix.codemods.choice import FixChoice
from guardfix.codemods.edits.replacement_doubts import doubts_about
from guardfix.codemods.fixes.gf101_legacy_guard import migrate_cpp
from guardfix.codemods.site import Site
from guardfix.linter.engine import Options, check
from guardfix.linter.files.workspace import DISK
from guardfix.linter.findings import Applicability

OLD = "at::AutoNonVariableTypeMode"
KERNEL = (
    "struct F : torch::autograd::Function<F> {{\n"
    "  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor x, bool on) {{\n"
    "    {}\n    return f(x);\n  }}\n}};\n"
)
LOADED = (
    "void run(torch::Tensor input) {{\n"
    '  auto module = torch::jit::load("m.pt");\n'
    "  torch::Tensor out;\n"
    "  {{\n    {}\n    out = module.forward({{input}}).toTensor();\n  }}\n{}}}\n"
)
CHANGED = (
    'line 9 then raises "Inplace update to inference tensor outside InferenceMode is not allowed", '
    "since `out` is computed in inference mode: clone it there, or move that code into the scope"
)


def site_in(text: str, folder: Path) -> Site:
    path = folder / "a.cpp"
    path.write_text("#include <torch/script.h>\n" + text)
    report = check([str(path)], Options(select=("GF101",), workers=1))
    facts = report.project.files[str(path)]
    return Site(report.findings[0], facts, report.project, DISK.read(str(path)), DISK, FixChoice(), Applicability.SAFE)


@pytest.mark.parametrize(
    ("text", "doubts"),
    [
        pytest.param(KERNEL.format(f"{OLD} g;"), [], id="a declaration in a kernel"),
        pytest.param(KERNEL.format(f"{OLD} g(/* enabled = */ true);"), [], id="a comment that names the argument"),
        pytest.param(KERNEL.format(f"{OLD} g(/* for speed */ true);"), [], id="another comment, which is kept"),
        pytest.param(
            KERNEL.format(f"{OLD} g(/* do not change */ true);"),
            ['a comment at line 4 says "do not change"'],
            id="a comment inside that says not to change it",
        ),
        pytest.param(
            KERNEL.format(f"{OLD}();"),
            ["the temporary was destroyed at once, but the named guard isn't"],
            id="a temporary",
        ),
        pytest.param(
            KERNEL.format(f"{OLD} g();"),
            ["this declared a function, and now declares a guard", "the declaration contains more than this guard"],
            id="a vexing parse",
        ),
        pytest.param(
            KERNEL.format(f"static {OLD} g;"),
            ["a guard with static storage sets the state of whichever thread initializes it"],
            id="static storage",
        ),
        pytest.param(
            KERNEL.format(f"auto g = std::make_unique<{OLD}>(true);"),
            ["the guard is used as heap, so its scope is not certain", "the declaration contains more than this guard"],
            id="the heap",
        ),
        pytest.param(LOADED.format(f"{OLD} g;", ""), [], id="a workload"),
        pytest.param(
            LOADED.format(f"{OLD} g;", "  out.add_(1);\n"), [CHANGED], id="a result that is changed in place below"
        ),
        pytest.param(
            LOADED.format(f"{OLD} g;", "  auto copy = out.clone();\n  copy.add_(1);\n"), [], id="a copy that is changed"
        ),
        pytest.param(
            LOADED.format(f"{OLD} g; at::AutoGradMode on(true);", ""),
            ["grad mode is turned on again below, where nothing can be recorded anymore"],
            id="gradients are switched on again",
        ),
        pytest.param(
            LOADED.format(f"{OLD} g; at::AutoGradMode off(false);", ""), [], id="gradients are switched off again"
        ),
    ],
)
def test_what_is_doubted(text: str, doubts: list[str], tmp_path: Path) -> None:
    assert doubts_about(site_in(text, tmp_path)) == doubts


@pytest.mark.parametrize(
    ("text", "applicability"),
    [
        pytest.param(KERNEL.format(f"{OLD} g;"), Applicability.SAFE, id="no doubt"),
        pytest.param(KERNEL.format(f"{OLD}();"), Applicability.UNSAFE, id="a doubt"),
        pytest.param(KERNEL.format(f"{OLD}* g = new {OLD}(true);"), Applicability.DISPLAY, id="a half that stays"),
    ],
)
def test_a_fix_claims_no_more_than_its_doubts_allow(text: str, applicability: Applicability, tmp_path: Path) -> None:
    site = site_in(text, tmp_path)
    fix = migrate_cpp(site)
    assert fix is not None
    assert fix.applicability is applicability
    assert all(doubt in fix.message for doubt in doubts_about(site))
