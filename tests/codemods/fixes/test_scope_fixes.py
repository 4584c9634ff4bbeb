"""Fixes of the rules on how guards live: what is edited, and what is left to a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixture_files import FIXTURES
from guardfix.codemods.apply.settling import settle
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import Options, check
from guardfix.linter.files.workspace import Workspace

FUNCTION = "#include <torch/torch.h>\n\nat::Tensor f(at::Tensor x, bool on) {{\n{}  return x * 2;\n}}\n"
ELSEWHERE = "  std::thread worker([&] {{{}}});\n  worker.join();\n"


@pytest.mark.parametrize(
    ("rule", "before", "after"),
    [
        pytest.param(
            "GF201", "  torch::NoGradGuard();\n", "  torch::NoGradGuard guard;\n", id="brackets would declare"
        ),
        pytest.param(
            "GF201", "  torch::AutoGradMode(false);\n", "  torch::AutoGradMode guard(false);\n", id="a value is kept"
        ),
        pytest.param(
            "GF201",
            "  auto guard = lock(x);\n  torch::NoGradGuard();\n",
            "  auto guard = lock(x);\n  torch::NoGradGuard mode_guard;\n",
            id="a name that is taken",
        ),
        pytest.param("GF201", "  if (on) torch::NoGradGuard();\n", None, id="a branch without braces"),
        pytest.param(
            "GF202",
            "  if (on) c10::InferenceMode g;\n",
            "  c10::InferenceMode g(on);\n",
            id="a guard alone in a branch",
        ),
        pytest.param(
            "GF202",
            "  if (!on)\n    torch::NoGradGuard g;\n",
            "  torch::AutoGradMode g(on);\n",
            id="a guard alone in a branch of two lines",
        ),
        pytest.param(
            "GF202",
            "  for (int i = 0; i < 3; ++i) if (on) torch::NoGradGuard g;\n",
            None,
            id="a branch in a loop's body",
        ),
        pytest.param("GF202", "  if (on) torch::AutoGradMode g(false);\n", None, id="where the parser loses the value"),
        pytest.param("GF203", "  c10::InferenceMode g();\n", "  c10::InferenceMode g;\n", id="a function"),
        pytest.param("GF203", "  torch::AutoGradMode g();\n", None, id="a guard that needs a value"),
        pytest.param(
            "GF203", "  c10::InferenceMode(on);\n", "  c10::InferenceMode guard(on);\n", id="a guard named like a flag"
        ),
        pytest.param(
            "GF207",
            "  torch::NoGradGuard g;\n" + ELSEWHERE.format(" x = torch::mul(x, x); "),
            "  torch::NoGradGuard g;\n" + ELSEWHERE.format(" torch::NoGradGuard g; x = torch::mul(x, x); "),
            id="a lambda on one line",
        ),
        pytest.param(
            "GF207",
            "  torch::NoGradGuard g;\n" + ELSEWHERE.format("\n    x = torch::mul(x, x);\n  "),
            "  torch::NoGradGuard g;\n"
            + ELSEWHERE.format("\n    torch::NoGradGuard g;\n    x = torch::mul(x, x);\n  "),
            id="a lambda over lines",
        ),
        pytest.param(
            "GF207",
            "  torch:: // a\n    NoGradGuard /* b */ g;  // c\n" + ELSEWHERE.format(" x = torch::mul(x, x); "),
            "  torch:: // a\n    NoGradGuard /* b */ g;  // c\n"
            + ELSEWHERE.format(" torch:: NoGradGuard g; x = torch::mul(x, x); "),
            id="comments stay where they are",
        ),
        pytest.param(
            "GF207",
            "  torch::NoGradGuard g;\n" + ELSEWHERE.format(" auto g = torch::mul(x, x); x = g; "),
            None,
            id="a lambda that has the name",
        ),
    ],
)
def test_what_an_unsafe_run_makes_of_it(rule: str, before: str, after: str | None, tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(FUNCTION.format(before))
    report = fixes_for(check([str(path)], Options(select=(rule,), workers=1)), FixChoice(unsafe=True))
    assert [finding.code for finding in report.findings] == [rule]
    assert not list(settle(fixes_for(report)).rewrites), "a safe run leaves it"
    texts = [rewritten.text.decode() for rewritten in settle(report).rewrites]
    assert texts == ([path.read_text().replace(before, after)] if after is not None else [])


def test_a_guard_of_another_file_is_not_repeated() -> None:
    text = (FIXTURES / "cpp/guard_lost_below_the_caller.cpp").read_text()
    library, _, main = text.partition("int main")
    texts = {"net.h": library.encode(), "main.cpp": f'#include "net.h"\nint main{main}'.encode()}
    workspace = Workspace.in_memory(texts)
    report = fixes_for(check([*texts], Options(workers=1), workspace=workspace))
    assert [(finding.path, finding.fix) for finding in report.findings if finding.code == "GF207"] == [
        ("net.h", None)
    ] * 3
